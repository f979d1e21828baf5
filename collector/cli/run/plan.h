// SPDX-License-Identifier: MIT
// The plan of a run: the families of a request with their kernels compiled, the backends, and what
// of the one is run on the other.
#pragma once

#include <memory>
#include <vector>

#include "collector/cli/backends.h"
#include "collector/cli/request/run_request.h"
#include "collector/family/family.h"
#include "collector/run/selection.h"
#include "reports/table/table.h"

namespace warpmeter::cli {

/// The families to choose from: the catalogue's, or those of the files.
struct Families {
  std::vector<std::unique_ptr<family::FileFamily>> of_files;
  std::vector<const kernels::Family*> all;
};

/// Compiles the files' kernels for the device, with a progress bar.
Families families_of(const RunRequest& request, const std::vector<family::FamilySpec>& specs,
                     const schema::Device& device);

/// Tells the backends about files that are machine code alone.
void say_machine_code(const std::vector<family::FamilySpec>& specs, BackendRequest& backend);

/// Refuses requests that machine code cannot meet whatever the device: throws as families_of and
/// run::choose.
void check_without_device(const RunRequest& request, const std::vector<family::FamilySpec>& specs,
                          const std::vector<std::int64_t>& sizes);

/// Throws Error{no_hardware} where a file is machine code that a backend's device does not run.
void check_machine_code(const std::vector<family::FamilySpec>& specs, const Backends& backends);

/// One launch as --launches writes it: "1024 transpose/tiled", "- smem_square/pad" where the family
/// has no sizes.
std::string launch_line(const kernels::Family& family, const kernels::Variant& variant,
                        std::int64_t size);

/// --launches: of the choice those that the file names, one a line. Throws Error{usage} for one
/// that is not among them, Error{file}.
run::Choice only_launches(const run::Choice& choice, const std::string& file);

/// --dry-run: every launch, and nothing done.
reports::Table plan_table(const run::Choice& choice);

}  // namespace warpmeter::cli
