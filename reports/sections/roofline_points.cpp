// SPDX-License-Identifier: MIT
#include "reports/sections/roofline_points.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace warpmeter::reports::sections {
namespace {

constexpr double sector_bytes = 32;

constexpr OperationKind floating_kinds[] = {
    {"FP64", "flop_count_dp", "fp64"},
    {"FP32", "flop_count_sp", "fp32"},
    {"FP16 (a pair as one)", "flop_count_hp", "fp16", 0.5},
    {"FP64 on tensor cores", "tensor_ops_fp64", "tensor_fp64"},
    {"TF32 on tensor cores", "tensor_ops_tf32", "tensor_tf32"},
    {"BF16 on tensor cores", "tensor_ops_bf16", "tensor_bf16"},
    {"FP16 on tensor cores", "tensor_ops_fp16", "tensor_fp16"},
    {"FP8 on tensor cores", "tensor_ops_fp8", "tensor_fp8"},
    {"FP4 on tensor cores", "tensor_ops_fp4", "tensor_fp4"},
};
constexpr OperationKind tensor_integer_kinds[] = {
    {"INT8 on tensor cores", "tensor_ops_int8", "tensor_int8", 1, false},
    {"INT4 on tensor cores", "tensor_ops_int4", "tensor_int4", 1, false},
    {"INT1 on tensor cores", "tensor_ops_int1", "tensor_int1", 1, false},
};
/// Every kernel computes addresses: it stands only where there is no other kind. Additions and
/// products have pipes of their own, so only the issue slots limit their sum.
constexpr OperationKind integers = {"integers", "inst_integer", "issue", 1, false, "issue slots"};

bool is_of_tensor_cores(const OperationKind& kind) {
  return std::string_view(kind.counter).starts_with("tensor_");
}

Sum in_bytes(Sum sectors) {
  sectors.value *= sector_bytes;
  return sectors;
}

Sum l1_bytes(const Subject& subject) {
  Sum global = sum_of(subject, {"global_bytes_moved"});
  const Sum others =
      in_bytes(sum_of(subject, {"local_load_sectors", "local_store_sectors", "texture_load_sectors",
                                "surface_load_sectors", "surface_store_sectors"}));
  if (!others.missing.empty()) return others;
  global.value += others.value;
  global.mark = std::max(global.mark, others.mark);
  return global;
}

Sum l2_bytes(const Subject& subject) {
  return in_bytes(sum_of(subject, {"l2_read_sectors", "l2_write_sectors", "l2_atomic_sectors",
                                   "l2_reduction_sectors"}));
}

/// The memories whose bytes are known and not 0.
std::vector<Traffic> traffic_of(const Limits& limits) {
  std::vector<Traffic> all;
  const auto add = [&](Memory memory, Sum bytes, bool is_least = false) {
    const bool is_known = bytes.missing.empty() && bytes.value > 0;
    if (is_known) all.push_back({memory, std::move(bytes), is_least});
  };
  add(Memory::l1, l1_bytes(*limits.subject));
  add(Memory::l2, l2_bytes(*limits.subject));
  Sum device = sum_of(*limits.subject, {"dram_read_bytes", "dram_write_bytes"});
  const bool is_least = !device.missing.empty();
  if (is_least && limits.facts->useful_bytes) device = {*limits.facts->useful_bytes, "", ""};
  add(Memory::device, std::move(device), is_least);
  return all;
}

/// 10^12 bytes a second.
Both<double> bandwidth_of(Memory memory, const LaunchFacts& facts) {
  static const std::array<std::vector<const char*>, 3> names = {
      {{"l1_read"}, {"l2_read"}, {"device_memory_read", "device_memory_copy"}}};
  Both<double> both;
  for (const char* name : names[static_cast<std::size_t>(memory)]) {
    if (facts.card != nullptr) {
      if (const auto peak = documented_peak(*facts.card, *facts.rates, name)) {
        both.documented = *peak / 1000;
      }
    }
    if (const auto found = facts.peaks->find(name); found != facts.peaks->end()) {
      both.measured = std::max(both.measured.value_or(0), found->second / 1000);
    }
  }
  return both;
}

Both<double> peak_of(const OperationKind& kind, const LaunchFacts& facts) {
  Both<double> both;
  if (facts.card != nullptr) {
    if (const auto peak = documented_peak(*facts.card, *facts.rates, kind.peak)) {
      both.documented = *peak * kind.share;
    }
  }
  if (const auto found = facts.peaks->find(kind.peak); found != facts.peaks->end()) {
    both.measured = found->second * kind.share;
  }
  return both;
}

std::optional<Roof> roof_of(std::optional<double> peak, std::optional<double> bandwidth) {
  return peak && bandwidth ? std::optional(Roof{*peak, *bandwidth}) : std::nullopt;
}

std::optional<double> achieved_of(const Limits& limits, double amount) {
  const auto duration = limits.subject->figure("duration").value;
  return duration && *duration > 0 ? std::optional(amount / *duration / 1000) : std::nullopt;
}

/// True if the kind was counted; `operations` then has how many.
bool has_count(const Limits& limits, const OperationKind& kind, Sum& operations) {
  operations = sum_of(*limits.subject, {kind.counter});
  return operations.missing.empty();
}

void add_points(std::vector<RooflinePoint>& points, const Limits& limits, const OperationKind& kind,
                const Sum& operations, const std::vector<Traffic>& traffic) {
  const LaunchFacts& facts = *limits.facts;
  const Both<double> peak = peak_of(kind, facts);
  const std::size_t begin = points.size();
  double most = 0;
  for (const Traffic& one : traffic) {
    RooflinePoint point{&limits, &kind, one, operations, {}, {}, 0};
    const Both<double> bandwidth = bandwidth_of(one.memory, facts);
    point.roof.documented = roof_of(peak.documented, bandwidth.documented);
    point.roof.measured = roof_of(peak.measured, bandwidth.measured);
    point.achieved = achieved_of(limits, operations.value);
    const auto& roof = point.roof.documented ? point.roof.documented : point.roof.measured;
    if (roof) {
      const double here = roof->at(point.per_byte());
      most = most == 0 ? here : std::min(most, here);
    }
    points.push_back(std::move(point));
  }
  for (std::size_t i = begin; i < points.size(); ++i) points[i].most = most;
}

bool has_no_floating_operations(const Limits& limits) {
  // Tensor cores may lack a type, which then has no count: nobody multiplies with it.
  Sum sum;
  const auto is_zero = [&](const OperationKind& kind) {
    const bool is_counted = has_count(limits, kind, sum);
    return is_counted ? sum.value == 0 : is_of_tensor_cores(kind);
  };
  return std::all_of(std::begin(floating_kinds), std::end(floating_kinds), is_zero);
}

}  // namespace

std::string_view name_of(Memory memory) {
  static constexpr std::array<std::string_view, 3> names = {"L1", "L2", "device memory"};
  return names[static_cast<std::size_t>(memory)];
}

std::string Traffic::title() const {
  return std::string(name_of(memory)) + (is_least ? ", at least" : "");
}

double Roof::at(double operations_a_byte) const {
  return std::min(peak, operations_a_byte * tbytes_per_s);
}

std::vector<RooflinePoint> points_of(const Limits& limits) {
  const std::vector<Traffic> traffic = traffic_of(limits);
  std::vector<RooflinePoint> points;
  Sum operations;
  const auto add = [&](const OperationKind& kind) {
    if (has_count(limits, kind, operations) && operations.value > 0) {
      add_points(points, limits, kind, operations, traffic);
    }
  };
  for (const OperationKind& kind : floating_kinds) add(kind);
  for (const OperationKind& kind : tensor_integer_kinds) add(kind);
  if (points.empty() && has_no_floating_operations(limits)) add(integers);
  return points;
}

std::vector<BytesPoint> bytes_points_of(const Limits& limits) {
  std::vector<BytesPoint> points;
  if (!has_no_floating_operations(limits)) return points;
  for (const Traffic& one : traffic_of(limits)) {
    points.push_back({&limits, one, bandwidth_of(one.memory, *limits.facts),
                      achieved_of(limits, one.bytes.value)});
  }
  return points;
}

}  // namespace warpmeter::reports::sections
