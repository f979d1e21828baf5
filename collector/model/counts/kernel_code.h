// SPDX-License-Identifier: MIT
// The machine code of a program as a record for the database.
#pragma once

#include <string>

#include "collector/model/machine/program.h"
#include "schema/records.h"

namespace warpmeter::model {

/// Why not all of a program's resources are known; empty when they are.
std::string why_not_known(const Program& program);

/// The size of a program's machine code, and the registers that it spills: the bytes that ptxas -v
/// prints.
schema::KernelCode code_of(const Program& program);

}  // namespace warpmeter::model
