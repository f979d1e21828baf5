// SPDX-License-Identifier: MIT
#include "collector/cupti/diagnose.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/with_noun.h"
#include "collector/cupti/context.h"
#include "collector/cupti/device.h"
#include "collector/cupti/profiler.h"

namespace warpmeter::cupti {
namespace {

constexpr const char* driver_parameters = "/proc/driver/nvidia/params";

template <class Api>
Finding library_finding(const char* name, const Loaded<Api>& loaded) {
  if (!loaded.ok()) return {name, false, loaded.failure, loaded.remedy};
  return {name, true, fmt::format("{}, {}", loaded.version, loaded.path), ""};
}

Finding device_finding(const schema::Device& device) {
  return {fmt::format("device {}", device.ordinal), true,
          fmt::format("{} ({}, compute capability {}.{}), {}, {} MiB, {}", device.name,
                      device.chip.empty() ? "chip unknown" : device.chip,
                      device.compute_capability / 10, device.compute_capability % 10,
                      with_noun(device.multiprocessors.value_or(0), "multiprocessor"),
                      device.memory_bytes.value_or(0) / (1 << 20), device.uuid),
          ""};
}

Finding counters_finding(int ordinal) {
  Finding finding{"counters", false, "", ""};
  std::ifstream params(driver_parameters);
  const std::optional<bool> admins_only = counters_for_admins_only(params);
  const Context context(ordinal);
  const CounterSupport support = probe_counters(cupti_library().api, context);
  finding.ok = support.unavailable.empty();
  if (finding.ok) {
    finding.detail = "readable";
    if (admins_only) finding.detail += *admins_only ? " (administrators only)" : " (by every user)";
  } else {
    finding.detail = support.unavailable;
    finding.remedy = "times are measured all the same: `warpmeter run --timing-only`";
  }
  return finding;
}

Finding mig_finding(const schema::DeviceState& state) {
  if (!state.unavailable.empty()) {
    return {"MIG", true, "unknown: " + state.unavailable, ""};
  }
  if (!state.mig) return {"MIG", true, "the device has none", ""};
  if (!*state.mig) return {"MIG", true, "off", ""};
  return {"MIG", false, "on: counters and bandwidth are those of an instance",
          "measure on a device without MIG"};
}

}  // namespace

Finding neighbours_finding(const schema::DeviceState& state) {
  Finding finding{"neighbours", true, "", "", "shared "};
  bool is_about_dcgm = false;
  for (const schema::Disturbance& one : state.disturbances) {
    if (one.kind == "MIG" || one.kind == "throttled")
      continue;  // others say these, or they belong to the moment
    if (!finding.detail.empty()) finding.detail += "; ";
    finding.detail += one.what.empty() ? "unknown: " + one.reason : one.what;
    finding.ok = finding.ok && !one.is_felt;
    is_about_dcgm = is_about_dcgm || one.kind == "DCGM";
  }
  if (finding.detail.empty()) finding.detail = "nobody else is on the card";
  if (is_about_dcgm) finding.detail += " (--pause-dcgm pauses it while run or profile measures)";
  if (!finding.ok)
    finding.remedy =
        "wait until it has ended, or measure on another card: run --device, profile --devices";
  return finding;
}

std::vector<Finding> diagnose() {
  std::vector<Finding> findings;
  findings.push_back(library_finding("driver", driver_library()));
  findings.push_back(library_finding("CUPTI", cupti_library()));
  findings.push_back(library_finding("NVML", nvml_library()));
  if (!driver_library().ok()) return findings;
  try {
    for (const schema::Device& device : devices()) {
      findings.push_back(device_finding(device));
      if (cupti_library().ok()) findings.push_back(counters_finding(device.ordinal));
      const schema::DeviceState state = read_state(device.uuid, "");
      findings.push_back(mig_finding(state));
      findings.push_back(neighbours_finding(state));
    }
  } catch (const std::exception& error) {
    findings.push_back({"device", false, error.what(), "see whether `nvidia-smi` works"});
  }
  return findings;
}

std::optional<bool> counters_for_admins_only(std::istream& params) {
  const std::string key = "RmProfilingAdminOnly:";
  for (std::string line; std::getline(params, line);) {
    if (!line.starts_with(key)) continue;
    return line.find('1', key.size()) != std::string::npos;
  }
  return std::nullopt;
}

std::string counters_refusal(std::istream& params, std::istream& status) {
  constexpr std::uint64_t administrators = (std::uint64_t{1} << 21) | (std::uint64_t{1} << 38);
  if (!counters_for_admins_only(params).value_or(false)) return "";
  const std::string key = "CapEff:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    // CAP_SYS_ADMIN or CAP_PERFMON.
    if ((std::strtoull(line.c_str() + key.size(), nullptr, 16) & administrators) != 0) return "";
    return "the driver gives counters to administrators only: run as root or with CAP_PERFMON, or "
           "set its option NVreg_RestrictProfilingToAdminUsers=0";
  }
  return "";
}

std::string counters_refusal() {
  std::ifstream params(driver_parameters), status("/proc/self/status");
  return counters_refusal(params, status);
}

}  // namespace warpmeter::cupti
