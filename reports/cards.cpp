// SPDX-License-Identifier: MIT
#include "reports/cards.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::reports {
namespace {

// CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", for fp32 to special;
// of its fp16 results an instruction gives two, and counters count instructions. The whitepapers of
// V100, T4, A100, GA102, AD102 and H100 for the others: four schedulers, each an instruction a
// cycle; 32 or 16 load/store units; 32 banks of shared memory; 128 or 64 bytes of L1 a cycle.
// clang-format off
constexpr Rates rates[] = {
    // capability, instructions, fp32, fp64, fp16, special, load/store, shared, L1 sectors
    {70, 4,  64, 32,  64, 16, 1,   1, 4},
    {75, 4,  64,  2,  64, 16, 0.5, 1, 2},
    {80, 4,  64, 32, 128, 16, 1,   1, 4},
    {86, 4, 128,  2,  64, 16, 0.5, 1, 4},
    {89, 4, 128,  2,  64, 16, 0.5, 1, 4},
    {90, 4, 128, 64, 128, 16, 1,   1, 4},
};

// NVIDIA's datasheets and architecture whitepapers of each card. The first card of a capability stands for it.
constexpr CardPeaks cards[] = {
    // name, capability, multiprocessors, boost clock (GHz), memory (GB/s)
    {"H200",                  90, 132, 1.980, 4800},
    {"H100 PCIe",             90, 114, 1.755, 2000},
    {"H100 80GB HBM3",        90, 132, 1.980, 3350},
    {"A100-SXM4-80GB",        80, 108, 1.410, 2039},
    {"A100-SXM4-40GB",        80, 108, 1.410, 1555},
    {"A10",                   86,  72, 1.695,  600},
    {"GeForce RTX 3090",      86,  82, 1.695,  936},
    {"L40S",                  89, 142, 2.520,  864},
    {"L4",                    89,  58, 2.040,  300},
    {"GeForce RTX 4090",      89, 128, 2.520, 1008},
    {"V100-SXM2",             70,  80, 1.530,  900},
    {"T4",                    75,  40, 1.590,  300},
};
// clang-format on

}  // namespace

const Rates* rates_of(int compute_capability) {
  const auto* found = std::find_if(std::begin(rates), std::end(rates), [&](const Rates& r) {
    return r.compute_capability == compute_capability;
  });
  return found == std::end(rates) ? nullptr : found;
}

const CardPeaks* card_named(std::string_view name) {
  // "NVIDIA A10" is no "NVIDIA A100": the name ends, or has more words.
  const auto is_named = [&](const CardPeaks& card) {
    const std::size_t at = name.find(card.name);
    if (at == std::string_view::npos || (at > 0 && name[at - 1] != ' ')) return false;
    const std::string_view rest = name.substr(at + card.name.size());
    return rest.empty() || rest.front() == ' ' || rest.front() == '-';
  };
  const auto* found = std::find_if(std::begin(cards), std::end(cards), is_named);
  return found == std::end(cards) ? nullptr : found;
}

std::optional<double> documented_peak(const CardPeaks& card, const Rates& most,
                                      std::string_view name) {
  constexpr double sector_bytes = 32, wavefront_bytes = 128;
  const double cycles_per_ns = card.multiprocessors * card.clock_ghz;
  if (name.starts_with("device_memory_")) return card.memory_bytes_per_ns;
  if (name == "l1_read") return most.l1_sectors * sector_bytes * cycles_per_ns;
  if (name == "shared_read") return most.shared_wavefronts * wavefront_bytes * cycles_per_ns;
  if (name == "fp64") return card.peak_tflops(most.fp64);
  if (name == "fp32") return card.peak_tflops(most.fp32);
  if (name == "fp16") return 2 * card.peak_tflops(most.fp16);  // an instruction is on a pair
  return std::nullopt;
}

const CardPeaks* card_of(int compute_capability) {
  const auto* found = std::find_if(std::begin(cards), std::end(cards), [&](const CardPeaks& c) {
    return c.compute_capability == compute_capability;
  });
  return found == std::end(cards) ? nullptr : found;
}

}  // namespace warpmeter::reports
