// SPDX-License-Identifier: MIT
#include "reports/nvprof/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpmeter::reports::nvprof {
namespace {

/// nvprof divides whole nanoseconds.
double mean_of(const SummaryRow& row) {
  return row.calls == 0 ? 0 : std::floor(*row.total_ns / static_cast<double>(row.calls));
}

double sum_of(const SummaryPart& part) {
  double all = 0;
  for (const SummaryRow& row : part.rows) all += row.total_ns.value_or(0);
  return all;
}

double share_of(const SummaryRow& row, double all_ns) {
  return all_ns > 0 ? 100 * *row.total_ns / all_ns : 0;
}

/// The greatest times of the columns that hold times.
struct Greatest {
  double total = 0, mean = 0, least = 0, greatest = 0;
};

Greatest greatest_of(const std::vector<SummaryPart>& parts) {
  Greatest all;
  for (const SummaryPart& part : parts) {
    for (const SummaryRow& row : part.rows) {
      if (!row.total_ns) continue;
      all.total = std::max(all.total, *row.total_ns);
      all.mean = std::max(all.mean, mean_of(row));
      all.least = std::max(all.least, row.least_ns);
      all.greatest = std::max(all.greatest, row.greatest_ns);
    }
  }
  return all;
}

constexpr std::string_view text_row = "{:>16}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n";

std::string text_of(const SummaryPart& part, const Greatest& greatest, TimeUnit unit) {
  const double all_ns = sum_of(part);
  std::string text;
  for (const SummaryRow& row : part.rows) {
    const std::string type = &row == &part.rows.front() ? fmt::format("{}:", part.type) : "";
    if (!row.total_ns) {
      text +=
          fmt::format(fmt::runtime(text_row), type, "-", "-", row.calls, "-", "-", "-", row.name);
      continue;
    }
    text += fmt::format(fmt::runtime(text_row), type, fmt::format("{:.2f}%", share_of(row, all_ns)),
                        time_text(*row.total_ns, text_unit(greatest.total, unit)), row.calls,
                        time_text(mean_of(row), text_unit(greatest.mean, unit)),
                        time_text(row.least_ns, text_unit(greatest.least, unit)),
                        time_text(row.greatest_ns, text_unit(greatest.greatest, unit)), row.name);
  }
  return text;
}

/// The units of the columns that hold times.
struct Units {
  ColumnUnit total, mean, least, greatest;
};

Units units_of(const Greatest& all, TimeUnit unit) {
  return {time_unit(all.total, unit), time_unit(all.mean, unit), time_unit(all.least, unit),
          time_unit(all.greatest, unit)};
}

std::string csv_of(const SummaryPart& part, const Units& units) {
  const double all_ns = sum_of(part);
  std::string text;
  for (const SummaryRow& row : part.rows) {
    if (!row.total_ns) {
      text += fmt::format("{},,,{},,,,{}\n", csv_text(part.type), row.calls, csv_text(row.name));
      continue;
    }
    text += fmt::format("{},{:.6f},{},{},{},{},{},{}\n", csv_text(part.type), share_of(row, all_ns),
                        in_unit(*row.total_ns, units.total), row.calls,
                        in_unit(mean_of(row), units.mean), in_unit(row.least_ns, units.least),
                        in_unit(row.greatest_ns, units.greatest), csv_text(row.name));
  }
  return text;
}

}  // namespace

std::string summary_text(std::vector<SummaryPart> parts, const Style& style) {
  for (SummaryPart& part : parts) {
    std::stable_sort(part.rows.begin(), part.rows.end(), [](const auto& a, const auto& b) {
      return a.total_ns.value_or(0) > b.total_ns.value_or(0);
    });
  }
  const Greatest greatest = greatest_of(parts);
  const Units units = units_of(greatest, style.unit);
  std::string text;
  bool has_heading = false;
  for (const SummaryPart& part : parts) {
    if (part.rows.empty()) {
      text += fmt::format("{}\n", part.none);
      continue;
    }
    if (!has_heading && style.csv) {
      text += fmt::format(
          "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
          ",%,{},,{},{},{},\n",
          units.total.name, units.mean.name, units.least.name, units.greatest.name);
    } else if (!has_heading) {
      text += fmt::format(fmt::runtime(text_row), "Type", "Time(%)", "Time", "Calls", "Avg", "Min",
                          "Max", "Name");
    }
    has_heading = true;
    text += style.csv ? csv_of(part, units) : text_of(part, greatest, style.unit);
  }
  return text;
}

}  // namespace warpmeter::reports::nvprof
