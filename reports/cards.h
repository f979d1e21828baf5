// SPDX-License-Identifier: MIT
// The peaks that NVIDIA's documents give: rates of a multiprocessor by compute capability, and what
// a card has of multiprocessors, clock and memory bandwidth.
#pragma once

#include <optional>
#include <string_view>

namespace warpmeter::reports {

/// The most of each that a multiprocessor does in a cycle.
struct Rates {
  int compute_capability = 0;  ///< 90 is 9.0
  double warp_instructions = 0;
  double fp32 = 0, fp64 = 0;  ///< additions, products or fused multiply-adds, by thread
  double fp16 = 0;            ///< the same; one on a pair of values is one, as counters have it
  double special = 0;         ///< special functions of single precision, by thread
  double load_store_requests = 0;  ///< by warp
  double shared_wavefronts = 0;
  double l1_sectors = 0;  ///< 32 bytes each
};

/// Dense products in units of 10^12 operations a second, by type; 0: the card has no such cores, or
/// no datasheet says it.
struct TensorPeaks {
  double fp64 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, int8 = 0, int4 = 0;
};

struct CardPeaks {
  std::string_view name;
  int compute_capability = 0;
  double multiprocessors = 0;
  double clock_ghz = 0;  ///< the boost clock, which the datasheet's peaks are of
  double memory_bytes_per_ns = 0;
  TensorPeaks tensor;

  /// Operations a second in units of 10^12; a fused multiply-add is two.
  double peak_tflops(double per_cycle) const {
    return 2 * per_cycle * multiprocessors * clock_ghz / 1000;
  }
};

/// nullptr for a compute capability that the table lacks.
const Rates* rates_of(int compute_capability);

/// The card that `name` names ("NVIDIA H200"); nullptr for one that the table lacks.
const CardPeaks* card_named(std::string_view name);

/// A peak of the view `peaks` as documents have it, in its unit, and "issue", the instructions of
/// all threads, in 10^12 a second. Nothing for L2, whose bandwidth NVIDIA does not publish, for
/// types that the card's tensor cores lack, and for tensor_fp4 and tensor_int1, which are not on
/// the list.
std::optional<double> documented_peak(const CardPeaks& card, const Rates& most,
                                      std::string_view name);

/// The card that stands for a compute capability where there is none, on the model.
const CardPeaks* card_of(int compute_capability);

}  // namespace warpmeter::reports
