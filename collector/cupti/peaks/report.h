// SPDX-License-Identifier: MIT
// The report of a peak's kernel, which the host reads.
#pragma once

struct Report {
  unsigned long long work;                 ///< bytes or operations of a block
  unsigned long long cycles, nanoseconds;  ///< clock_probe alone reports it
};
