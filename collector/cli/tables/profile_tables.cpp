// SPDX-License-Identifier: MIT
#include "collector/cli/tables/profile_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/kernel_name.h"
#include "base/statistics.h"
#include "base/utf8.h"
#include "collector/cli/tables/kernel_metrics.h"
#include "reports/table/number.h"
#include "reports/table/table.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {
namespace {

using inject::ActivityKind;
using reports::Column;
using reports::Table;

/// Rows are the activities of one part; the first carries its title.
void add_part(Table& table, const char* title, std::vector<profile::Activity*> part,
              const ShownNames& names) {
  std::sort(part.begin(), part.end(), [](const auto* a, const auto* b) {
    return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->name < b->name;
  });
  double all_ns = 0;
  for (const profile::Activity* activity : part) all_ns += activity->total_ns;
  for (profile::Activity* activity : part) {
    std::vector<float>& times = activity->durations_ns;
    std::sort(times.begin(), times.end());
    const std::size_t calls = times.size();
    const double share = all_ns > 0 ? 100 * activity->total_ns / all_ns : 0;
    table.rows.push_back(
        {activity == part.front() ? title : "", fmt::format("{:.2f}%", share),
         duration_text(activity->total_ns), fmt::format("{}", calls),
         duration_text(activity->total_ns / static_cast<double>(calls)),
         duration_text(times.front()), duration_text(times.back()),
         duration_text(median_of_sorted(times)),
         activity->kind == ActivityKind::kernel ? names.of(activity->name) : activity->name});
  }
}

void add_metrics(std::vector<ShownMetric>& shown, const std::string& request) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const auto add = [&](const std::string& name, bool where_any) {
    const auto known = std::find_if(shown.begin(), shown.end(),
                                    [&](const ShownMetric& metric) { return metric.name == name; });
    if (known == shown.end()) {
      shown.push_back({name, where_any});
    } else {
      known->where_any = known->where_any && where_any;
    }
  };
  const schema::SetInfo* set =
      request.starts_with('@') ? catalogue.find_set(request.substr(1)) : nullptr;
  if (set == nullptr) return add(request, false);
  for (const std::string& name : set->metrics) add(name, false);
  for (const std::string& name : set->where_any) add(name, true);
}

/// nvprof's six decimals where there are any; whole numbers in full.
std::string value_text(double value, const std::string& unit) {
  const bool is_whole = std::floor(value) == value && std::abs(value) < 9e15;
  const std::string number = is_whole ? reports::grouped_number(static_cast<std::int64_t>(value))
                                      : fmt::format("{:.6f}", value);
  const bool is_rate = unit == "%" || unit.ends_with("/s");
  return is_rate ? number + unit : number;
}

/// Empty for a PerfWorks name.
std::string unit_of(const std::string& name) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  if (const schema::MetricInfo* metric = catalogue.find_metric(name)) return metric->unit;
  const schema::CounterInfo* counter = catalogue.find_counter(name);
  return counter != nullptr ? counter->unit : "";
}

ShownNames names_of(std::span<const KernelMetrics> kernels, KernelNameBase base) {
  std::set<std::string> names;
  for (const KernelMetrics& kernel : kernels) names.insert(kernel.kernel);
  return {names, base};
}

/// "Device: …   Kernel: …   Range: …", the last where an NVTX range was open.
std::string kernel_title(const KernelMetrics& kernel, const ShownNames& names) {
  return printable(fmt::format("Device: {}   Kernel: {}{}", kernel.device, names.of(kernel.kernel),
                               kernel.range.empty() ? "" : "   Range: " + kernel.range)) +
         "\n";
}

/// The metrics of a reason, or how many: the table marks each of them.
std::string some_metrics(const std::vector<std::string>& metrics) {
  constexpr std::size_t most_named = 4;
  if (metrics.size() <= most_named) return fmt::format("{}", fmt::join(metrics, ", "));
  return fmt::format("{} metrics, each - above", metrics.size());
}

/// " (± 7214)", in the metric's unit: three digits and all before the point; empty where no blocks
/// were left out.
std::string bound_text(std::optional<double> error) {
  if (!error) return "";
  constexpr double three_digits = 100;
  return *error < three_digits ? fmt::format(" (± {:.3g})", *error)
                               : fmt::format(" (± {:.0f})", *error);
}

/// The metrics of one kernel in the order in which they were asked for.
std::string kernel_block(const KernelMetrics& kernel, std::span<const ShownMetric> metrics,
                         const ShownNames& names) {
  Table table;
  table.columns = {right_column("Invocations"), Column::text("Metric"), right_column("Min"),
                   right_column("Max"), right_column("Avg")};
  std::map<std::string, std::vector<std::string>> missing, doubtful;  // by the reason
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const std::string& metric = metrics[i].name;
    const MetricSum& sum = kernel.sums[i];
    if (!sum.is_shown(metrics[i])) continue;
    const auto value = [&](double number) { return value_text(number, unit_of(metric)); };
    if (sum.values > 0) {
      table.rows.push_back({fmt::format("{}", sum.values), metric, value(sum.least),
                            value(sum.greatest), value(sum.mean())});
      if (!sum.doubt.empty()) doubtful[sum.doubt].push_back(metric + bound_text(sum.error));
    } else {
      table.rows.push_back({"0", metric, "-", "-", "-"});
      missing[sum.reason].push_back(metric);
    }
  }
  std::string block = kernel_title(kernel, names) + render(table, reports::Format::table);
  for (const auto& [reason, which] : missing) {
    block += fmt::format("no value of {}: {}\n", some_metrics(which), printable(reason));
  }
  for (const auto& [reason, which] : doubtful) {
    block += fmt::format("not exact: {}: {}\n", fmt::join(which, ", "), printable(reason));
  }
  return block;
}

}  // namespace

Column right_column(const char* heading) {
  Column column = Column::text(heading);
  column.align = reports::Align::right;
  return column;
}

ShownNames::ShownNames(const std::set<std::string>& kernels, KernelNameBase base) : base_(base) {
  if (base == KernelNameBase::function) distinct_ = distinct_names(kernels);
}

std::string ShownNames::of(const std::string& kernel) const {
  const auto found = distinct_.find(kernel);
  const bool is_graph = kernel.starts_with("graph(");
  return found == distinct_.end() || is_graph ? shown_name(kernel, base_) : found->second;
}

std::string shown_name(const std::string& kernel, KernelNameBase base) {
  if (base == KernelNameBase::mangled || kernel.starts_with("graph(")) return kernel;
  return base == KernelNameBase::function ? function_name(kernel) : demangled(kernel);
}

std::string duration_text(double duration_ns) {
  if (duration_ns < 0) return "-" + duration_text(-duration_ns);  // before the clock began
  if (duration_ns < 1000) return fmt::format("{}ns", std::llround(duration_ns));
  double value = duration_ns / 1e3;
  const char* unit = "us";
  for (const char* larger : {"ms", "s"}) {
    if (value < 999.995) break;
    value /= 1e3;
    unit = larger;
  }
  const int decimals = value < 9.99995 ? 4 : value < 99.9995 ? 3 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

namespace {

/// Events of managed memory and ranges overlap with the rest, so they are no part of its time.
void keep_summarised(std::vector<profile::Activity>& activities) {
  std::erase_if(activities, [](const auto& one) { return one.kind > ActivityKind::call; });
}

/// A table of activities without a clock: how often, and how much.
std::string counted_table(std::vector<profile::Activity*> part, const ShownNames& names) {
  Table table;
  table.columns = {Column::text("Type"), right_column("Calls"), right_column("Bytes"),
                   right_column("Instructions"), Column::text("Name")};
  std::sort(part.begin(), part.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->kind, b->amount, a->name) < std::tuple(b->kind, a->amount, b->name);
  });
  const auto number = [](std::uint64_t value) {
    return reports::grouped_number(static_cast<std::int64_t>(value));
  };
  for (const profile::Activity* activity : part) {
    const bool is_kernel = activity->kind == ActivityKind::kernel;
    table.rows.push_back({activity == part.front() ? "GPU activities:" : "",
                          number(activity->calls), is_kernel ? "" : number(activity->amount),
                          is_kernel ? number(activity->amount) : "",
                          is_kernel ? names.of(activity->name) : activity->name});
  }
  return reports::render(table, reports::Format::table) +
         "Times of GPU activities are unavailable: the model executes PTX on the CPU and has no "
         "clock. Instructions are warp instructions of the PTX.\n\n";
}

}  // namespace

std::string summary_table(std::vector<profile::Activity> activities, KernelNameBase base) {
  keep_summarised(activities);
  Table table;
  table.columns = {Column::text("Type"),  right_column("Time(%)"), right_column("Time"),
                   right_column("Calls"), right_column("Avg"),     right_column("Min"),
                   right_column("Max"),   right_column("Median"),  Column::text("Name")};
  std::vector<profile::Activity*> gpu, calls;
  std::set<std::string> kernels;
  for (profile::Activity& activity : activities) {
    if (activity.kind == ActivityKind::kernel) kernels.insert(activity.name);
    (activity.kind == ActivityKind::call ? calls : gpu).push_back(&activity);
  }
  const ShownNames names(kernels, base);
  const bool has_times = std::any_of(gpu.begin(), gpu.end(), [](const profile::Activity* activity) {
    return !activity->durations_ns.empty();
  });
  const std::string counted =
      gpu.empty() || has_times ? "" : counted_table(std::exchange(gpu, {}), names);
  add_part(table, "GPU activities:", std::move(gpu), names);
  add_part(table, "API calls:", std::move(calls), names);
  return counted + reports::render(table, reports::Format::table);
}

reports::Table summary_rows(std::vector<profile::Activity> activities, KernelNameBase base) {
  using reports::Kind;
  keep_summarised(activities);
  Table table;
  table.columns = {Column::text("type")};
  for (const char* name : {"time_percent", "time_ns", "calls", "avg_ns", "min_ns", "max_ns",
                           "median_ns", "bytes", "instructions"}) {
    table.columns.push_back(Column::number(name, name, "", Kind::exact));
  }
  table.columns.push_back(Column::text("name"));
  std::set<std::string> kernels;
  std::map<bool, double> total_ns;  // by whether it is a call
  for (const profile::Activity& activity : activities) {
    if (activity.kind == ActivityKind::kernel) kernels.insert(activity.name);
    total_ns[activity.kind == ActivityKind::call] += activity.total_ns;
  }
  const ShownNames names(kernels, base);
  std::sort(activities.begin(), activities.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.kind == ActivityKind::call, -a.total_ns, a.name) <
           std::tuple(b.kind == ActivityKind::call, -b.total_ns, b.name);
  });
  for (profile::Activity& activity : activities) {
    const bool is_call = activity.kind == ActivityKind::call;
    const bool is_kernel = activity.kind == ActivityKind::kernel;
    std::vector<float>& times = activity.durations_ns;
    std::sort(times.begin(), times.end());
    const auto timed = [&](double value) {
      return times.empty() ? reports::Cell() : reports::Cell(value);
    };
    const auto amount = [&](bool is_meant) {
      return is_meant && activity.amount > 0
                 ? reports::Cell(static_cast<std::int64_t>(activity.amount))
                 : reports::Cell();
    };
    const double all_ns = total_ns[is_call];
    table.rows.push_back(
        {is_call ? "API calls" : "GPU activities",
         timed(all_ns > 0 ? 100 * activity.total_ns / all_ns : 0), timed(activity.total_ns),
         static_cast<std::int64_t>(activity.calls),
         timed(activity.total_ns / static_cast<double>(std::max<std::size_t>(times.size(), 1))),
         timed(times.empty() ? 0 : times.front()), timed(times.empty() ? 0 : times.back()),
         timed(times.empty() ? 0 : median_of_sorted(times)), amount(!is_kernel && !is_call),
         amount(is_kernel), is_kernel ? names.of(activity.name) : activity.name});
  }
  return table;
}

std::vector<ShownMetric> shown_metrics(std::span<const std::string> requested) {
  std::vector<ShownMetric> shown;
  for (const std::string& request : requested) add_metrics(shown, request);
  return shown;
}

std::string metrics_table(const schema::Reader& reader, std::int64_t run_id,
                          std::span<const ShownMetric> metrics, KernelNameBase base) {
  const std::vector<KernelMetrics> kernels = metrics_of_kernels(reader, run_id, metrics);
  const ShownNames names = names_of(kernels, base);
  std::string all;
  for (const KernelMetrics& kernel : kernels) {
    if (!all.empty()) all += '\n';
    all += kernel_block(kernel, metrics, names);
  }
  return all;
}

reports::Table metrics_rows(const schema::Reader& reader, std::int64_t run_id,
                            std::span<const ShownMetric> metrics, KernelNameBase base) {
  using reports::Kind;
  const std::vector<KernelMetrics> kernels = metrics_of_kernels(reader, run_id, metrics);
  const ShownNames names = names_of(kernels, base);
  Table table;
  table.columns = {Column::text("device"),
                   Column::text("kernel"),
                   Column::text("range"),
                   Column::number("invocations", "invocations", "", Kind::exact),
                   Column::text("metric"),
                   Column::text("unit"),
                   Column::number("min", "min", "", Kind::exact),
                   Column::number("max", "max", "", Kind::exact),
                   Column::number("avg", "avg", "", Kind::exact),
                   Column::text("reason")};
  for (const KernelMetrics& kernel : kernels) {
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const MetricSum& sum = kernel.sums[i];
      if (!sum.is_shown(metrics[i])) continue;
      const auto value = [&](double number) {
        return sum.values > 0 ? reports::Cell(number) : reports::Cell();
      };
      table.rows.push_back({kernel.device, names.of(kernel.kernel), kernel.range,
                            static_cast<std::int64_t>(sum.values), metrics[i].name,
                            unit_of(metrics[i].name), value(sum.least), value(sum.greatest),
                            sum.values > 0 ? reports::Cell(sum.mean()) : reports::Cell(),
                            sum.reason});
    }
  }
  return table;
}

}  // namespace warpmeter::cli
