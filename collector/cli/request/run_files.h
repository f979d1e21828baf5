// SPDX-License-Identifier: MIT
// The files of `warpmeter run`: a family in YAML, or kernels in a .cu, .ptx or .cubin with what the
// command line says of one of them. Either becomes a family that the session measures as it does
// the catalogue's.
#pragma once

#include <string>
#include <vector>

#include "base/file_claims.h"
#include "collector/cli/request/kernel_words.h"
#include "collector/family/spec.h"

namespace warpmeter::cli {

/// As it was typed.
struct FilesRequest : KernelWords {
  std::vector<std::string> files;

  bool names_a_launch() const {
    return !kernel.empty() || !grid.empty() || !block.empty() || !arguments.empty() ||
           !settings.empty() || shared != 0;
  }
  bool names_a_compilation() const {
    return !includes.empty() || !defines.empty() || !standard.empty() || !compiler.empty() ||
           !cubin.empty();
  }
};

/// Takes the words that name files, by their suffix; they go from `words` to the result.
std::vector<std::string> take_files(std::vector<std::string>& words);

/// True if the files are to be listed, since nothing says what of them is to run.
bool is_listing(const FilesRequest& request);

/// The kernels of the files with their C++ signatures, each with a command to start from.
std::string listing(const FilesRequest& request);

/// The families that the files describe. `sizes`: values of -n, for a kernel of the command line.
/// Claims every file that is read. Throws Error{usage}, Error{file}.
std::vector<family::FamilySpec> specs_of(const FilesRequest& request,
                                         const std::vector<std::string>& sizes, FileClaims& files);

}  // namespace warpmeter::cli
