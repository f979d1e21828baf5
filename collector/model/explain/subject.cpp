// SPDX-License-Identifier: MIT
#include "collector/model/explain/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/source_lines.h"

namespace warpmeter::model::explain {
namespace {

/// A sum at an instruction holds from there on.
std::vector<double> summed(const std::vector<std::uint64_t>& changes) {
  std::vector<double> sums;
  sums.reserve(changes.size());
  std::uint64_t sum = 0;
  for (const std::uint64_t change : changes) sums.push_back(static_cast<double>(sum += change));
  return sums;
}

}  // namespace

Subject::Subject(const Program& the_program, const Geometry& the_geometry,
                 const LaunchOutcome& the_outcome, const Options& the_options)
    : program(the_program),
      geometry(the_geometry),
      outcome(the_outcome),
      recording(*the_outcome.recording),
      options(the_options),
      issues(summed(recording.instructions.issues)),
      lanes(summed(recording.instructions.lanes)) {
  if (!issues.empty() && issues[0] > 0) warps_lanes = lanes[0] / issues[0];
  cycles = cycles_of_instruction * static_cast<double>(outcome.warp_instructions);
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    const SiteCounts& counts = outcome.counts[i];
    cycles += cycles_of_wavefront * static_cast<double>(counts.shared.transactions);
    cycles += cycles_of_request * static_cast<double>(counts.global.requests);
    cycles += cycles_of_sector * static_cast<double>(counts.global.transactions);
  }
}

SourceLine line_of(const Subject& subject, const Place& place) {
  const auto file = static_cast<std::size_t>(place.file);
  if (place.line == 0 || file >= subject.program.files.size()) return {};
  return {subject.program.files[file], place.own_line};
}

void locate(const Subject& subject, const Place& place, schema::Finding& finding) {
  const SourceLine line = line_of(subject, place);
  finding.file = line.file;
  finding.line = line.number;
  if (subject.options.sources != nullptr && !line.file.empty()) {
    finding.text = line_text(subject.options.sources->from_line(finding.file, line.number), 1);
  }
}

void weaken(const Subject& subject, std::size_t site, AddressSpace space,
            schema::Finding& finding) {
  const SiteGrade grade = grade_of(subject.program, site, space, subject.outcome);
  if (grade.grade <= finding.grade) return;
  finding.grade = grade.grade;
  finding.grade_reason = grade.reason;
}

std::string shown(double number) {
  if (number >= 1e6) return fmt::format("{:.3g} million", number / 1e6);
  const long long whole = std::llround(number);
  return whole < 1000 ? fmt::format("{}", whole)
                      : fmt::format("{},{:03}", whole / 1000, whole % 1000);
}

std::string in_words(std::uint64_t number) {
  return number == 1 ? "one" : shown(static_cast<double>(number));
}

std::int64_t transactions_of(const LaunchOutcome& outcome, bool is_shared) {
  std::uint64_t sum = 0;
  for (const SiteCounts& counts : outcome.counts) {
    sum += is_shared ? counts.shared.transactions + counts.loop_loads.transactions
                     : counts.global.transactions;
  }
  return static_cast<std::int64_t>(sum);
}

bool makes_parts(const SiteInfo& site) {
  return !site.requests.empty() &&
         std::all_of(site.requests.begin(), site.requests.end(), [&](const Request& request) {
           return !request.is_window && !request.is_elected && request.offset >= 0 &&
                  request.width < site.width && request.offset + request.width <= site.width;
         });
}

}  // namespace warpmeter::model::explain
