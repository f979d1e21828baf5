// SPDX-License-Identifier: MIT
// A peak's kernel reports its work to the host.
#pragma once

#include "collector/cupti/peaks/report.h"

__device__ inline void report_work(Report* report, unsigned long long work_of_block) {
  if (blockIdx.x == 0 && threadIdx.x == 0) report->work = work_of_block;
}
