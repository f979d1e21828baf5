// SPDX-License-Identifier: MIT
#include "collector/cupti/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest.h"
#include "schema/catalogue.h"

namespace warpmeter::cupti {
namespace {

constexpr std::string_view held_counters = ": another profiler holds the counters";

/// True if the code may have that part, by the catalogue's word for it.
bool may_have(const KernelCode& code, std::string_view part) {
  if (part == "bulk_copies") return code.copies_in_bulk;
  if (part == "generic_loads") return code.loads_generic;
  if (part == "generic_stores") return code.stores_generic;
  if (part == "matrix_products") return code.multiplies_matrices;
  return true;
}

}  // namespace

bool are_counters_held(std::string_view reason) {
  return reason.find(held_counters) != std::string::npos;
}

std::string in_words(const CuptiApi& api, CUptiResult result) {
  const char* name = nullptr;
  api.cuptiGetResultString(result, &name);
  const std::string words =
      fmt::format("{} ({})", name != nullptr ? name : "unknown error", static_cast<int>(result));
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return words +
             ": counters need root or CAP_SYS_ADMIN (in a container --cap-add=SYS_ADMIN), or the "
             "driver option NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return words + std::string(held_counters) +
             "; end it, or pause DCGM with --pause-dcgm (or `dcgmi profile --pause`)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return words + ": this virtual GPU gives no counters; use a passed-through one";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return words + ": confidential computing hides the counters; switch it off to profile";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return words + ": this MIG instance gives no counters; use the whole device";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return words + ": counters are off under WSL; allow them in the NVIDIA control panel";
    default:
      return words;
  }
}

void check(const CuptiApi& api, CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  throw Error(ExitCode::no_hardware, fmt::format("{} failed: CUPTI says {}; run `warpmeter doctor`",
                                                 what, in_words(api, result)));
}

MetricHost::MetricHost(const CuptiApi& api, const std::string& chip,
                       std::span<const std::uint8_t> availability)
    : api_(api), availability_(availability.begin(), availability.end()) {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, parameters);
  parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  parameters.pChipName = chip.c_str();
  parameters.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check(api_, api_.cuptiProfilerHostInitialize(&parameters),
        ("asking for the metrics of chip " + chip).c_str());
  object_ = parameters.pHostObject;
}

MetricHost::~MetricHost() {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
  parameters.pHostObject = object_;
  api_.cuptiProfilerHostDeinitialize(&parameters);
}

bool MetricHost::knows(const std::string& metric) const {
  // A bare base name has properties too, but no value: "gpu__time_duration" needs its ".sum".
  if (metric.find('.') == std::string::npos) return false;
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, parameters);
  parameters.pHostObject = object_;
  parameters.pMetricName = metric.c_str();
  return api_.cuptiProfilerHostGetMetricProperties(&parameters) == CUPTI_SUCCESS;
}

bool MetricHost::adds(const std::string& metric) const {
  const char* name = metric.c_str();
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, parameters);
  parameters.pHostObject = object_;
  parameters.ppMetricNames = &name;
  parameters.numMetrics = 1;
  return api_.cuptiProfilerHostConfigAddMetrics(&parameters) == CUPTI_SUCCESS;
}

std::vector<std::string> MetricHost::base_names() const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type :
       {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
    WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, parameters);
    parameters.pHostObject = object_;
    parameters.metricType = type;
    if (api_.cuptiProfilerHostGetBaseMetrics(&parameters) != CUPTI_SUCCESS) continue;
    names.insert(names.end(), parameters.ppMetricNames,
                 parameters.ppMetricNames + parameters.numMetrics);
  }
  return names;
}

std::vector<std::string> MetricHost::rollups(const std::string& base) const {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, properties);
  properties.pHostObject = object_;
  properties.pMetricName = base.c_str();
  if (api_.cuptiProfilerHostGetMetricProperties(&properties) != CUPTI_SUCCESS) return {};
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, parameters);
  parameters.pHostObject = object_;
  parameters.pMetricName = base.c_str();
  parameters.metricType = properties.metricType;
  if (api_.cuptiProfilerHostGetSubMetrics(&parameters) != CUPTI_SUCCESS) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.numOfSubmetrics; ++i) {
    const std::string rollup = parameters.ppSubMetrics[i];
    names.push_back(base + (rollup.starts_with('.') ? "" : ".") + rollup);
  }
  return names;
}

std::vector<std::string> MetricHost::names_near(const std::string& metric) const {
  const std::string base = metric.substr(0, metric.find('.'));
  const std::vector<std::string> known = rollups(base);
  if (known.empty()) return nearest(base, base_names());
  // A base has dozens of rollups; these are the ones that people mean.
  std::vector<std::string> usual;
  for (const char* rollup : {".sum", ".avg", ".pct", ".ratio", ".sum.per_second"}) {
    if (std::find(known.begin(), known.end(), base + rollup) != known.end()) {
      usual.push_back(base + rollup);
    }
  }
  return usual.empty() ? nearest(metric, known) : usual;
}

Plan::Plan(const CuptiApi& api, std::string chip, std::span<const std::uint8_t> availability,
           std::span<const std::string> counters, const KernelCode* code, UnknownName unknown)
    : api_(api),
      chip_(std::move(chip)),
      availability_(availability.begin(), availability.end()),
      host_(api, chip_, availability),
      code_(code != nullptr ? std::optional(*code) : std::nullopt),
      unknown_(unknown) {
  resolve(counters);
  if (metrics_.empty() && !absent_.empty()) {
    code_ = KernelCode{};
    absent_.clear();
    present_.clear();
    items_.clear();
    resolve(counters);
  }
  if (!metrics_.empty()) configure();
}

void Plan::resolve(std::span<const std::string> counters) {
  for (const std::string& name : counters) items_.push_back(resolved(name));
  leave_links_out(counters);
  for (const std::string& metric : metrics_) metric_pointers_.push_back(metric.c_str());
}

Plan::Item Plan::resolved(const std::string& name) {
  Item item;
  item.counter = name;
  if (const schema::CounterInfo* info = schema::Catalogue::get().find_counter(name)) {
    if (!info->sum.empty()) {
      for (const schema::Term& term : info->sum) {
        const schema::CounterInfo* part = schema::Catalogue::get().find_counter(term.name);
        if (item.perfworks.empty()) item.perfworks = known_name(*part);
        add(item, *part, term.factor);
      }
      return item;
    }
    item.perfworks = known_name(*info);
    if (item.perfworks.empty()) {
      item.lacking = info->lacking.empty() ? fmt::format("{} has no hardware counter for it", chip_)
                                           : info->lacking;
      return item;
    }
    add(item, *info, 1);
    if (host_.knows(info->divisor)) item.divisor.emplace(collect(info->divisor), info->undefined);
    for (const schema::Doubt& doubt : info->doubts) {
      if (code_ && !doubt.code.empty()) {
        item.doubts_by_code.emplace_back(doubt.code, doubt.reason);
      } else if (host_.knows(doubt.perfworks)) {
        item.doubts.emplace_back(collect(doubt.perfworks), doubt.reason);
      }
    }
  } else if (host_.knows(name)) {
    item.perfworks = name;
    item.metrics.emplace_back(collect(name), 1);
  } else {
    item.lacking = fmt::format("{} knows no metric {}", chip_, name);
    if (unknown_ == UnknownName::is_lacking) return item;
    const std::vector<std::string> near = host_.names_near(name);
    throw Error(
        ExitCode::usage,
        item.lacking + (near.empty() ? "; `warpmeter list metrics` shows what there is"
                                     : fmt::format("; near it are {}", fmt::join(near, ", "))));
  }
  return item;
}

/// Adds what the chip has of a counter: its metric, and others that are added to it.
void Plan::add(Item& item, const schema::CounterInfo& info, double factor) {
  if (is_absent(info.code)) {  // it is 0
    absent_.insert(info.code);
    return;
  }
  if (!info.code.empty()) present_.insert(info.code);
  const std::string name = known_name(info);
  if (!name.empty()) item.metrics.emplace_back(collect(name), factor);
  for (const std::string& also : info.perfworks_also) {
    if (host_.knows(also)) item.metrics.emplace_back(collect(also), factor);
  }
}

/// CUPTI answers 27 for a configuration of the chip's counters and a link's. On some machines it
/// knows the links' names, but takes none of them (999, and so for each call after that).
void Plan::leave_links_out(std::span<const std::string> counters) {
  enum Part { chip, nvlink, pcie, any };  // the first of those asked for is read
  const auto part_of = [](std::string_view name) {
    return name.starts_with("nvl")         ? nvlink
           : name.starts_with("pcie__")    ? pcie
           : name.starts_with("gpu__time") ? any
                                           : chip;
  };
  const auto is_of_link = [&](const std::string& metric) {
    return part_of(metric) == nvlink || part_of(metric) == pcie;
  };
  if (std::none_of(metrics_.begin(), metrics_.end(), is_of_link)) return;
  Part first = any;
  for (const std::string& metric : metrics_) first = std::min(first, part_of(metric));
  metrics_.clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::string perfworks = items_[i].perfworks;
    const Part part = perfworks.empty() ? any : part_of(perfworks);
    std::string lacking;
    if (part != any && part != first) {
      leaves_links_out_ = true;
      lacking =
          "counters of NVLink and of PCIe are read alone: ask for them without others, or with "
          "profile --replay application";
    } else if (part != any && part != chip &&
               !MetricHost(api_, chip_, availability_).adds(perfworks)) {
      lacking = "CUPTI takes no counters of links on this machine; Nsight Compute may read them";
    }
    items_[i] =
        lacking.empty() ? resolved(counters[i]) : Item{counters[i], "", lacking, {}, {}, {}, {}};
  }
}

std::string Plan::known_name(const schema::CounterInfo& info) const {
  if (host_.knows(info.perfworks)) return info.perfworks;
  for (const std::string& name : info.perfworks_else) {
    if (host_.knows(name)) return name;
  }
  return "";
}

bool Plan::is_absent(const std::string& part) const {
  return code_ && !part.empty() && !may_have(*code_, part);
}

bool Plan::needs_availability() const {
  return std::any_of(metrics_.begin(), metrics_.end(), [](std::string_view metric) {
    return metric.find("__sass_") == std::string_view::npos && !metric.starts_with("gpu__time");
  });
}

bool Plan::leaves_out(const KernelCode& code) const {
  return std::any_of(absent_.begin(), absent_.end(),
                     [&](const std::string& part) { return may_have(code, part); });
}

bool Plan::has_more_than(const KernelCode& code) const {
  return std::any_of(present_.begin(), present_.end(),
                     [&](const std::string& part) { return !may_have(code, part); });
}

std::size_t Plan::collect(const std::string& metric) {
  const auto found = std::find(metrics_.begin(), metrics_.end(), metric);
  const auto index = static_cast<std::size_t>(found - metrics_.begin());
  if (found == metrics_.end()) metrics_.push_back(metric);
  return index;
}

void Plan::configure() {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_.object();
  add.ppMetricNames = metric_pointers_.data();
  add.numMetrics = metric_pointers_.size();
  check(api_, api_.cuptiProfilerHostConfigAddMetrics(&add), "choosing the counters");

  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_.object();
  check(api_, api_.cuptiProfilerHostGetConfigImageSize(&size), "sizing the counters' schedule");
  config_.resize(size.configImageSize);

  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_.object();
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  check(api_, api_.cuptiProfilerHostGetConfigImage(&image), "making the counters' schedule");

  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  check(api_, api_.cuptiProfilerHostGetNumOfPasses(&passes), "counting the passes");
  passes_ = passes.numOfPasses;
}

std::vector<schema::Counter> Plan::evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                            const KernelCode& code) const {
  std::vector<double> values(metrics_.size());
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, parameters);
  parameters.pHostObject = host_.object();
  parameters.pCounterDataImage = image.data();
  parameters.counterDataImageSize = image.size();
  parameters.rangeIndex = range;
  parameters.ppMetricNames = const_cast<const char**>(metric_pointers_.data());
  parameters.numMetrics = metric_pointers_.size();
  parameters.pMetricValues = values.data();
  check(api_, api_.cuptiProfilerHostEvaluateToGpuValues(&parameters), "reading the counters");

  std::vector<schema::Counter> counters;
  counters.reserve(items_.size());
  for (const Item& item : items_) counters.push_back(evaluate(item, values, code));
  return counters;
}

schema::Counter Plan::evaluate(const Item& item, std::span<const double> values,
                               const KernelCode& code) {
  if (!item.lacking.empty()) {
    return {item.counter, std::nullopt, schema::Grade::unavailable, item.lacking};
  }
  if (item.divisor && values[item.divisor->first] == 0) {
    return {item.counter, std::nullopt, schema::Grade::unavailable, item.divisor->second};
  }
  double value = 0;
  for (const auto& [metric, factor] : item.metrics) value += factor * values[metric];
  if (!std::isfinite(value)) {
    return {item.counter, std::nullopt, schema::Grade::unavailable,
            "undefined for this launch: what it divides by is 0"};
  }
  for (const auto& [metric, reason] : item.doubts) {
    if (values[metric] != 0) return {item.counter, value, schema::Grade::modelled, reason};
  }
  for (const auto& [part, reason] : item.doubts_by_code) {
    if (may_have(code, part)) return {item.counter, value, schema::Grade::modelled, reason};
  }
  return {item.counter, value, schema::Grade::measured, ""};
}

std::vector<schema::Counter> Plan::unavailable(const std::string& reason) const {
  std::vector<schema::Counter> counters;
  for (const Item& item : items_) {
    counters.push_back({item.counter, std::nullopt, schema::Grade::unavailable,
                        item.lacking.empty() ? reason : item.lacking});
  }
  return counters;
}

}  // namespace warpmeter::cupti
