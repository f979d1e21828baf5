// SPDX-License-Identifier: MIT
// The costliest line comes from the counts of the accesses that the gate's metric names. The
// kernel's line is read from the source that the run has kept, word by word: nothing is parsed.
#include "reports/gates/places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/comments.h"
#include "base/kernel_name.h"
#include "base/words.h"
#include "reports/record.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports {
namespace {

/// The accesses that a gate is about, from the name of its metric; empty when it does not say. The
/// first match counts: longer names come first.
std::string_view access_of(std::string_view gate) {
  constexpr std::pair<std::string_view, std::string_view> accesses[] = {
      {"distributed_shared", ""},  // no line counts those
      {"shared_matrix_load", "shared matrix load"},
      {"shared_matrix_store", "shared matrix store"},
      {"async_copy_wavefronts", "shared async copy"},
      {"async_copy_bypass_wavefronts", "shared async copy"},
      {"async_copy", "global load"},
      {"shared_load", "shared load"},
      {"shared_ld", "shared load"},
      {"shared_store", "shared store"},
      {"shared_st", "shared store"},
      {"gld", "global load"},
      {"global_load", "global load"},
      {"gst", "global store"},
      {"global_store", "global store"}};
  for (const auto& [metric, access] : accesses) {
    if (gate.find(metric) != std::string_view::npos) return access;
  }
  return "";
}

struct Source {
  std::string file, text;
};

std::vector<Source> read_sources(const schema::Reader& reader, std::int64_t run) {
  std::vector<Source> sources;
  const schema::Rows rows = reader.query(sql::source_files, {{":run", run}});
  for (const Row& row : each_row(rows)) sources.push_back({row.text("file"), row.text("text")});
  return sources;
}

/// A variant at a size.
using VariantAtSize = std::tuple<std::string, std::string, std::optional<std::int64_t>>;

VariantAtSize variant_of(const Row& row) {
  return {row.text("family"), row.text("variant"), row.integer("size")};
}

VariantAtSize variant_of(const LaunchName& name) { return {name.family, name.variant, name.size}; }

/// The lines of the findings of a run. Each part is read once, when a finding first needs it: a
/// variant may have a million launches.
class FindingPlaces {
 public:
  FindingPlaces(const schema::Reader& reader, std::int64_t run) : reader_(reader), run_(run) {}

  void add(Finding& finding) {
    add_costliest_line(finding);
    if (!sources_) sources_ = read_sources(reader_, run_);
    if (!sources_->empty()) add_kernel_line(finding);
  }

 private:
  /// The line with the largest excess of the accesses that the gate is about.
  void add_costliest_line(Finding& finding) {
    const std::string_view access =
        access_of(finding.condition.empty() ? finding.gate : finding.condition);
    if (finding.outcome != Outcome::broken || access.empty()) return;
    if (!costliest_) {
      costliest_.emplace();
      const schema::Rows rows = reader_.query(sql::costliest_lines, run_parameter(run_));
      for (const Row& row : each_row(rows)) {
        (*costliest_)[{variant_of(row), row.text("access")}] = {row.text("file"),
                                                                row.integer("line").value_or(0)};
      }
    }
    const auto found = costliest_->find({variant_of(finding.name), std::string(access)});
    if (found != costliest_->end()) std::tie(finding.file, finding.line) = found->second;
  }

  /// The first kernel of the launch that a source declares. The source of the costliest line is
  /// asked first: others may have a kernel of the same name.
  void add_kernel_line(Finding& finding) {
    const std::vector<std::string>& kernels = kernels_of(finding.name);
    for (const bool is_of_costliest_line : {true, false}) {
      for (const Source& source : *sources_) {
        if ((source.file == finding.file) != is_of_costliest_line) continue;
        for (const std::string& kernel : kernels) {
          const std::int64_t line = kernel_line(source.text, function_name(kernel));
          if (line == 0) continue;
          finding.kernel_file = source.file;
          finding.kernel_line = line;
          return;
        }
      }
    }
  }

  /// In the order of their names.
  const std::vector<std::string>& kernels_of(const LaunchName& name) {
    if (!kernels_) {
      kernels_.emplace();
      const schema::Rows rows = reader_.query(sql::kernels, run_parameter(run_));
      for (const Row& row : each_row(rows)) {
        (*kernels_)[variant_of(row)].push_back(row.text("kernel"));
      }
    }
    return (*kernels_)[variant_of(name)];
  }

  const schema::Reader& reader_;
  std::int64_t run_;
  std::optional<std::vector<Source>> sources_;
  /// By the variant and the kind of accesses: the file and the line.
  std::optional<
      std::map<std::pair<VariantAtSize, std::string>, std::pair<std::string, std::int64_t>>>
      costliest_;
  std::optional<std::map<VariantAtSize, std::vector<std::string>>> kernels_;
};

/// The place of the name in a declaration "__global__ … NAME(".
std::optional<std::size_t> global_function(std::string_view text, std::string_view name) {
  std::optional<std::size_t> found;
  std::size_t global = std::string_view::npos;
  for_each_word(text, [&](std::size_t begin, std::string_view word) {
    if (found) return;
    if (word == "__global__") global = begin;
    if (word != name || global == std::string_view::npos) return;
    const std::string_view between = text.substr(global, begin - global);
    const std::size_t next = text.find_first_not_of(" \t\r\n", begin + word.size());
    const bool is_called =
        next != std::string_view::npos && (text[next] == '(' || text[next] == '<');
    if (is_called && between.find_first_of(";{}") == std::string_view::npos) found = begin;
  });
  return found;
}

/// The same of Python: "def NAME(".
std::optional<std::size_t> python_function(std::string_view text, std::string_view name) {
  std::optional<std::size_t> found;
  std::size_t definition = std::string_view::npos;
  for_each_word(text, [&](std::size_t begin, std::string_view word) {
    if (found) return;
    const bool is_defined = definition != std::string_view::npos && word == name;
    if (is_defined && text.substr(definition, begin - definition).find_first_not_of(" \t") ==
                          std::string_view::npos) {
      found = begin;
    }
    definition = word == "def" ? begin + word.size() : std::string_view::npos;
  });
  return found;
}

}  // namespace

std::int64_t kernel_line(std::string_view source, std::string_view name) {
  if (name.empty() || source.find(name) == std::string_view::npos) return 0;
  const std::string text = with_blank_literals(std::string(source));
  std::optional<std::size_t> place = global_function(text, name);
  if (!place) place = python_function(source, name);
  if (!place) return 0;
  return 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(*place), '\n');
}

void add_places(const schema::Reader& reader, std::int64_t run, std::vector<Finding>& findings) {
  FindingPlaces places(reader, run);
  for (Finding& finding : findings) {
    if (finding.outcome != Outcome::holds && !finding.launch.empty()) places.add(finding);
  }
}

}  // namespace warpmeter::reports
