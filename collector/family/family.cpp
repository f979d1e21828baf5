// SPDX-License-Identifier: MIT
#include "collector/family/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "collector/family/cpu_call.h"
#include "collector/family/problem.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/npy.h"
#include "schema/catalogue.h"

namespace warpmeter::family {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

Dim3 extent(const FamilySpec& spec, std::string_view what, const std::vector<Text>& texts,
            const Symbols& symbols) {
  std::uint32_t all[3] = {1, 1, 1};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    all[i] = static_cast<std::uint32_t>(whole(spec, texts[i], symbols, 1, 0x7fffffff, what));
  }
  return {all[0], all[1], all[2]};
}

/// The text of the user's own files that the compiler reads.
std::string source_with_headers(const FamilySpec& spec) {
  if (!spec.source.ends_with(".cu")) return "";
  std::string text = model::source_text(spec.source);
  for (const std::string& header : model::included_files(spec.source, spec.options.includes)) {
    text += "\n" + model::source_text(header);
  }
  return text;
}

}  // namespace

FileFamily::FileFamily(FamilySpec spec, int arch, const CodeBase::Progress& progress)
    : spec_(std::move(spec)), code_(spec_, arch) {
  family_.is_of_file = true;
  describe();
  compile(progress);
  for (std::size_t i = 0; i < configurations_.size(); ++i) {
    check(configurations_[i], kernels_[i]);
    family_.variants.push_back(variant_of(configurations_[i], kernels_[i]));
  }
}

FileFamily::FileFamily(FamilySpec spec, const kernels::Image& image)
    : spec_(std::move(spec)), code_(spec_, 0) {
  describe();
  configurations_ = configurations(spec_, "");  // no source needs a macro any more
  family_.ceilings = ceilings();
  kernels_.resize(configurations_.size());
  for (std::size_t i = 0; i < configurations_.size(); ++i) {
    family_.variants.push_back(variant_of(configurations_[i], kernels_[i]));
    kernels::Variant& variant = family_.variants.back();
    if (variant.library.empty()) variant.image = &image;
  }
}

void FileFamily::describe() {
  family_.name = spec_.name;
  family_.summary = spec_.summary;
  family_.sizes = sizes_of(spec_);
  const std::string size = size_name(spec_);
  family_.size_meaning = !size.empty() && spec_.size_meaning.empty() ? size : spec_.size_meaning;
  family_.largest_size = spec_.largest.empty() ? most : whole(spec_, spec_.largest, {}, 1, most);
  family_.tolerance = {spec_.relative, spec_.absolute, spec_.nan_equals_nan};
  for (const Text& output : spec_.outputs) family_.outputs.push_back(output.text);
  family_.prepare = [this](std::int64_t n) {
    return problem_of(spec_, spec_.arguments,
                      arguments_at(spec_, spec_.arguments, symbols_at({}, n)));
  };
  family_.footprint = [this](std::int64_t n) {
    // The catalogue's families say with the others' words that they are too large
    // (run::check_fits).
    const std::uint64_t available = family_.is_of_file ? available_memory() : most;
    std::uint64_t largest = 0;
    for (const Configuration& configuration : configurations_) {
      const std::vector<Text>& texts = arguments_of(*configuration.variant);
      largest = std::max(
          largest, bytes_of(spec_, texts, arguments_at(spec_, texts, symbols_at(configuration, n)),
                            available));
    }
    return largest;
  };
}

/// All of one version of the source: what is saved while it is compiled is compiled anew, or some
/// variants would be of the one and some of the other.
void FileFamily::compile(const CodeBase::Progress& progress) {
  constexpr int most_times = 10;
  for (int i = 0; i < most_times; ++i) {
    const std::string source = source_with_headers(spec_);
    configurations_ = configurations(spec_, source);
    family_.ceilings = ceilings();
    if (!spec_.reference.empty()) {
      configuration_named(spec_.reference, "reference", configurations_.front().sizes);
    }
    std::vector<Configuration> compiled;
    for (const Configuration& configuration : configurations_) {
      if (configuration.variant->library.empty()) compiled.push_back(configuration);
    }
    std::vector<Kernel> kernels = code_.compile(compiled, progress);
    kernels_.clear();
    for (std::size_t next = 0; const Configuration& configuration : configurations_) {
      const bool is_compiled = configuration.variant->library.empty();
      kernels_.push_back(is_compiled ? std::move(kernels[next++]) : Kernel());
    }
    if (source_with_headers(spec_) == source) return;
  }
  refuse(spec_, spec_.source_place,
         fmt::format("{} was written again each time that it was compiled; run again when that is "
                     "over",
                     spec_.source),
         ExitCode::file);
}

/// Refuses a configuration that is wrong at every size, before anything runs.
void FileFamily::check(const Configuration& configuration, const Kernel& kernel) const {
  if (!kernel.failure.empty()) return;
  const std::int64_t first = family_.sizes.empty() ? 0 : family_.sizes.front();
  const std::vector<Text>& texts = arguments_of(*configuration.variant);
  const auto arguments = arguments_at(spec_, texts, symbols_at(configuration, first));
  if (kernel.unit == nullptr) {
    check_library_arguments(spec_, *configuration.variant, arguments);
  } else {
    check_arguments(spec_, configuration, kernel, texts, arguments);
  }
  kernels::Problem outline = outline_of(arguments);
  const bool has_outputs = is_compared_with_the_familys(configuration);
  check_outputs(spec_, has_outputs ? spec_.outputs : std::vector<Text>(), results_of(configuration),
                outline);
  if (kernel.unit == nullptr) return;
  add_settings(spec_, spec_.settings, *kernel.unit, outline);
  add_settings(spec_, configuration.variant->settings, *kernel.unit, outline);
}

const std::vector<Text>& FileFamily::arguments_of(const VariantSpec& variant) const {
  return variant.arguments ? *variant.arguments : spec_.arguments;
}

Symbols FileFamily::symbols_at(const Configuration& configuration, std::int64_t n) const {
  Symbols symbols = configuration.symbols;
  const std::string name = size_name(spec_);
  if (!name.empty()) symbols[name] = static_cast<long double>(n);
  return symbols;
}

Geometry FileFamily::geometry_at(const Configuration& configuration, std::int64_t n) const {
  const VariantSpec& variant = *configuration.variant;
  const Symbols symbols = symbols_at(configuration, n);
  if (!variant.library.empty()) return kernels::unknown_geometry;
  Geometry geometry;
  geometry.grid = extent(spec_, "grid", variant.grid, symbols);
  geometry.block = extent(spec_, "block", variant.block, symbols);
  geometry.cluster = extent(spec_, "cluster", variant.cluster, symbols);
  geometry.is_cooperative = variant.is_cooperative;
  if (!variant.shared.empty()) {
    geometry.dynamic_shared_bytes =
        static_cast<std::uint32_t>(whole(spec_, variant.shared, symbols, 0, 1 << 20));
  }
  return geometry;
}

kernels::Work FileFamily::work_at(const WorkSpec& work, const Symbols& symbols) const {
  const auto value = [&](const Text& text) {
    return text.empty() ? 0 : static_cast<std::uint64_t>(whole(spec_, text, symbols, 0, most));
  };
  return {value(work.read), value(work.written), value(work.flops)};
}

/// "gld_efficiency == 100"
kernels::Expectation FileFamily::expectation(const ExpectationSpec& expectation,
                                             const Symbols& symbols) const {
  const std::string& text = expectation.condition.text;
  const std::size_t sign = text.find_first_of("<>=!");
  const std::string relation = sign == std::string::npos ? "" : text.substr(sign, 2);
  if (relation != "==" && relation != "<=" && relation != ">=") {
    refuse(spec_, expectation.condition,
           fmt::format("'{}' is no METRIC == VALUE, METRIC <= VALUE or METRIC >= VALUE", text));
  }
  std::string metric = text.substr(0, sign);
  metric.erase(metric.find_last_not_of(' ') + 1);
  if (family_.is_of_file) {  // a test holds the catalogue to it: it costs a start as much as YAML
    checked(spec_, expectation.condition,
            [&] { schema::Catalogue::get().counters_for(std::span(&metric, 1)); });
  }
  kernels::Expectation result;
  result.metric = metric;
  result.relation = relation == "=="   ? kernels::Relation::equal
                    : relation == "<=" ? kernels::Relation::less_equal
                                       : kernels::Relation::greater_equal;
  result.reason = expectation.reason;
  for (const Text& size : spec_.expected_at) {
    result.sizes.push_back(whole(spec_, size, {}, 1, most));
  }
  try {
    result.value = static_cast<double>(evaluate(text.substr(sign + 2), symbols));
  } catch (const ExpressionFault& fault) {
    refuse(spec_, expectation.condition, fmt::format("'{}' {}", text, fault.what()));
  }
  return result;
}

/// A configuration, or the one of a name at the sizes: what is compared has to do the same work.
const Configuration& FileFamily::configuration_named(const Text& text, std::string_view what,
                                                     const std::string& sizes) const {
  std::vector<std::string> names;
  std::vector<const Configuration*> of_variant;
  bool is_at_others = false;
  for (const Configuration& configuration : configurations_) {
    if (configuration.name == text.text && configuration.sizes != sizes) {
      refuse(spec_, text,
             fmt::format("the {} '{}' is at {}, and others are at {}: name it without sizes, {}, "
                         "which means the same ones",
                         what, text.text, configuration.sizes, sizes,
                         configuration.name_without_sizes));
    }
    if (configuration.name == text.text) return configuration;
    const bool has_name = configuration.name_without_sizes == text.text;
    if (has_name && configuration.sizes == sizes) return configuration;
    names.push_back(configuration.name_without_sizes);
    const bool is_variant = configuration.variant->name.text == text.text;
    if (is_variant && configuration.sizes == sizes) of_variant.push_back(&configuration);
    is_at_others = is_at_others || has_name || is_variant;
  }
  if (of_variant.size() == 1) return *of_variant.front();
  if (!of_variant.empty()) {
    refuse(spec_, text,
           fmt::format("the {} '{}' is {} configurations; name one of them: {}", what, text.text,
                       of_variant.size(), of_variant.front()->name_without_sizes));
  }
  if (is_at_others) {
    refuse(
        spec_, text,
        fmt::format("the {} '{}' leaves out {}, which others have: its `where` has to hold there "
                    "too",
                    what, text.text, sizes));
  }
  refuse(spec_, text,
         fmt::format("the {} '{}' is not among the variants{}", what, text.text,
                     did_you_mean(text.text, names)));
}

/// One at each of the sizes that the configurations have.
std::vector<std::string> FileFamily::ceilings() const {
  std::set<std::string> names;
  for (const Configuration& configuration : configurations_) {
    if (spec_.ceiling.empty()) break;
    names.insert(configuration_named(spec_.ceiling, "ceiling", configuration.sizes).name);
  }
  return {names.begin(), names.end()};
}

/// The variant that the configuration is compared with. The ceiling does less than the others (a
/// copy, of transposes), so only a reference of its own is for it.
std::string FileFamily::reference_of(const Configuration& configuration) const {
  const std::optional<Text>& own = configuration.variant->reference;
  if (own && own->empty()) return "";
  if (!own && (spec_.reference.empty() || family_.is_ceiling(configuration.name))) return "";
  return configuration_named(own ? *own : spec_.reference, "reference", configuration.sizes).name;
}

/// A variant with a reference of its own is another problem, which may have other outputs; so is
/// the ceiling.
bool FileFamily::is_compared_with_the_familys(const Configuration& configuration) const {
  return !configuration.variant->reference && !family_.is_ceiling(configuration.name);
}

const Results& FileFamily::results_of(const Configuration& configuration) const {
  static const Results none;
  if (configuration.variant->reference) return configuration.variant->results;
  return is_compared_with_the_familys(configuration) ? spec_.results : none;
}

/// Each result, computed or read; check_outputs has found their buffers.
std::vector<kernels::Expected> FileFamily::expected(const Results& results, const Symbols& symbols,
                                                    const kernels::Problem& problem) const {
  std::vector<kernels::Expected> all;
  for (const auto& result : results) {
    const std::string& buffer = result.first;
    const Text& file = result.second;
    const std::size_t index = buffer_named(problem, buffer);
    std::vector<std::byte> values =
        is_cpu_call(file.text)
            ? call_cpu(spec_, file, symbols, problem, index)
            : checked(spec_, file,
                      [&] { return model::read_npy(file.text, problem.buffers[index].type).data; });
    all.push_back({index, std::move(values), family_.tolerance});
  }
  return all;
}

/// True if its arguments depend on its parameters, or its module has variables to set.
bool FileFamily::has_own_problem(const Configuration& configuration) const {
  const VariantSpec& variant = *configuration.variant;
  return variant.arguments || !variant.settings.empty() || !spec_.settings.empty() ||
         uses_any(spec_.arguments, configuration.symbols);
}

kernels::Variant FileFamily::variant_of(const Configuration& configuration, const Kernel& kernel) {
  const VariantSpec& spec = *configuration.variant;
  kernels::Variant variant;
  variant.name = configuration.name;
  variant.entry = kernel.entry.empty() ? configuration.kernel : kernel.entry;
  variant.failure = kernel.failure;
  variant.library = spec.library;
  if (kernel.unit != nullptr) variant.image = &kernel.unit->image;
  variant.geometry = [this, &configuration](std::int64_t n) {
    return geometry_at(configuration, n);
  };
  variant.check = [this, &configuration](std::int64_t n) {
    const std::vector<Text>& texts = arguments_of(*configuration.variant);
    const std::string size = size_name(spec_);
    check_files(spec_, texts, arguments_at(spec_, texts, symbols_at(configuration, n)),
                results_of(configuration), symbols_at(configuration, n),
                size.empty() ? "" : fmt::format(" at {} = {}", size, n));
  };
  variant.reference = reference_of(configuration);
  const WorkSpec& work = spec.work.empty() ? spec_.work : spec.work;
  if (!work.empty()) {
    variant.work = [this, &work, &configuration](std::int64_t n) {
      return work_at(work, symbols_at(configuration, n));
    };
  }
  for (const ExpectationSpec& condition : spec.expectations) {
    variant.expectations.push_back(expectation(condition, configuration.symbols));
  }
  if (const Results& results = results_of(configuration); !results.empty()) {
    const bool has_file = std::any_of(results.begin(), results.end(), [](const auto& result) {
      return !is_cpu_call(result.second.text);
    });
    variant.expected_from = has_file ? "the reference files" : "the CPU reference";
    variant.expected = [this, &results, &configuration](std::int64_t n,
                                                        const kernels::Problem& problem) {
      return expected(results, symbols_at(configuration, n), problem);
    };
  }
  if (has_own_problem(configuration)) {
    variant.prepare = [this, &configuration, unit = kernel.unit](std::int64_t n) {
      const VariantSpec& own = *configuration.variant;
      const std::vector<Text>& texts = arguments_of(own);
      kernels::Problem problem =
          problem_of(spec_, texts, arguments_at(spec_, texts, symbols_at(configuration, n)));
      if (unit != nullptr) {
        add_settings(spec_, spec_.settings, *unit, problem);
        add_settings(spec_, own.settings, *unit, problem);
      }
      return problem;
    };
  }
  return variant;
}

}  // namespace warpmeter::family
