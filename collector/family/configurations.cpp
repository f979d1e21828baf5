#include "collector/family/configurations.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/nearest.h"
#include "base/variant_name.h"
#include "collector/family/words.h"

namespace warpmeter::family {
namespace {

constexpr std::size_t most_configurations = 100'000;

std::set<std::string> words_in(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return {words.begin(), words.end()};
}

/// The template arguments of a kernel's name: "<TILE, PAD>"; "": none.
std::string_view arguments_in(std::string_view kernel) {
  const std::size_t open = kernel.find('<');
  return open == std::string_view::npos ? "" : kernel.substr(open);
}

std::string with_values(std::string_view kernel,
                        const std::map<std::string, std::string, std::less<>>& values) {
  const std::size_t open = kernel.size() - arguments_in(kernel).size();
  std::string result(kernel.substr(0, open));
  std::size_t copied = open;
  for_each_word(kernel.substr(open), [&](std::size_t begin, std::string_view word) {
    const auto found = values.find(word);
    if (found == values.end()) return;
    result += kernel.substr(copied, open + begin - copied);
    result += found->second;
    copied = open + begin + word.size();
  });
  result += kernel.substr(copied);
  return result;
}

/// The expressions that belong to a variant, for finding out what they use.
std::set<std::string> names_used(const FamilySpec& spec, const VariantSpec& variant) {
  std::set<std::string> names;
  const auto add = [&](const Text& text) {
    // Arguments are more than an expression: every word of them may be a name.
    const std::set<std::string> words = words_in(text.text);
    names.insert(words.begin(), words.end());
  };
  for (const auto* list : {&variant.grid, &variant.block, &variant.cluster, &variant.settings,
                           &variant.defines, &spec.settings}) {
    for (const Text& text : *list) add(text);
  }
  for (const Text& text : variant.arguments ? *variant.arguments : spec.arguments) add(text);
  for (const Text* text :
       {&variant.shared, &variant.where, &variant.work.read, &variant.work.written,
        &variant.work.flops, &spec.work.read, &spec.work.written, &spec.work.flops}) {
    add(*text);
  }
  for (const ExpectationSpec& expectation : variant.expectations) add(expectation.condition);
  return names;
}

/// A variant's parameters and the family's sizes besides the one of -n, which vary in the same way.
std::vector<Parameter> dimensions(const FamilySpec& spec, const VariantSpec& variant) {
  std::vector<Parameter> all;
  for (const Parameter& size : spec.sizes) {
    if (size.name.text != size_name(spec)) all.push_back(size);
  }
  for (const Parameter& parameter : variant.parameters) {
    const bool is_size =
        std::any_of(spec.sizes.begin(), spec.sizes.end(),
                    [&](const Parameter& size) { return size.name.text == parameter.name.text; });
    if (is_size) {
      refuse(spec, parameter.name,
             fmt::format("'{}' is a size already: call the parameter something else",
                         parameter.name.text));
    }
    all.push_back(parameter);
  }
  return all;
}

class Product {
 public:
  Product(const FamilySpec& spec, const VariantSpec& variant, const std::string& source)
      : spec_(spec), variant_(variant), dimensions_(dimensions(spec, variant)) {
    const std::set<std::string> in_source = words_in(source);
    const std::set<std::string> in_kernel = words_in(arguments_in(variant.kernel.text));
    const std::set<std::string> in_file = names_used(spec, variant);
    for (const Parameter& parameter : dimensions_) {
      const std::string& name = parameter.name.text;
      if (!is_parameter(parameter) || in_kernel.contains(name)) continue;
      if (in_source.contains(name)) {
        defined_.insert(name);
      } else if (!in_file.contains(name)) {
        refuse(spec, parameter.name,
               fmt::format("nothing uses the parameter '{0}': name it in the kernel's template "
                           "arguments ('{1}<{0}>'), in the source as a macro, or in grid, block or "
                           "arguments",
                           name, variant.kernel.text.substr(0, variant.kernel.text.find('<'))));
      }
    }
  }

  std::vector<Configuration> all() {
    Configuration empty;
    empty.variant = &variant_;
    add(empty, 0);
    if (found_.empty()) {
      refuse(spec_, variant_.where,
             fmt::format("'{}' holds for none of the combinations of {}", variant_.where.text,
                         variant_.name.text));
    }
    return std::move(found_);
  }

 private:
  void add(const Configuration& so_far, std::size_t next) {
    if (next == dimensions_.size()) return finish(so_far);
    for (const Text& value : dimensions_[next].values) {
      Configuration with = so_far;
      const std::string& name = dimensions_[next].name.text;
      with.values[name] = value.text;
      if (const auto number = parameter_number(value.text)) {
        with.symbols[name] = *number;
      }
      if (defined_.contains(name)) with.defines.push_back(fmt::format("{}={}", name, value.text));
      add(with, next + 1);
    }
  }

  void finish(Configuration configuration) {
    if (!variant_.where.empty() && !holds(configuration)) return;
    if (found_.size() == most_configurations) {
      refuse(spec_, variant_.name,
             fmt::format("the parameters of {} make more than {} combinations", variant_.name.text,
                         most_configurations));
    }
    configuration.kernel = with_values(variant_.kernel.text, configuration.values);
    VariantName name{variant_.name.text, {}, {}};
    for (const Parameter& dimension : dimensions_) {
      const std::string& text = dimension.name.text;
      const std::string& value = configuration.values.at(text);
      if (is_parameter(dimension)) {
        name.parameters.emplace_back(text, value);
      } else if (dimension.values.size() > 1) {
        name.sizes.emplace_back(text, value);
      }
    }
    configuration.name = variant_name(name);
    configuration.sizes = sizes_text(name);
    name.sizes.clear();
    configuration.name_without_sizes = variant_name(name);
    found_.push_back(std::move(configuration));
  }

  bool is_parameter(const Parameter& dimension) const {
    return std::any_of(variant_.parameters.begin(), variant_.parameters.end(),
                       [&](const Parameter& p) { return p.name.text == dimension.name.text; });
  }

  /// Where the condition stumbles over a parameter whose value is a type's name, or over such a
  /// value: no other spelling would mend that.
  void refuse_names(const Configuration& configuration, const Text& at, std::size_t column) const {
    const std::vector<std::string> words =
        words_of(std::string_view(variant_.where.text).substr(column));
    const std::string word = words.empty() ? "" : words.front();
    for (const auto& [name, value] : configuration.values) {
      const bool is_number = configuration.symbols.contains(name);
      if (is_number || (word != name && word != value)) continue;
      refuse(spec_, at,
             fmt::format("where '{}' uses {}, but values of {} are names, such as {}, and where "
                         "computes with numbers: write a variant for each name",
                         variant_.where.text, word == name ? name : fmt::format("'{}'", word), name,
                         value));
    }
  }

  bool holds(const Configuration& configuration) const {
    try {
      return evaluate(variant_.where.text, configuration.symbols) != 0;
    } catch (const ExpressionFault& fault) {
      Text at = variant_.where;
      at.column += static_cast<int>(fault.column);
      refuse_names(configuration, at, fault.column);
      const std::string size = size_name(spec_);
      if (words_in(variant_.where.text).contains(size) && !configuration.symbols.contains(size)) {
        refuse(
            spec_, at,
            fmt::format("where '{}' cannot use {}, which -n replaces: it leaves combinations out "
                        "at every {}",
                        variant_.where.text, size, size));
      }
      refuse(spec_, at, fmt::format("where '{}' {}", variant_.where.text, fault.what()));
    }
  }

  const FamilySpec& spec_;
  const VariantSpec& variant_;
  const std::vector<Parameter> dimensions_;
  std::set<std::string> defined_;
  std::vector<Configuration> found_;
};

}  // namespace

std::string size_name(const FamilySpec& spec) {
  if (spec.sizes.empty()) return "";
  const bool has_n = std::any_of(spec.sizes.begin(), spec.sizes.end(),
                                 [](const Parameter& size) { return size.name.text == "n"; });
  return has_n ? "n" : spec.sizes.front().name.text;
}

std::vector<std::int64_t> sizes_of(const FamilySpec& spec) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& size : spec.sizes) {
    const bool is_recorded = size.name.text == size_name(spec);
    for (const Text& value : size.values) {
      const std::int64_t number =
          whole(spec, value, {}, 1, std::numeric_limits<std::int64_t>::max());
      if (is_recorded) sizes.push_back(number);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<Configuration> configurations(const FamilySpec& spec, const std::string& source) {
  std::vector<Configuration> all;
  std::set<std::string> names;
  for (const VariantSpec& variant : spec.variants) {
    for (Configuration& configuration : Product(spec, variant, source).all()) {
      if (!names.insert(configuration.name).second) {
        refuse(spec, variant.name,
               fmt::format("{} stands here twice: a parameter has one value twice",
                           configuration.name));
      }
      all.push_back(std::move(configuration));
    }
  }
  return all;
}

bool uses_any(const std::vector<Text>& texts, const Symbols& symbols) {
  return std::any_of(texts.begin(), texts.end(), [&](const Text& text) {
    const std::set<std::string> words = words_in(text.text);
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const auto& symbol) { return words.contains(symbol.first); });
  });
}

std::int64_t whole(const FamilySpec& spec, const Text& text, const Symbols& symbols,
                   std::int64_t least, std::int64_t most) {
  try {
    return evaluate_whole(text.text, symbols, least, most);
  } catch (const ExpressionFault& fault) {
    Text at = text;
    at.column += static_cast<int>(fault.column);
    refuse(spec, at, fmt::format("'{}' {}", text.text, fault.what()));
  }
}

}  // namespace warpmeter::family
