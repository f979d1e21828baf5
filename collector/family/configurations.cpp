// SPDX-License-Identifier: MIT
#include "collector/family/configurations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "base/comments.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/variant_name.h"
#include "base/words.h"
#include "collector/family/declared_names.h"
#include "collector/family/listing.h"
#include "collector/family/substitution.h"

namespace warpmeter::family {
namespace {

constexpr std::size_t most_configurations = 100'000;

std::set<std::string> words_in(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return {words.begin(), words.end()};
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
  for (const Results* results : {&spec.results, &variant.results}) {
    for (const auto& [buffer, result] : *results) add(result);
  }
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
    const Uses uses{words_in(source), words_in(template_arguments(variant.kernel.text)),
                    names_used(spec, variant), template_parameters_in(source),
                    declared_names(source)};
    const Slip slip = misspelt(uses);
    for (const Parameter& parameter : dimensions_) {
      const std::string& name = parameter.name.text;
      if (!is_parameter(parameter) || uses.in_kernel.contains(name)) continue;
      // As a macro it would stand in the place of what the source itself calls so.
      const bool is_of_template = uses.of_templates.contains(name);
      const bool is_misspelt = is_of_template && slip.parameter == name;
      if (uses.in_source.contains(name) && !is_of_template && !uses.declared.contains(name)) {
        defined_.insert(name);
      } else if (is_misspelt || !uses.in_file.contains(name)) {
        refuse_unused(parameter.name, slip, uses);
      }
    }
    if (!slip.word.empty()) {
      doubt_ = fmt::format("the template argument '{}' is no parameter; did you mean {}?",
                           slip.word, slip.parameter);
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
  /// The names that may use a parameter.
  struct Uses {
    std::set<std::string> in_source, in_kernel, in_file;
    std::set<std::string> of_templates;  ///< the source's own parameters of templates
    std::set<std::string> declared;      ///< other names that the source declares
  };
  /// A template argument that nobody knows, and the parameter whose name is near.
  struct Slip {
    std::string word, parameter;
  };

  Slip misspelt(const Uses& uses) const {
    std::vector<std::string> left;
    for (const Parameter& parameter : variant_.parameters) {
      if (!uses.in_kernel.contains(parameter.name.text)) left.push_back(parameter.name.text);
    }
    std::set<std::string> known = uses.in_source;
    for (const Parameter& dimension : dimensions_) known.insert(dimension.name.text);
    for (const Text& define : variant_.defines) known.merge(words_in(define.text));
    for (const std::string& define : spec_.options.defines) known.merge(words_in(define));
    for (const std::string& word : uses.in_kernel) {
      const bool is_number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
      if (is_number || known.contains(word)) continue;
      if (const auto near = nearest(word, left); !near.empty()) return {word, near.front()};
    }
    return {};
  }

  [[noreturn]] void refuse_unused(const Text& name, const Slip& slip, const Uses& uses) const {
    const std::string& kernel = variant_.kernel.text;
    const std::string stem = kernel.substr(0, kernel.find('<'));
    if (slip.parameter == name.text) {
      refuse(spec_, name,
             fmt::format("nothing uses the parameter '{}': did you mean it by '{}' in '{}'?",
                         name.text, slip.word, kernel));
    }
    if (uses.of_templates.contains(name.text)) {
      refuse(spec_, name,
             fmt::format("nothing uses the parameter '{0}', for {0} is no macro but a template's "
                         "own parameter: name it in the kernel's template arguments ('{1}<{0}>')",
                         name.text, stem));
    }
    if (uses.declared.contains(name.text)) {
      refuse(spec_, name,
             fmt::format("nothing uses the parameter '{0}', for {1} declares its own {0}, which no "
                         "macro replaces: call the parameter something else",
                         name.text, spec_.source));
    }
    constexpr std::size_t shortest = 3;  // shorter ones are near to every other
    std::vector<std::string> in_source;
    for (const std::string& word : uses.in_source) {
      if (word.size() >= shortest) in_source.push_back(word);
    }
    refuse(spec_, name,
           fmt::format("nothing uses the parameter '{0}': name it in the kernel's template "
                       "arguments ('{1}<{0}>'), in the source as a macro, or in grid, block or "
                       "arguments{2}",
                       name.text, stem,
                       name.text.size() < shortest ? "" : did_you_mean(name.text, in_source)));
  }

  void add(const Configuration& so_far, std::size_t next) {
    if (next == dimensions_.size()) return finish(so_far);
    for (const Text& value : dimensions_[next].values) {
      Configuration with = so_far;
      const std::string& name = dimensions_[next].name.text;
      with.values[name] = value.text;
      if (const auto number = parameter_number(value.text)) {
        with.symbols[name] = *number;
      }
      if (defined_.contains(name)) {
        with.defines.push_back(fmt::format("{}={}", name, as_operand(value.text)));
      }
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
    check_numbers(configuration);
    configuration.kernel = with_values(variant_.kernel.text, configuration.values);
    configuration.doubt = doubt_;
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

  /// Refuses a parameter's value that is no number where the launch computes with it.
  void check_numbers(const Configuration& configuration) const {
    const auto check = [&](std::string_view what, std::string_view expression) {
      for (const std::string& word : words_in(expression)) {
        const auto found = configuration.values.find(word);
        const bool is_name =
            found != configuration.values.end() && !configuration.symbols.contains(word);
        if (is_name) refuse_name(word, found->second, what, expression);
      }
    };
    for (const Text& text : variant_.grid) check("grid", text.text);
    for (const Text& text : variant_.block) check("block", text.text);
    for (const Text& text : variant_.cluster) check("cluster", text.text);
    check("shared", variant_.shared.text);
    const WorkSpec& work = variant_.work.empty() ? spec_.work : variant_.work;
    for (const Text* text : {&work.read, &work.written, &work.flops}) check("work", text->text);
    for (const Text& text : variant_.arguments ? *variant_.arguments : spec_.arguments) {
      const std::size_t open = text.text.find('['), close = text.text.find(']');
      const bool has_count = open != std::string::npos && close != std::string::npos;
      if (has_count) check("arguments", text.text.substr(open + 1, close - open - 1));
    }
  }

  [[noreturn]] void refuse_name(const std::string& parameter, const std::string& value,
                                std::string_view what, std::string_view expression) const {
    for (const Parameter& dimension : dimensions_) {
      for (const Text& text : dimension.values) {
        if (dimension.name.text != parameter || text.text != value) continue;
        refuse(spec_, text,
               fmt::format("'{}' is no number, and {} computes with {}: '{}'", value, what,
                           parameter, expression));
      }
    }
    refuse(spec_, variant_.name,
           fmt::format("{} has the value '{}', which is no number", parameter, value));
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
  std::string doubt_;
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
  const std::string code = without_comments(source);
  for (const VariantSpec& variant : spec.variants) {
    for (Configuration& configuration : Product(spec, variant, code).all()) {
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
                   std::int64_t least, std::int64_t most, std::string_view what) {
  try {
    return evaluate_whole(text.text, symbols, least, most);
  } catch (const ExpressionFault& fault) {
    Text at = text;
    at.column += static_cast<int>(fault.column);
    const bool has_place = text.line > 0 || what.empty();
    refuse(spec, at,
           fmt::format("{}'{}' {}", has_place ? "" : fmt::format("{} ", what), text.text,
                       fault.what()));
  }
}

}  // namespace warpmeter::family
