// SPDX-License-Identifier: MIT
// The resources of a kernel's thread, as ptxas wrote it into the cubin: the section `.nv.info`,
// which the driver reads to launch a kernel, and the accesses of its code to local memory.
#pragma once

#include <string>
#include <string_view>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::sass {

/// The resources of the kernel `entry`. Unknown is what the cubin does not say.
Resources resources_of(const Elf& elf, std::string_view entry);

}  // namespace warpmeter::model::sass
