// SPDX-License-Identifier: MIT
// The CUDA toolkit of this machine, where there is one: its folders, its programs, and how those
// are run. Nothing of it is needed to execute PTX.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/named_files.h"

namespace warpmeter::model {

/// Folders that may hold a toolkit, best first: $CUDA_HOME, $CUDA_PATH, that of the nvcc on $PATH,
/// /usr/local/cuda, others of /usr/local, and the one that this program was built with. Only those
/// that exist.
std::vector<std::filesystem::path> toolkit_folders();

/// A program of the toolkit: "nvcc", "ptxas". Also found on $PATH alone.
std::optional<std::filesystem::path> toolkit_program(const std::string& name);

/// Folders to include CUDA's headers from; empty without a toolkit.
std::vector<std::filesystem::path> toolkit_includes();

/// The sources whose lines may be shown for the code of a file: those below its folder, the working
/// folder, the person's folders of headers, the toolkit's and the system's.
NamedFiles allowed_sources(const std::string& file, std::span<const std::string> folders);

/// The name of a file as a word of a tool. A tool takes a word that begins with a dash for an
/// option, and reads options from the file FILE where a word is @FILE: a relative name of that kind
/// gets "./".
std::string operand_of(const std::string& path);

struct ToolOutcome {
  int exit_code = -1;  ///< -1: it could not be started, or a signal ended it
  std::string output;  ///< standard output and error together, at most 1 MiB
};

/// Runs a program to its end, without a shell; its standard input is empty. Throws Interrupted
/// where a signal has asked this program to end. Its temporary files are in `temporary` where that
/// is given, since a tool that is ended leaves them.
ToolOutcome run_tool(const std::vector<std::string>& words, const std::string& temporary = "");
/// True if this thread is starting one just now: what it starts is none of a program's that this
/// code has been loaded into.
bool is_starting_tool();

}  // namespace warpmeter::model
