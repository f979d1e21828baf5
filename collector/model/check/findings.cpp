#include "collector/model/check/findings.h"

#include <algorithm>

namespace warpmeter::model::check {

std::string_view to_string(Defect defect) {
  switch (defect) {
    case Defect::out_of_bounds:
      return "out of bounds";
    case Defect::misaligned:
      return "misaligned";
    case Defect::uninitialised:
      return "uninitialised read";
    case Defect::race:
      return "shared-memory race";
    case Defect::global_race:
      return "global-memory race";
    case Defect::block_race:
      return "race between blocks";
    case Defect::equal_writes:
      return "equal writes";
    case Defect::barrier:
      return "divergent barrier";
    case Defect::absent_lanes:
      return "absent lanes";
    case Defect::trap:
      break;
  }
  return "trap";
}

bool is_remark(Defect defect) { return defect == Defect::equal_writes; }

Findings::Findings(const Program& program)
    : program_(program), numbers_((program.places.size() + 1) * defects, none) {}

std::uint32_t Findings::create(Defect defect, std::uint32_t instruction) {
  Finding finding;
  finding.defect = defect;
  if (instruction < program_.places.size()) finding.place = program_.places[instruction];
  if (static_cast<std::size_t>(finding.place.file) < program_.files.size()) {
    finding.file = program_.files[static_cast<std::size_t>(finding.place.file)];
  }
  all_.push_back(std::move(finding));
  return static_cast<std::uint32_t>(all_.size()) - 1;
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> list;
  for (const Finding& finding : all_) {
    // The compiler repeats lines, in loops that it unrolls for example.
    const auto same = std::find_if(list.begin(), list.end(), [&](const Finding& other) {
      return other.defect == finding.defect && finding.place.line > 0 &&
             other.place.line == finding.place.line && other.file == finding.file;
    });
    if (same == list.end()) {
      list.push_back(finding);
      continue;
    }
    const std::uint64_t times = same->times + finding.times;
    if (finding.span > same->span) *same = finding;
    same->times = times;
  }
  std::stable_sort(list.begin(), list.end(), [](const Finding& a, const Finding& b) {
    return a.place.ptx_line < b.place.ptx_line;
  });
  return list;
}

std::uint64_t Findings::mistakes() const {
  std::uint64_t sum = 0;
  for (const Finding& finding : all_) sum += is_remark(finding.defect) ? 0 : finding.times;
  return sum;
}

}  // namespace warpmeter::model::check
