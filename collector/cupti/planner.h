// SPDX-License-Identifier: MIT
// From the names that a person asked for to what CUPTI collects: each counter resolved to its
// PerfWorks name on the chip, all of them in one configuration, with the number of passes.
//
// Two rules of CUPTI shape this file. One unknown name in a batch spoils the host object for good,
// so every name is asked for first. And metrics that are added together share passes, those added
// one after the other do not, so there is one ConfigAddMetrics for all.
//
// None of it needs a GPU or a driver: names and passes are tested for every chip anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/cupti/kernel_code.h"
#include "collector/cupti/library.h"
#include "collector/cupti/passes.h"
#include "schema/catalogue.h"
#include "schema/records.h"

namespace warpmeter::cupti {

/// CUPTI's view of a chip's metrics.
class MetricHost {
 public:
  /// `availability` may be empty (everything that the chip can count). Throws Error{no_hardware}
  /// for a chip that this CUPTI does not know.
  MetricHost(const CuptiApi& api, const std::string& chip,
             std::span<const std::uint8_t> availability = {});
  ~MetricHost();
  MetricHost(const MetricHost&) = delete;
  MetricHost& operator=(const MetricHost&) = delete;

  CUpti_Profiler_Host_Object* object() const { return object_; }
  /// True if the chip has this metric, rollup included ("….sum").
  bool knows(const std::string& metric) const;
  /// True if CUPTI takes it into a configuration; a host that does not is of no more use.
  bool adds(const std::string& metric) const;
  /// Names near an unknown one: base names of the chip, or the rollups of a known base.
  std::vector<std::string> names_near(const std::string& metric) const;

 private:
  std::vector<std::string> base_names() const;
  std::vector<std::string> rollups(const std::string& base) const;

  const CuptiApi& api_;
  std::vector<std::uint8_t> availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

class Plan {
 public:
  /// `counters`: catalogue counter names or full PerfWorks names. `code`: of all kernels that are
  /// measured; nullptr: nothing is known of them. Counters of what the code lacks are 0, and are
  /// read only where no other counter is asked for. Throws Error{usage} for a PerfWorks name that
  /// is a mistake, with the nearest that the chip knows.
  Plan(const CuptiApi& api, std::string chip, std::span<const std::uint8_t> availability,
       std::span<const std::string> counters, const KernelCode* code = nullptr,
       UnknownName unknown = UnknownName::is_mistake);

  /// One of `counters` as it was resolved.
  struct Item {
    std::string counter;
    std::string perfworks;  ///< empty when the chip lacks it; of a sum the first one's
    std::string lacking;    ///< why there will be no value; empty when there will be
    /// The metrics of metrics(), each with its factor, whose sum is the value.
    std::vector<std::pair<std::size_t, double>> metrics;
    /// The metric that the value divides by, and why there is none where it is 0.
    std::optional<std::pair<std::size_t, std::string>> divisor;
    /// A metric that is not 0 where the value is not all that it says, and why.
    std::vector<std::pair<std::size_t, std::string>> doubts;
    /// The same of what a kernel's code has, by the catalogue's word for it.
    std::vector<std::pair<std::string, std::string>> doubts_by_code;
  };
  const std::vector<Item>& items() const { return items_; }

  /// PerfWorks names to collect, each once; empty when nothing is.
  std::span<const char* const> metrics() const { return metric_pointers_; }
  std::span<const std::uint8_t> config() const { return config_; }
  std::size_t passes() const { return passes_; }
  /// True if counters of links (NVLink, PCIe) are lacking because others were asked for with them:
  /// each link's are read alone, or beside the duration.
  bool leaves_links_out() const { return leaves_links_out_; }

  /// True if it reads more than counters that CUPTI adds to the code and times: which of the
  /// chip's other counters a device has is known from its availability alone.
  bool needs_availability() const;

  /// True if counters of what this code may have are taken for 0: the plan is for other kernels.
  bool leaves_out(const KernelCode& code) const;
  /// True if it reads counters that are 0 for this code.
  bool has_more_than(const KernelCode& code) const;

  /// The items' values in one range of a decoded counter-data image; `code`: of its kernels.
  std::vector<schema::Counter> evaluate(std::span<const std::uint8_t> image, std::size_t range,
                                        const KernelCode& code = {}) const;
  /// The items without values, for `reason`; what the chip lacks keeps its own.
  std::vector<schema::Counter> unavailable(const std::string& reason) const;

 private:
  void resolve(std::span<const std::string> counters);
  Item resolved(const std::string& name);
  void add(Item& item, const schema::CounterInfo& info, double factor);
  void leave_links_out(std::span<const std::string> counters);
  /// The first of the counter's names that the chip knows; empty: none.
  std::string known_name(const schema::CounterInfo& info) const;
  std::size_t collect(const std::string& metric);
  /// True if the code of the kernels that are measured is known and has none of it.
  bool is_absent(const std::string& part) const;
  static schema::Counter evaluate(const Item& item, std::span<const double> values,
                                  const KernelCode& code);
  void configure();

  const CuptiApi& api_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  MetricHost host_;
  std::optional<KernelCode> code_;
  UnknownName unknown_;
  /// Parts of code that counters are of: those that the code has not, and those it may have.
  std::set<std::string> absent_, present_;
  std::vector<Item> items_;
  std::vector<std::string> metrics_;
  std::vector<const char*> metric_pointers_;
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
  bool leaves_links_out_ = false;
};

/// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", with the remedy where one is known: the table of causes
/// that people meet (permission, another profiler, virtual or confidential devices).
std::string in_words(const CuptiApi& api, CUptiResult result);

/// True if these words say that another profiler has the counters.
bool are_counters_held(std::string_view words);

/// Throws Error{no_hardware} with `what` unless the call succeeded.
void check(const CuptiApi& api, CUptiResult result, const char* what);

/// A value-initialised parameter block with its structSize set, as every call of CUPTI wants it.
#define WARPMETER_CUPTI_PARAMS(type, name) \
  type name{};                             \
  name.structSize = type##_STRUCT_SIZE

}  // namespace warpmeter::cupti
