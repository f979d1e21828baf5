// SPDX-License-Identifier: MIT
// run --continue: which run of the database goes on, and what it has already. A run is found by
// what its command line asks for, not by how that was typed: the program's path, -q or another
// order make no difference. A --continue alone goes on with the database's last run, whatever that
// measures.
#pragma once

#include "collector/cli/request/run_request.h"
#include "collector/run/selection.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// Sets request.continued_run; a --continue alone becomes the request of the last run. Says when
/// there is no such run, and a new one begins. Throws Error{usage} for a last run that another
/// command measured, Error{nothing} where there is none to take.
void find_continued(RunRequest& request);

/// Throws Error{usage} for a file of kernels that was changed since the run began: what is left
/// would be of other code than what is stored.
void check_files(const RunRequest& request, const run::Choice& choice);

/// The launches that the run has stored. `on_any_device`: whatever device it was measured on.
void read_finished(const RunRequest& request, bool on_any_device, run::Options& options);

/// Nothing is left of the run to measure; `options` says what it has.
bool has_come_to_its_end(const RunRequest& request, run::Options& options);

/// Takes the run over, for this process.
void take_up(const RunRequest& request, bool on_any_device, schema::Store& store,
             run::Options& options);

}  // namespace warpmeter::cli
