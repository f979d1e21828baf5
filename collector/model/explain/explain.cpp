// SPDX-License-Identifier: MIT
#include "collector/model/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <tuple>

#include "base/error.h"
#include "collector/model/explain/subject.h"
#include "collector/model/machine/memory/shown_name.h"

namespace warpmeter::model::explain {
namespace {

constexpr std::size_t most_findings = 12;

/// True if the finding's share is of sectors that others of the same line may count too.
bool counts_sectors(const schema::Finding& finding) {
  return finding.share_of == "the launch's global sectors" && !finding.file.empty();
}

/// True if both count what one line does.
bool share_a_line(const schema::Finding& one, const schema::Finding& other) {
  if (one.file != other.file) return false;
  const auto has = [](const schema::Finding& finding, int line) {
    return finding.line == line || std::find(finding.also_lines.begin(), finding.also_lines.end(),
                                             line) != finding.also_lines.end();
  };
  return has(other, one.line) || std::any_of(one.also_lines.begin(), one.also_lines.end(),
                                             [&](int line) { return has(other, line); });
}

/// A line's sectors may be too many for how its lanes lie, and fetched again as well.
void tell_apart(std::vector<schema::Finding>& findings) {
  for (std::size_t i = 1; i < findings.size(); ++i) {
    schema::Finding& finding = findings[i];
    const auto end = findings.begin() + static_cast<std::ptrdiff_t>(i);
    const auto before = std::find_if(findings.begin(), end, [&](const schema::Finding& other) {
      return counts_sectors(other) && counts_sectors(finding) && share_a_line(other, finding) &&
             other.object == finding.object && other.access == finding.access;
    });
    if (before == end) continue;
    finding.evidence += fmt::format(
        " Finding {} may count the same sectors, so that mending it may mend this one: "
        "their shares do not add up.",
        before - findings.begin() + 1);
  }
}

/// Loads of neighbours begin in the middle of sectors because they overlap: from a tile they would
/// do neither, so that their overlapping costs both.
void put_overlaps_first(std::vector<Weighed>& found) {
  for (const Weighed& one : found) {
    if (one.finding.kind != "misaligned_access") continue;
    for (Weighed& other : found) {
      const bool is_cause = other.finding.kind == "overlapping_access" &&
                            share_a_line(other.finding, one.finding) &&
                            other.finding.object == one.finding.object;
      if (is_cause) other.cycles += one.cycles;
    }
  }
}

}  // namespace

Shape parse_shape(const std::string& text) {
  static const std::regex form(R"(([A-Za-z_]\w*)=(\d+(?:x\d+)*):([fuisb])(8|16|32|64|128))");
  std::smatch parts;
  constexpr std::size_t longest = 1000;  // a regular expression takes a stack frame a character
  if (text.size() > longest || !std::regex_match(text, parts, form)) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' is no shape of an array; write NAME=ROWSxCOLUMNS:TYPE, for "
                            "example tile=16x16:f32",
                            text));
  }
  Shape shape;
  shape.array = parts[1];
  shape.element_bytes = static_cast<std::uint32_t>(std::stoul(parts[4]) / 8);
  const std::string extents = parts[2];
  static const std::regex number(R"(\d+)");
  for (std::sregex_iterator one(extents.begin(), extents.end(), number), end; one != end; ++one) {
    const unsigned long extent = one->length() > 6 ? 0 : std::stoul(one->str());
    if (extent == 0) {
      throw Error(ExitCode::usage,
                  fmt::format("'{}': an array has no {} elements in a row", text, one->str()));
    }
    shape.extents.push_back(static_cast<std::uint32_t>(extent));
  }
  return shape;
}

std::function<Buffer(std::uint64_t)> buffers_of(const DeviceMemory& memory) {
  return [&memory](std::uint64_t address) -> Buffer {
    const Allocation* allocation = memory.find(address);
    if (allocation == nullptr) return {};
    return {has_shown_name(*allocation)
                ? readable_variable(allocation->name).value_or(allocation->name)
                : std::string(),
            allocation->address, allocation->data.size()};
  };
}

schema::Explanation explain(const Program& program, const Geometry& geometry,
                            const LaunchOutcome& outcome, const Options& options) {
  schema::Explanation explanation;
  if (!outcome.recording) return explanation;
  const Subject subject(program, geometry, outcome, options);
  std::vector<Weighed> found;
  found.reserve(most_findings);
  const bool has_random_places = find_bank_conflicts(subject, found);
  find_global_accesses(subject, found);
  find_contended_atomics(subject, found);
  find_in_execution(subject, found);
  find_local_memory(subject, found);
  find_launch_shape(subject, found);
  std::erase_if(found, [&](const Weighed& one) { return one.cycles < least_told(subject); });
  put_overlaps_first(found);
  const auto order = [](const Weighed& one) {
    return std::tuple(one.is_by_block, one.is_of_launch, -one.cycles);
  };
  // In place, as they are few and large; equal ones stay in their order.
  for (auto one = found.begin(); one != found.end(); ++one) {
    const auto behind =
        std::upper_bound(found.begin(), one, *one,
                         [&](const Weighed& a, const Weighed& b) { return order(a) < order(b); });
    if (behind != one) std::rotate(behind, one, one + 1);
  }
  if (found.size() > most_findings) found.resize(most_findings);
  explanation.was_made = true;
  explanation.findings.reserve(found.size());
  for (Weighed& one : found) explanation.findings.push_back(std::move(one.finding));
  tell_apart(explanation.findings);
  for (schema::Finding& finding : explanation.findings) {
    if (!finding.access.empty()) {
      finding.kernel_transactions = transactions_of(outcome, finding.access.starts_with("shared"));
    }
    const bool is_of_a_line = !finding.access.empty() || finding.kind == "divergence";
    if (is_of_a_line && finding.file.empty()) {
      finding.evidence += " The code names no source lines: compile it with -lineinfo.";
    }
  }
  const auto miss = [&](const char* kind, const char* reason) {
    const bool is_found =
        std::any_of(explanation.findings.begin(), explanation.findings.end(),
                    [&](const schema::Finding& finding) { return finding.kind == kind; });
    if (!is_found) explanation.missing.push_back({kind, reason});
  };
  if (!program.is_audited()) {
    miss("local_memory", "spills show in the machine code only, which was not read");
    miss("low_occupancy", "registers are known of the machine code only, which was not read");
  }
  if (has_random_places) {
    miss("bank_conflict",
         "there are some at places that depend on the data, too many to try another layout on, and "
         "no more than random places cost");
  }
  return explanation;
}

}  // namespace warpmeter::model::explain
