// SPDX-License-Identifier: MIT
#include "collector/runtime/check/refused_launches.h"

#include <fmt/format.h>

#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "collector/model/check/findings.h"

namespace warpmeter::runtime {

void find_refused_launches(Checks& checks, const model::Program& program,
                           const model::DeviceRuntime& runtime) {
  for (const auto& [place, refused] : runtime.refused()) {
    model::check::Finding finding = model::check::finding_at(program, place.instruction);
    const Dim3& block = refused.geometry.block;
    finding.times = refused.times;
    finding.message = fmt::format(
        "kernel '{}' launches '{}' with blocks of {} ({},{},{}) and {} of shared "
        "memory, which the device refuses (cudaErrorInvalidConfiguration), and does not ask",
        readable_name(program.kernel), readable_name(*refused.kernel),
        with_noun(block.count(), "thread"), block.x, block.y, block.z,
        with_noun(refused.geometry.dynamic_shared_bytes, "byte"));
    checks.launch_refused(program.kernel, finding);
  }
}

}  // namespace warpmeter::runtime
