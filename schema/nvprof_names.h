// SPDX-License-Identifier: MIT
// The names that nvprof knew: 188 metrics and 82 events, read from nvprof_names.json.
//
// NVIDIA's guide to the command line of Nsight Compute lists 181 metrics and the 82 events, with
// the PerfWorks metrics of today that replace them. The other seven: unique_warps_launched, ECC's
// two, the bytes of atomics and reductions to L2 (three), and tensor_int_fu_utilization, which that
// guide spells tensor_precision_int_utilization. An entry of the catalogue answers a name, mostly
// under the same name; a name without a counter says why and what to ask instead.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpmeter::schema {

/// How nvprof printed a value.
enum class NvprofForm {
  count,             ///< an integer: 1024, 3.3255e+10
  ratio,             ///< six decimals: 0.123716
  percent,           ///< two decimals and a sign: 89.69%
  bytes_per_second,  ///< a unit that suits: 636.79GB/s
  level,             ///< 0 to 10, in words: Low (2); the catalogue's answer is per cent
};

struct NvprofName {
  std::string name;         ///< "gld_transactions"
  bool is_event = false;    ///< one of --events; else one of --metrics
  std::string description;  ///< nvprof's own short one: "Global Load Transactions"
  NvprofForm form = NvprofForm::count;
  double scale = 1;     ///< nvprof's value of one of the catalogue: 1e9 for GB/s, 0.01 for 0 to 1
  std::string answer;   ///< the catalogue's counter or metric; empty: no counter holds it
  std::string note;     ///< the answer differs from nvprof's in this; mostly empty
  std::string reason;   ///< where nothing answers it: why
  std::string instead;  ///< and the entry of the catalogue that comes nearest

  /// True of NVLink and PCIe: no kernel's own, and not measured together with others.
  bool is_of_links() const { return name.starts_with("nvlink_") || name.starts_with("pcie_"); }
};

/// Metrics, then events, each by name.
std::span<const NvprofName> nvprof_names();
/// Null when nvprof knew no metric (no event) of that name.
const NvprofName* find_nvprof_name(std::string_view name, bool is_event);

/// "no counter …; ask for cf_executed instead": of a name that nothing answers.
std::string refusal(const NvprofName& name);

}  // namespace warpmeter::schema
