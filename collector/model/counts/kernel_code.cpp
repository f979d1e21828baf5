// SPDX-License-Identifier: MIT
// A frame begins with the arrays of the kernel, if ptxas has kept them in memory; spilled registers
// lie behind them, at fixed places. resources_test.cpp holds that to ptxas -v for a kernel that
// spills, one with an array besides, and one with neither; once, on 2026-11-28, 5,300 kernels for
// sm_90 agreed. Kernels with alloca get no figure, and stores of fetched texels that nothing reads
// are left out.
#include "collector/model/counts/kernel_code.h"

#include <algorithm>
#include <cstdint>

namespace warpmeter::model {
namespace {

class Spills {
 public:
  explicit Spills(const Program& program)
      : resources_(program.resources), has_textures_(!program.texture_accesses.empty()) {
    const auto& accesses = resources_.local_accesses;
    const bool has_arrays = resources_.takes_address_of_frame ||
                            std::any_of(accesses.begin(), accesses.end(),
                                        [](const LocalAccess& a) { return !a.is_of_frame; });
    begin_ = has_arrays ? static_cast<std::int32_t>(program.array_bytes) : 0;
  }

  std::int64_t bytes(bool of_stores) const {
    std::int64_t sum = 0;
    for (const LocalAccess& access : resources_.local_accesses) {
      const bool counts = access.is_store == of_stores && is_behind_arrays(access);
      if (counts && (!of_stores || !has_textures_ || is_read(access))) sum += access.width;
    }
    return sum;
  }

 private:
  bool is_behind_arrays(const LocalAccess& access) const {
    return access.is_of_frame && access.place >= begin_;
  }
  /// Fetches of textures leave results in the frame that nothing reads: they are no spills.
  bool is_read(const LocalAccess& store) const {
    return std::any_of(resources_.local_accesses.begin(), resources_.local_accesses.end(),
                       [&](const LocalAccess& a) {
                         return !a.is_store && a.is_of_frame &&
                                a.place < store.place + store.width &&
                                store.place < a.place + a.width;
                       });
  }

  const Resources& resources_;
  const bool has_textures_;
  std::int32_t begin_ = 0;
};

}  // namespace

schema::KernelCode code_of(const Program& program) {
  const Resources& resources = program.resources;
  schema::KernelCode code;
  code.bytes = resources.code_bytes;
  if (!code.bytes || !resources.local_bytes) return code;
  if (resources.local_bytes == 0) {
    code.spill_load_bytes = code.spill_store_bytes = 0;
  } else if (program.takes_stack) {
    code.spills_reason =
        "the kernel takes memory of its stack (alloca), which moves what it spills";
  } else if (program.reaches_functions && !resources.holds_functions) {
    code.spills_reason = "functions that the kernel calls may spill: their code lies elsewhere";
  } else {
    const Spills spills(program);
    code.spill_load_bytes = spills.bytes(false);
    code.spill_store_bytes = spills.bytes(true);
    const bool has_more = program.array_bytes > 0 || program.reaches_functions ||
                          resources.takes_address_of_frame || !program.texture_accesses.empty();
    if (has_more) {
      code.spills_reason = "told from other local memory by its place in the frame; ptxas -v knows";
    }
  }
  return code;
}

std::string why_not_known(const Program& program) {
  const Resources& known = program.resources;
  if (known.registers && known.local_bytes && known.code_bytes) return "";
  if (program.is_audited()) return "the machine code does not say it";
  const std::size_t colon = program.why_unaudited.find(": ");  // "counted at PTX level: …"
  return program.why_unaudited.substr(colon == std::string::npos ? 0 : colon + 2);
}

}  // namespace warpmeter::model
