// SPDX-License-Identifier: MIT
// The names of contexts and streams in a file of nvprof: those of --context-name, and those that
// the program gave by NVTX.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace warpmeter::schema {

struct NvprofNames {
  std::map<std::int64_t, std::string> contexts;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> streams;  ///< by context and number
};

/// Throws Error{file} as import_nvprof_file() does. Names that are no text are left out.
NvprofNames read_nvprof_names(const std::string& path);

}  // namespace warpmeter::schema
