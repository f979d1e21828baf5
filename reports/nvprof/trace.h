// SPDX-License-Identifier: MIT
// nvprof's traces: each kernel, copy, set and call, and each page fault and migration of managed
// memory, in the order of their starts. They are read from the view `activities`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "reports/nvprof/summary.h"
#include "schema/store.h"

namespace warpmeter::reports::nvprof {

struct TraceRequest {
  std::int64_t run_id = 0, process_id = 0;
  bool gpu = false, api = false;
  std::string apis = "all";  ///< "runtime", "driver"
  bool demangles = true;
  Style style;
  ResourceNames resource_names;
};

using Sink = std::function<void(std::string_view)>;

/// A trace may have a million lines, so they go to `sink` as they come.
void print_trace(const schema::Reader& reader, const TraceRequest& request, const Sink& sink);

/// True of a call that --profile-api-trace leaves in.
bool is_of_api(std::string_view function, std::string_view apis);

}  // namespace warpmeter::reports::nvprof
