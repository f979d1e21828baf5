// SPDX-License-Identifier: MIT
#include "reports/cards.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpmeter::reports {
namespace {

// CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", for fp32 to
// special; of its fp16 results an instruction gives two, and counters count instructions.
// The whitepapers of V100, T4, A100, GA102, AD102 and H100 for the others: four schedulers, each an
// instruction a cycle; 32 or 16 load/store units; 32 banks of shared memory; 128 or 64 bytes of L1
// a cycle.
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

// The tensor cores' peaks without sparsity, from the datasheets of H200, H100, A100, A10, L40S, L4,
// V100 and T4, and from the whitepapers of GA102 and AD102 for GeForce: half precision is their
// FP16 with FP16 sums, and FP8 likewise; with FP32 sums they have half of it.
//                                    fp64,   tf32,   bf16,   fp16,    fp8,   int8,   int4
constexpr TensorPeaks h100_sxm     = {66.9,  494.7,  989.4,  989.4, 1978.9, 1978.9};
constexpr TensorPeaks h100_pcie    = {51.2,  378,    756,    756,   1513,   1513};
constexpr TensorPeaks a100         = {19.5,  156,    312,    312,      0,    624,   1248};
constexpr TensorPeaks a10          = { 0,     62.5,  125,    125,      0,    250,    500};
constexpr TensorPeaks rtx_3090     = { 0,     35.6,   71,    142,      0,    284,    568};
constexpr TensorPeaks l40s         = { 0,    183,    362.05, 362.05, 733,    733,    733};
constexpr TensorPeaks l4           = { 0,     60,    121,    121,    242.5,  242.5};
constexpr TensorPeaks rtx_4090     = { 0,     82.6,  165.2,  330.3,  660.6,  660.6, 1321.2};
constexpr TensorPeaks v100         = { 0,      0,      0,    125};
constexpr TensorPeaks t4           = { 0,      0,      0,     65,      0,    130,    260};

// NVIDIA's datasheets and architecture whitepapers of each card. The first card of a capability stands for it.
constexpr CardPeaks cards[] = {
    // name, capability, multiprocessors, boost clock (GHz), memory (GB/s), tensor cores
    {"H200",                  90, 132, 1.980, 4800, h100_sxm},
    {"H100 PCIe",             90, 114, 1.755, 2000, h100_pcie},
    {"H100 80GB HBM3",        90, 132, 1.980, 3350, h100_sxm},
    {"A100-SXM4-80GB",        80, 108, 1.410, 2039, a100},
    {"A100-SXM4-40GB",        80, 108, 1.410, 1555, a100},
    {"A10",                   86,  72, 1.695,  600, a10},
    {"GeForce RTX 3090",      86,  82, 1.695,  936, rtx_3090},
    {"L40S",                  89, 142, 2.520,  864, l40s},
    {"L4",                    89,  58, 2.040,  300, l4},
    {"GeForce RTX 4090",      89, 128, 2.520, 1008, rtx_4090},
    {"V100-SXM2",             70,  80, 1.530,  900, v100},
    {"T4",                    75,  40, 1.590,  300, t4},
};
// clang-format on

std::optional<double> tensor_peak(const TensorPeaks& tensor, std::string_view name) {
  constexpr std::pair<std::string_view, double TensorPeaks::*> peaks[] = {
      {"tensor_fp64", &TensorPeaks::fp64}, {"tensor_tf32", &TensorPeaks::tf32},
      {"tensor_bf16", &TensorPeaks::bf16}, {"tensor_fp16", &TensorPeaks::fp16},
      {"tensor_fp8", &TensorPeaks::fp8},   {"tensor_int8", &TensorPeaks::int8},
      {"tensor_int4", &TensorPeaks::int4}};
  for (const auto& [known, peak] : peaks) {
    if (known == name && tensor.*peak > 0) return tensor.*peak;
  }
  return std::nullopt;
}

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
  constexpr double sector_bytes = 32, wavefront_bytes = 128, lanes = 32;
  const double cycles_per_ns = card.multiprocessors * card.clock_ghz;
  if (name.starts_with("device_memory_")) return card.memory_bytes_per_ns;
  if (name == "l1_read") return most.l1_sectors * sector_bytes * cycles_per_ns;
  if (name == "shared_read") return most.shared_wavefronts * wavefront_bytes * cycles_per_ns;
  if (name == "fp64") return card.peak_tflops(most.fp64);
  if (name == "fp32") return card.peak_tflops(most.fp32);
  if (name == "fp16") return 2 * card.peak_tflops(most.fp16);  // an instruction is on a pair
  if (name == "issue") return lanes * most.warp_instructions * cycles_per_ns / 1000;
  return tensor_peak(card.tensor, name);
}

const CardPeaks* card_of(int compute_capability) {
  const auto* found = std::find_if(std::begin(cards), std::end(cards), [&](const CardPeaks& c) {
    return c.compute_capability == compute_capability;
  });
  return found == std::end(cards) ? nullptr : found;
}

}  // namespace warpmeter::reports
