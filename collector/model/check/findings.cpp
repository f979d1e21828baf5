// SPDX-License-Identifier: MIT
#include "collector/model/check/findings.h"

#include <algorithm>
#include <utility>

namespace warpmeter::model::check {

std::string_view to_string(Defect defect) {
  switch (defect) {
    case Defect::out_of_bounds:
      return "out of bounds";
    case Defect::misaligned:
      return "misaligned";
    case Defect::uninitialised:
    case Defect::partly_unset:
    case Defect::unset:
    case Defect::unset_shared:
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

/// By the names of its folders, in a toolkit or in a checkout of CCCL. A person's include/cuda/ is
/// none of them.
bool is_of_toolkit(std::string_view file) {
  for (const std::string_view folder :
       {"/include/cccl/", "/include/cub/", "/include/thrust/", "/include/cuda/std/",
        "/include/cooperative_groups.h", "/include/cooperative_groups/", "/cub/cub/",
        "/thrust/thrust/", "/libcudacxx/include/"}) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  return false;
}

Finding finding_at(const Program& program, std::uint32_t instruction) {
  Finding finding;
  if (instruction < program.places.size()) finding.place = program.places[instruction];
  if (static_cast<std::size_t>(finding.place.file) < program.files.size()) {
    finding.file = program.files[static_cast<std::size_t>(finding.place.file)];
  }
  const auto code = static_cast<std::size_t>(finding.place.code_file);
  const bool is_known = code < program.files.size() && finding.place.code_line > 0;
  finding.is_of_toolkit = is_known && is_of_toolkit(program.files[code]);
  finding.is_of_its_kernel = finding.is_of_toolkit && is_of_toolkit(finding.file);
  // A person's function in a kernel of the toolkit: the person's line.
  if (is_known && !finding.is_of_toolkit && is_of_toolkit(finding.file)) {
    finding.file = program.files[code];
    finding.place.line = finding.place.own_line = finding.place.code_line;
  }
  return finding;
}

Findings::Findings(const Program& program)
    : program_(program), numbers_((program.places.size() + 1) * defects, none) {}

std::uint32_t Findings::create(Defect defect, std::uint32_t instruction) {
  all_.push_back(finding_at(program_, instruction));
  all_.back().defect = defect;
  return static_cast<std::uint32_t>(all_.size()) - 1;
}

void Findings::set_message(Finding& finding, Described described) const {
  set_message(finding, std::move(described.message));
  const Finding other = finding_at(program_, described.other);
  const bool is_elsewhere = other.place.line != finding.place.line || other.file != finding.file;
  if (other.place.line <= 0 || !is_elsewhere) return;
  finding.other_file = other.file;
  finding.other_line = other.place.line;
}

void Findings::set_message(Finding& finding, Illegal illegal) {
  set_message(finding, std::move(illegal.message));
  finding.address = illegal.address;
  finding.width = illegal.width;
}

void Findings::set_message(Finding& finding, std::string message) {
  finding.message = std::move(message);
  finding.other_file.clear();
  finding.other_line = 0;
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> list;
  for (const Finding& finding : all_) {
    // The compiler repeats lines, in loops that it unrolls for example.
    const auto same = std::find_if(list.begin(), list.end(), [&](const Finding& other) {
      return other.defect == finding.defect && other.is_remark() == finding.is_remark() &&
             finding.place.line > 0 && other.place.line == finding.place.line &&
             other.file == finding.file;
    });
    if (same == list.end()) {
      list.push_back(finding);
      continue;
    }
    const std::uint64_t times = same->times + finding.times;
    if (finding.span > same->span) *same = finding;
    same->times = times;
  }
  for (Finding& finding : list) {
    if (finding.is_remark() && finding.defect != Defect::equal_writes) {
      const bool is_race = finding.defect == Defect::block_race || finding.defect == Defect::race;
      finding.message += is_race ? ", in code of the toolkit, which may order them otherwise"
                                 : ", in code of the toolkit, which may make no use of it";
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Finding& a, const Finding& b) {
    return a.place.ptx_line < b.place.ptx_line;
  });
  return list;
}

std::uint64_t Findings::mistakes() const {
  std::uint64_t sum = 0;
  for (const Finding& finding : all_) sum += finding.is_remark() ? 0 : finding.times;
  return sum;
}

}  // namespace warpmeter::model::check
