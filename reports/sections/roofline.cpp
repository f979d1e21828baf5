// SPDX-License-Identifier: MIT
// The roofline: floating-point operations against the bytes between L1 and the registers.
#include "reports/sections/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr double sector_bytes = 32;

/// Two limits: of operations, and of bytes between L1 and the registers.
struct Roof {
  double peak_tflops = 0, tbytes_per_s = 0;
  double at(double operations_a_byte) const {
    return std::min(peak_tflops, operations_a_byte * tbytes_per_s);
  }
  double ridge() const { return peak_tflops / tbytes_per_s; }
};

/// The floating-point kind that most of a launch's operations are of.
struct Intensity {
  const Limits* limits = nullptr;
  const char* kind = "";
  Sum flops, bytes;
  double per_byte = 0;
  Roof roof;                     ///< the datasheet's
  std::optional<Roof> measured;  ///< this card's, where `doctor --peaks` measured both
  std::optional<double> achieved_tflops;
};

/// `share`: of the measured operations that are counted as one.
std::optional<Roof> measured_roof(const LaunchFacts& facts, const char* operations, double share) {
  const auto peak = facts.peaks->find(operations), l1 = facts.peaks->find("l1_read");
  if (peak == facts.peaks->end() || l1 == facts.peaks->end()) return std::nullopt;
  return Roof{peak->second * share, l1->second / 1000};
}

double l1_bytes_per_ns(const LaunchFacts& facts) {
  return facts.rates->l1_sectors * sector_bytes * facts.card->multiprocessors *
         facts.card->clock_ghz;
}

std::optional<Intensity> intensity_of(const Limits& limits) {
  struct Precision {
    const char *kind, *flops;
    double Rates::*rate;
    const char* peak;
    double share;  ///< see measured_roof
  };
  static constexpr std::array<Precision, 3> precisions = {
      {{"FP32", "flop_count_sp", &Rates::fp32, "fp32", 1},
       {"FP64", "flop_count_dp", &Rates::fp64, "fp64", 1},
       {"FP16 (a pair as one)", "flop_count_hp", &Rates::fp16, "fp16", 0.5}}};
  const LaunchFacts& facts = *limits.facts;
  if (facts.card == nullptr) return std::nullopt;
  Intensity most;
  most.limits = &limits;
  for (const Precision& precision : precisions) {
    const Sum flops = sum_of(*limits.subject, {precision.flops});
    if (!flops.missing.empty() || flops.value <= most.flops.value) continue;
    most.kind = precision.kind;
    most.flops = flops;
    most.roof = {facts.card->peak_tflops(facts.rates->*precision.rate),
                 l1_bytes_per_ns(facts) / 1000};
    most.measured = measured_roof(facts, precision.peak, precision.share);
  }
  most.bytes = sum_of(*limits.subject, l1_sector_counters());
  most.bytes.value *= sector_bytes;
  if (most.flops.value <= 0 || most.bytes.value <= 0) return std::nullopt;
  most.per_byte = most.flops.value / most.bytes.value;
  if (const auto duration = limits.subject->figure("duration").value; duration && *duration > 0) {
    most.achieved_tflops = most.flops.value / *duration / 1000;
  }
  return most;
}

Table roofline_table(const std::vector<Intensity>& all) {
  Table table;
  table.caption = "Roofline";
  table.columns = {Column::text("variant"),
                   Column::number("size", "", "", Kind::count),
                   Column::text("kind"),
                   Column::number("flops", "operations", "", Kind::count),
                   Column::number("l1_bytes", "bytes of L1", "", Kind::count),
                   Column::number("intensity", "operations a byte", "", Kind::quotient),
                   Column::number("roof", "the roof there", "TFLOP/s", Kind::quotient),
                   Column::number("achieved", "achieved", "TFLOP/s", Kind::quotient)};
  const bool has_measured = std::any_of(
      all.begin(), all.end(), [](const Intensity& one) { return one.measured.has_value(); });
  if (has_measured) {
    table.columns.push_back(
        Column::number("measured_roof", "this card's roof there", "TFLOP/s", Kind::quotient));
  }
  for (const Intensity& one : all) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*one.limits));
    row.push_back(size_of(*one.limits->group));
    row.emplace_back(one.kind);
    row.emplace_back(one.flops.value).mark = one.flops.mark;
    row.emplace_back(one.bytes.value).mark = one.bytes.mark;
    row.emplace_back(one.per_byte).mark = std::max(one.flops.mark, one.bytes.mark);
    row.emplace_back(one.roof.at(one.per_byte));
    row.push_back(one.achieved_tflops ? Cell(*one.achieved_tflops)
                                      : Cell(Missing{"the launch has no time"}));
    if (!has_measured) continue;
    row.push_back(one.measured ? Cell(one.measured->at(one.per_byte))
                               : Cell(Missing{"`warpmeter doctor --peaks` has not measured it"}));
  }
  return table;
}

/// "60 TFLOP/s of FP32, 30 TB/s of L1"
std::string in_words(const Roof& roof, const char* kind) {
  return fmt::format("{} TFLOP/s of {}, {} TB/s of L1",
                     readable_number(roof.peak_tflops, Zeros::trim), kind,
                     readable_number(roof.tbytes_per_s, Zeros::trim));
}

/// The roofs, and a line over the sizes for each variant of a family.
Plot roofline_plot(const std::vector<const Intensity*>& points) {
  const Intensity& first = *points.front();
  const LaunchFacts& facts = *first.limits->facts;
  std::set<double> xs = {first.roof.ridge()};
  if (first.measured) xs.insert(first.measured->ridge());
  std::map<std::string, std::map<double, double>> lines;
  std::vector<std::string> order;
  for (const Intensity* point : points) {
    const std::string& variant = point->limits->subject->variant;
    if (!lines.contains(variant)) order.push_back(variant);
    lines[variant][point->per_byte] =
        point->achieved_tflops.value_or(point->roof.at(point->per_byte));
    xs.insert(point->per_byte);
  }
  xs.insert({*xs.begin() / 2, *xs.rbegin() * 2});
  Plot plot;
  plot.form = Plot::Form::lines;
  plot.title = fmt::format("Roofline of {}{}", first.limits->group->family,
                           facts.device.empty() ? "" : " on " + facts.device);
  plot.description = fmt::format(
      "The roof is {}'s: {}. {}{}", facts.card->name, in_words(first.roof, first.kind),
      first.measured
          ? fmt::format("This card was measured at {}. ", in_words(*first.measured, first.kind))
          : "",
      first.achieved_tflops ? "A point is what a variant achieved."
                            : "Without times, a point shows the most that the roof allows.");
  plot.x = {"operations a byte of L1", true};
  plot.y = {"TFLOP/s", true};
  plot.data.columns = {Column::number("intensity", "operations a byte", "", Kind::quotient),
                       Column::number("roof", "", "", Kind::quotient)};
  if (first.measured) {
    plot.data.columns.push_back(Column::number("this card's roof", "", "", Kind::quotient));
  }
  for (const std::string& variant : order) {
    plot.data.columns.push_back(Column::number(variant, "", "", Kind::quotient));
  }
  for (const double x : xs) {
    auto& row = plot.data.rows.emplace_back();
    row.emplace_back(x);
    row.emplace_back(first.roof.at(x));
    if (first.measured) row.emplace_back(first.measured->at(x));
    for (const std::string& variant : order) {
      const auto found = lines[variant].find(x);
      row.push_back(found == lines[variant].end() ? Cell(Missing{}) : Cell(found->second));
    }
  }
  return plot;
}

}  // namespace

void add_roofline(Document& document, const std::vector<Limits>& all) {
  std::vector<Intensity> intensities;
  for (const Limits& limits : all) {
    if (auto intensity = intensity_of(limits)) intensities.push_back(std::move(*intensity));
  }
  if (intensities.empty()) return;
  document.heading(3, "Roofline");
  document.table(roofline_table(intensities));
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::vector<const Intensity*>> plots;
  for (const Intensity& one : intensities) {
    const Group& group = *one.limits->group;
    plots[{group.family, group.device_id, one.kind}].push_back(&one);
  }
  for (const auto& [key, points] : plots) document.plot(roofline_plot(points));
}

}  // namespace warpmeter::reports::sections
