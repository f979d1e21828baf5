// SPDX-License-Identifier: MIT
// The findings of --check as SARIF: a rule for each kind of mistake, a result for each finding. A
// mistake is an error, a remark is a note.
#pragma once

#include <span>

#include "collector/cli/tables/findings_tables.h"
#include "reports/sarif.h"

namespace warpmeter::cli {

/// The rules that are looked for are among it also where nothing was found: those of kernels, and
/// with is_program those of host code.
reports::SarifLog findings_sarif(std::span<const ShownFinding> findings, bool is_program);

}  // namespace warpmeter::cli
