// SPDX-License-Identifier: MIT
// The report of a peak's kernel to the host.
#pragma once

/// The fields as peaks.cpp reads them.
struct Report {
  unsigned long long work;                 ///< bytes or operations of a block
  unsigned long long cycles, nanoseconds;  ///< of clock_probe alone
};

__device__ inline void report_work(Report* report, unsigned long long work_of_block) {
  if (blockIdx.x == 0 && threadIdx.x == 0) report->work = work_of_block;
}
