// SPDX-License-Identifier: MIT
#include "collector/cli/request/shapes.h"

#include <fmt/format.h>

#include "base/error.h"
#include "collector/model/explain/explain.h"

namespace warpmeter::cli {

void check_shapes(std::span<const std::string> shapes,
                  const std::map<std::string, std::string>& shaped, std::int64_t run_id) {
  for (const std::string& text : shapes) {
    const std::string array = model::explain::parse_shape(text).array;
    const auto known = shaped.find(array);
    const std::string why =
        known != shaped.end()
            ? known->second
            : fmt::format(
                  "--shape names '{}', which is no array in shared memory that a kernel of "
                  "this run accesses",
                  array);
    if (why.empty()) continue;
    throw Error(ExitCode::usage, fmt::format("{}; run {} is stored without that", why, run_id));
  }
}

}  // namespace warpmeter::cli
