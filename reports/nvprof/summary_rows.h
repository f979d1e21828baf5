// SPDX-License-Identifier: MIT
// The rows of nvprof's summary, from the view `activities`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/nvprof/summary.h"
#include "schema/store.h"

namespace warpmeter::reports::nvprof {

struct SummaryRequest {
  std::int64_t run_id = 0, process_id = 0;
  std::string apis = "all";  ///< "runtime", "driver"
  bool demangles = true;
};

/// The work of GPUs: of one device where `device` is not empty ("NVIDIA H200 (0)").
SummaryPart gpu_rows(const schema::Reader& reader, const SummaryRequest& request,
                     const std::string& device = "");
SummaryPart call_rows(const schema::Reader& reader, const SummaryRequest& request);

/// The devices of the process's activities: "NVIDIA H200 (0)".
std::vector<std::string> devices_of(const schema::Reader& reader, const SummaryRequest& request);

}  // namespace warpmeter::reports::nvprof
