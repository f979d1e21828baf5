#include "collector/model/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "collector/model/worker.h"

namespace warpmeter::model::check {
namespace {

std::uint32_t lanes_below(std::uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

bool is_shuffle(Code code) {
  return code == Code::shfl_up || code == Code::shfl_down || code == Code::shfl_bfly ||
         code == Code::shfl_idx;
}

/// What an instruction that makes lanes wait for each other is turned into, besides moves.
bool is_meeting(Code code) {
  return code == Code::nothing || (code >= Code::shfl_up && code <= Code::redux_xor);
}

/// Jumps and the like, which a warp executes on its way past what it leaves out.
bool does_nothing(Code code) {
  return code == Code::leave || code == Code::join || code == Code::branch ||
         code == Code::branch_if || code == Code::branch_out || code == Code::gather ||
         code == Code::nothing;
}

const std::uint32_t* row(const Warp& warp, std::uint16_t unit) {
  return reinterpret_cast<const std::uint32_t*>(warp.registers + unit * row_unit_bytes);
}

/// The lane that a shuffle reads, as execute/exchange.inc finds it; the lane itself when none.
unsigned source_lane(Code code, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
  const std::uint32_t bound = (lane & segment) | (clamp & ~segment);
  if (code == Code::shfl_up) {
    const auto from = static_cast<std::int32_t>(lane - by);
    return from >= static_cast<std::int32_t>(bound) ? static_cast<unsigned>(from) : lane;
  }
  const std::uint32_t from = code == Code::shfl_down   ? lane + by
                             : code == Code::shfl_bfly ? lane ^ by
                                                       : (lane & segment) | (by & ~segment);
  return from <= bound ? from & 31 : lane;
}

std::size_t shared_bytes(const Program& program, const kernels::Geometry& geometry) {
  return geometry.dynamic_shared_bytes == 0
             ? program.static_shared_bytes
             : std::size_t{program.dynamic_shared_offset} + geometry.dynamic_shared_bytes;
}

}  // namespace

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
    case Defect::block_race:
      return "race between blocks";
    case Defect::barrier:
      return "divergent barrier";
    case Defect::absent_lanes:
      return "absent lanes";
    case Defect::trap:
      break;
  }
  return "trap";
}

Checker::Checker(const Program& program, const kernels::Geometry& geometry, DeviceMemory& memory,
                 WrittenMemory& written)
    : program_(program),
      geometry_(geometry),
      memory_(memory),
      written_(written),
      members_(program.places.size() + 1, no_operand),  // the end of a body is one more instruction
      in_structures_(sites_in_structures(program)),
      passage_(program),
      races_(shared_bytes(program, geometry),
             static_cast<std::uint32_t>((geometry.block.count() + warp_lanes - 1) / warp_lanes),
             program.has_fences),
      copies_(program, shared_bytes(program, geometry), geometry.block.count()),
      blocks_may_race_(!program.blocks_communicate && !program.has_fences) {
  for (const SyncInfo& sync : program.syncs) members_.at(sync.instruction) = sync.members;
  const std::uint64_t warps = (geometry.block.count() + warp_lanes - 1) / warp_lanes;
  last_.resize(warps);
  local_written_.resize(std::size_t{program.local_bytes} * warps * warp_lanes);
}

void Checker::start_block(std::uint64_t block) {
  block_ = block;
  races_.start_block();
  copies_.start_block();
  std::fill(last_.begin(), last_.end(), 0);
  std::fill(local_written_.begin(), local_written_.end(), false);
}

std::string Checker::thread_name(std::uint32_t thread) const {
  const kernels::Dim3& size = geometry_.block;
  return fmt::format("thread ({},{},{})", thread % size.x, thread / size.x % size.y,
                     thread / size.x / size.y);
}

std::string Checker::block_name(std::uint64_t block) const {
  const kernels::Dim3& grid = geometry_.grid;
  return fmt::format("block ({},{},{})", block % grid.x, block / grid.x % grid.y,
                     block / grid.x / grid.y);
}

std::string Checker::line_of(std::uint32_t instruction) const {
  const Place& place = program_.places[instruction];
  return place.line > 0 ? fmt::format("line {}", place.line)
                        : fmt::format("line {} of the PTX", place.ptx_line);
}

void Checker::add(Defect defect, std::uint32_t instruction, const std::string& what,
                  std::uint32_t thread) {
  Finding& finding = findings_[{defect, instruction}];
  if (finding.times++ > 0) return;
  finding.defect = defect;
  finding.place = program_.places[instruction];
  if (static_cast<std::size_t>(finding.place.file) < program_.files.size()) {
    finding.file = program_.files[static_cast<std::size_t>(finding.place.file)];
  }
  finding.message = fmt::format("{} of {} {}", thread_name(thread), block_name(block_), what);
}

void Checker::observe(const Warp& warp, const Operation* op, std::uint32_t mask) {
  if (!does_nothing(op->code)) {
    last_[warp.index] = static_cast<std::uint32_t>(op - warp.code);
  }
  if (members_[op->instruction] != no_operand && is_meeting(op->code)) check_mask(warp, op, mask);
  const CopyInfo* const copy = program_.copies.empty() ? nullptr : copies_.find(op->instruction);
  if (copy != nullptr && copy->kind != CopyInfo::Kind::start) advance_copies(warp, *copy, mask);
}

void Checker::check_mask(const Warp& warp, const Operation* op, std::uint32_t mask) {
  const std::uint32_t* members = row(warp, members_[op->instruction]);
  const auto threads = static_cast<std::uint32_t>(geometry_.block.count());
  const std::uint32_t existing = lanes_below(threads - warp.index * warp_lanes);
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t named = members[first];
  const bool exchanges = op->code != Code::nothing;
  // Lanes that were never started are named by every full mask; those that have ended are not
  // waited for, but have nothing to give.
  const std::uint32_t absent = named & ~mask & (exchanges ? existing : warp.alive);
  const std::uint32_t not_named = mask & ~named;
  if (absent != 0) {
    add(Defect::absent_lanes, op->instruction,
        fmt::format("names lanes {:#010x} in its mask {:#010x}, but only {:#010x} are here", absent,
                    named, mask),
        warp.index * warp_lanes + first);
  } else if (not_named != 0) {
    bool excludes_itself = false;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      excludes_itself |= (members[lane] >> lane & 1) == 0;
    }
    if (excludes_itself) {
      add(Defect::absent_lanes, op->instruction,
          fmt::format("has the mask {:#010x}, which leaves out lanes that execute it ({:#010x})",
                      named, mask),
          warp.index * warp_lanes + first);
    }
  } else if (is_shuffle(op->code)) {
    check_shuffle(warp, op, mask);
  }
  std::uint32_t left = mask;
  while (left != 0) {  // lanes with the same mask meet
    const std::uint32_t group = members[std::countr_zero(left)];
    std::uint32_t together = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (members[lane] == group) together |= 1u << lane;
    }
    races_.meet(warp.index, together);
    left &= ~together;
  }
}

void Checker::check_shuffle(const Warp& warp, const Operation* op, std::uint32_t mask) {
  const std::uint32_t *b = row(warp, op->b), *c = row(warp, op->c);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned from = source_lane(op->code, lane, b[lane], c[lane]);
    if ((mask >> from & 1) != 0) continue;
    add(Defect::absent_lanes, op->instruction,
        fmt::format("reads from lane {}, which is not here ({:#010x} are)", from, mask),
        warp.index * warp_lanes + lane);
    return;
  }
}

void Checker::arrive(std::uint32_t barrier, std::uint32_t warp) { races_.arrive(barrier, warp); }

/// __syncthreads() has to be the same one for all threads, and none may have gone past it.
void Checker::release(const Meeting& meeting) {
  races_.release(meeting.barrier, meeting.waiting);
  if (!meeting.is_for_all) return;
  const auto first_warp = static_cast<std::uint32_t>(std::countr_zero(meeting.waiting));
  const std::uint32_t first = meeting.operations[first_warp];
  const std::uint32_t instruction = program_.operations[first].instruction;
  for (std::uint32_t rest = meeting.waiting; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (meeting.operations[warp] == first) continue;
    const std::uint32_t other = program_.operations[meeting.operations[warp]].instruction;
    add(Defect::barrier, instruction,
        fmt::format("waits at this barrier while {} waits at the one on {}; let all threads of a "
                    "block come to the same __syncthreads()",
                    thread_name(warp * warp_lanes), line_of(other)),
        first_warp * warp_lanes);
    break;
  }
  for (std::uint32_t rest = meeting.finished; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (!passage_.is_behind(last_[warp], first)) continue;
    add(Defect::barrier, instruction,
        "went past this barrier, at which other threads of its block wait; let all of them come to "
        "it",
        warp * warp_lanes);
  }
}

void Checker::stopped(TrapKind kind, std::uint32_t instruction, const std::string& message) {
  const bool is_barrier =
      kind == TrapKind::divergent_barrier || kind == TrapKind::barrier_not_reached;
  const Defect defect = is_barrier ? Defect::barrier : Defect::trap;
  add(defect, instruction, "", 0);
  findings_[{defect, instruction}].message = message;
}

std::vector<Finding> Checker::findings() const {
  std::vector<Finding> all;
  for (const auto& [key, finding] : findings_) {
    // The compiler repeats lines, in loops that it unrolls for example.
    const auto same = std::find_if(all.begin(), all.end(), [&, &f = finding](const Finding& other) {
      return other.defect == f.defect && f.place.line > 0 && other.place.line == f.place.line &&
             other.file == f.file;
    });
    if (same == all.end()) {
      all.push_back(finding);
    } else {
      same->times += finding.times;
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    return a.place.ptx_line < b.place.ptx_line;
  });
  return all;
}

}  // namespace warpmeter::model::check
