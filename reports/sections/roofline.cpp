// SPDX-License-Identifier: MIT
// The roofline's tables and pictures. A point lies where a kernel's operations a byte meet its
// operations a second; on the model, which has no time, it lies under the lowest of its roofs.
#include "reports/sections/roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "reports/sections/roofline_points.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_series = 12;
constexpr const char* no_time = "the launch has no time";
constexpr const char* no_datasheet = "no datasheet on the list has this peak";
constexpr const char* not_measured = "`warpmeter doctor --peaks` has not measured it";

Cell cell_of(const std::optional<double>& value, const char* missing) {
  return value ? Cell(*value) : Cell(Missing{missing});
}

Cell cell_of(const std::optional<Roof>& roof, double per_byte, const char* missing) {
  return roof ? Cell(roof->at(per_byte)) : Cell(Missing{missing});
}

using Points = std::vector<const RooflinePoint*>;

/// Floating-point operations have a unit that others have not.
std::string unit_of(const Points& points) {
  const bool are_floating = std::all_of(points.begin(), points.end(),
                                        [](const auto* point) { return point->kind->is_floating; });
  return are_floating ? "TFLOP/s" : "TOP/s";
}

template <class Point>
bool has_measured(const std::vector<Point>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const Point& point) { return point.roof.measured.has_value(); });
}

Table roofline_table(const std::vector<RooflinePoint>& all) {
  Points points;
  for (const RooflinePoint& point : all) points.push_back(&point);
  const std::string unit = unit_of(points);
  Table table;
  table.caption = "Roofline";
  table.columns = {Column::text("variant"),
                   Column::number("size", "", "", Kind::count),
                   Column::text("kind"),
                   Column::text("memory"),
                   Column::number("operations", "operations", "", Kind::count),
                   Column::number("bytes", "bytes", "", Kind::count),
                   Column::number("intensity", "operations a byte", "", Kind::quotient),
                   Column::number("roof", "the roof there", unit, Kind::quotient),
                   Column::number("achieved", "achieved", unit, Kind::quotient)};
  const bool shows_measured = has_measured(all);
  if (shows_measured) {
    table.columns.push_back(
        Column::number("measured_roof", "this card's roof there", unit, Kind::quotient));
  }
  for (const RooflinePoint& point : all) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*point.limits));
    row.push_back(size_of(*point.limits->group));
    row.emplace_back(point.kind->name);
    row.emplace_back(point.traffic.title());
    row.push_back(cell_of(point.operations));
    row.push_back(cell_of(point.traffic.bytes));
    row.emplace_back(point.per_byte()).mark = point.mark();
    row.push_back(cell_of(point.roof.documented, point.per_byte(), no_datasheet));
    row.push_back(cell_of(point.achieved, no_time));
    if (!shows_measured) continue;
    row.push_back(cell_of(point.roof.measured, point.per_byte(), not_measured));
  }
  return table;
}

Table bytes_table(const std::vector<BytesPoint>& points) {
  Table table;
  table.caption = "Bytes of kernels without floating-point operations";
  table.columns = {Column::text("variant"),
                   Column::number("size", "", "", Kind::count),
                   Column::text("memory"),
                   Column::number("bytes", "bytes", "", Kind::count),
                   Column::number("bandwidth_roof", "the roof", "TB/s", Kind::quotient),
                   Column::number("achieved_bytes", "achieved", "TB/s", Kind::quotient)};
  const bool shows_measured = has_measured(points);
  if (shows_measured) {
    table.columns.push_back(
        Column::number("measured_bandwidth_roof", "this card's roof", "TB/s", Kind::quotient));
  }
  for (const BytesPoint& point : points) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*point.limits));
    row.push_back(size_of(*point.limits->group));
    row.emplace_back(point.traffic.title());
    row.push_back(cell_of(point.traffic.bytes));
    row.push_back(cell_of(point.roof.documented, no_datasheet));
    row.push_back(cell_of(point.achieved, no_time));
    if (shows_measured) row.push_back(cell_of(point.roof.measured, not_measured));
  }
  return table;
}

// ---- pictures

/// The roofs that some point is below, by memory: the datasheet's and this card's.
struct Roofs {
  std::map<Memory, Roof> documented, measured;

  explicit Roofs(const Points& points) {
    for (const RooflinePoint* point : points) {
      const Memory memory = point->traffic.memory;
      if (point->roof.documented) documented.emplace(memory, *point->roof.documented);
      if (point->roof.measured) measured.emplace(memory, *point->roof.measured);
    }
  }
  bool empty() const { return documented.empty() && measured.empty(); }
  bool has(Memory memory) const { return documented.contains(memory) || measured.contains(memory); }
};

const char* unit_name(const OperationKind& kind) {
  return kind.unit != nullptr ? kind.unit : kind.name;
}

/// "60 TFLOP/s of FP32, 30 TB/s of L1"
std::string in_words(const std::map<Memory, Roof>& roofs, const OperationKind& kind) {
  std::vector<std::string> words = {
      fmt::format("{} {} of {}", readable_number(roofs.begin()->second.peak, Zeros::trim),
                  kind.is_floating ? "TFLOP/s" : "TOP/s", unit_name(kind))};
  for (const auto& [memory, roof] : roofs) {
    words.push_back(fmt::format("{} TB/s of {}", readable_number(roof.tbytes_per_s, Zeros::trim),
                                name_of(memory)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string description_of(const Points& points, const Roofs& roofs) {
  const OperationKind& kind = *points.front()->kind;
  const LaunchFacts& facts = *points.front()->limits->facts;
  std::string text;
  if (!roofs.documented.empty()) {
    text +=
        fmt::format("The roofs are {}'s: {}. ", facts.card->name, in_words(roofs.documented, kind));
  }
  if (!roofs.measured.empty()) {
    text += fmt::format("This card was measured at {}. ", in_words(roofs.measured, kind));
  }
  text += points.front()->achieved ? "A point is what a kernel achieved."
                                   : "Without times, a point lies under the lowest of its roofs.";
  const bool has_least = std::any_of(points.begin(), points.end(),
                                     [](const auto* point) { return point->traffic.is_least; });
  if (has_least) {
    text +=
        " “At least” are the bytes of input and output, each once: the point lies further left "
        "where more moved.";
  }
  return text;
}

/// Columns of the roofs, and one for each series of points; a row for each point, and for each bend
/// of a roof, from left to right.
void fill(Plot& plot, const Roofs& roofs,
          const std::vector<std::pair<std::string, Points>>& series) {
  plot.data.columns = {Column::number("intensity", "operations a byte", "", Kind::quotient)};
  std::vector<Roof> lines;
  const auto add_lines = [&](const std::map<Memory, Roof>& some, const char* whose) {
    for (const auto& [memory, roof] : some) {
      plot.data.columns.push_back(Column::number(
          fmt::format("roof of {}{}", name_of(memory), whose), "", "", Kind::quotient));
      lines.push_back(roof);
    }
  };
  add_lines(roofs.documented, "");
  add_lines(roofs.measured, ", this card");
  struct Mark {
    double x = 0, y = 0;
    std::size_t series = 0;
  };
  std::vector<Mark> marks;
  std::set<double> bends;
  for (const Roof& roof : lines) bends.insert(roof.ridge());
  for (std::size_t i = 0; i < series.size(); ++i) {
    plot.data.columns.push_back(Column::number(series[i].first, "", "", Kind::quotient));
    for (const RooflinePoint* point : series[i].second) {
      marks.push_back({point->per_byte(), point->achieved.value_or(point->most), i});
      bends.insert(point->per_byte());
    }
  }
  const double left = *bends.begin() / 2, right = *bends.rbegin() * 2;
  for (const double x : {left, right}) bends.insert(x);
  const auto add_row = [&](double x, const Mark* mark) {
    auto& row = plot.data.rows.emplace_back();
    row.emplace_back(x);
    for (const Roof& roof : lines) row.emplace_back(roof.at(x));
    for (std::size_t i = 0; i < series.size(); ++i) {
      row.push_back(mark != nullptr && mark->series == i ? Cell(mark->y) : Cell(Missing{}));
    }
  };
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.x < b.x; });
  for (const double x : bends) {
    bool has_mark = false;
    for (const Mark& mark : marks) {
      if (mark.x != x) continue;
      add_row(x, &mark);
      has_mark = true;
    }
    if (!has_mark) add_row(x, nullptr);
  }
}

bool have_times(const Points& points) {
  return std::all_of(points.begin(), points.end(),
                     [](const auto* point) { return point->achieved.has_value(); });
}

/// A kernel's time in the run; its operations where some kernel has no time.
double weight_of(const RooflinePoint& point, bool has_time) {
  const Subject& subject = *point.limits->subject;
  return has_time
             ? subject.figure("duration").value.value_or(0) * static_cast<double>(subject.count())
             : point.operations.value;
}

/// The names whose points weigh most, in the order in which they first appear; of more than
/// most_series, those are left out that weigh least.
template <class Name>
std::vector<std::string> names_of(const Points& points, std::size_t& count, const Name& name) {
  std::vector<std::string> names;
  std::map<std::string, double> weights;
  const bool has_times = have_times(points);
  for (const RooflinePoint* point : points) {
    const std::string own = name(*point);
    if (!weights.contains(own)) names.push_back(own);
    weights[own] = std::max(weights[own], weight_of(*point, has_times));
  }
  count = names.size();
  if (names.size() <= most_series) return names;
  std::vector<double> heaviest;
  for (const auto& [own, weight] : weights) heaviest.push_back(weight);
  std::nth_element(heaviest.begin(), heaviest.begin() + most_series - 1, heaviest.end(),
                   std::greater<>());
  const double least = heaviest[most_series - 1];
  std::erase_if(names, [&](const std::string& own) { return weights[own] < least; });
  if (names.size() > most_series) names.resize(most_series);
  return names;
}

Plot plot_of(const std::string& title, const Points& points, const Roofs& roofs) {
  const LaunchFacts& facts = *points.front()->limits->facts;
  Plot plot;
  plot.form = Plot::Form::lines;
  plot.title = fmt::format("Roofline of {}, {}{}", title, points.front()->kind->name,
                           facts.device.empty() ? "" : ", on " + facts.device);
  plot.description = description_of(points, roofs);
  plot.x = {"operations a byte", true};
  plot.y = {unit_of(points), true};
  return plot;
}

/// `points`: those of which names_of took `shown` names of `count`.
std::string left_out_text(const Points& points, std::size_t shown, std::size_t count,
                          const char* what) {
  if (shown == count) return "";
  return have_times(points)
             ? fmt::format(" The {} longest of {} {}.", shown, count, what)
             : fmt::format(" The {} of {} {} with most operations.", shown, count, what);
}

/// The memories that a picture of so many variants has room for: L1 first, but those without a roof
/// last. `is_cut`: true if it has none for some.
std::set<Memory> memories_shown(const Points& points, std::size_t variants, bool& is_cut) {
  const Roofs roofs(points);
  std::array memories = {Memory::l1, Memory::device, Memory::l2};
  std::stable_partition(memories.begin(), memories.end(),
                        [&](Memory memory) { return roofs.has(memory); });
  std::set<Memory> shown;
  for (const Memory memory : memories) {
    const bool is_there = std::any_of(points.begin(), points.end(), [&](const auto* point) {
      return point->traffic.memory == memory;
    });
    if (!is_there) continue;
    const bool fits = shown.empty() || (shown.size() + 1) * variants <= most_series;
    if (fits) shown.insert(memory);
    is_cut = is_cut || !fits;
  }
  return shown;
}

/// A line over the sizes for each variant of a family and each memory.
void add_family_plot(Document& document, const Points& points) {
  std::size_t count = 0;
  const std::vector<std::string> variants = names_of(
      points, count, [](const RooflinePoint& point) { return point.limits->subject->variant; });
  std::vector<std::pair<std::string, Points>> series;
  Points drawn;
  bool is_cut = false;
  const std::set<Memory> memories = memories_shown(points, variants.size(), is_cut);
  for (const std::string& variant : variants) {
    for (const Memory memory : memories) {
      Points own;
      for (const RooflinePoint* point : points) {
        const bool is_own =
            point->limits->subject->variant == variant && point->traffic.memory == memory;
        if (is_own) own.push_back(point);
      }
      if (own.empty()) continue;
      drawn.insert(drawn.end(), own.begin(), own.end());
      series.emplace_back(fmt::format("{}: {}", variant, own.front()->traffic.title()), own);
    }
  }
  const Roofs roofs(drawn);
  if (roofs.empty()) return;
  Plot plot = plot_of(drawn.front()->limits->group->family, drawn, roofs);
  plot.description += left_out_text(points, variants.size(), count, "variants");
  if (is_cut) plot.description += " The table has the other memories.";
  fill(plot, roofs, series);
  document.plot(std::move(plot));
}

/// A line over the memories for each kernel of a run.
void add_run_plot(Document& document, const Points& points) {
  const Roofs roofs(points);
  if (roofs.empty()) return;
  std::size_t count = 0;
  const auto name = [](const RooflinePoint& point) { return name_of(*point.limits); };
  std::vector<std::pair<std::string, Points>> series;
  for (const std::string& kernel : names_of(points, count, name)) {
    Points own;
    for (const RooflinePoint* point : points) {
      if (name(*point) == kernel) own.push_back(point);
    }
    series.emplace_back(kernel, std::move(own));
  }
  Plot plot = plot_of("all families", points, roofs);
  plot.description += " Each family is at its largest size, with a point for each memory." +
                      left_out_text(points, series.size(), count, "kernels");
  fill(plot, roofs, series);
  document.plot(std::move(plot));
}

/// `largest`: the limits of each family at its largest size.
void add_plots(Document& document, const std::vector<RooflinePoint>& all,
               const std::set<const Limits*>& largest) {
  std::map<std::tuple<std::int64_t, std::string>, Points> of_run;
  std::map<std::tuple<std::string, std::int64_t, std::string>, Points> of_family;
  std::map<std::tuple<std::int64_t, std::string>, std::set<std::string>> families;
  for (const RooflinePoint& point : all) {
    const Group& group = *point.limits->group;
    of_family[{group.family, group.device_id, point.kind->name}].push_back(&point);
    if (!largest.contains(point.limits)) continue;
    of_run[{group.device_id, point.kind->name}].push_back(&point);
    families[{group.device_id, point.kind->name}].insert(group.family);
  }
  for (const auto& [key, points] : of_run) {
    if (families[key].size() > 1) add_run_plot(document, points);
  }
  for (const auto& [key, points] : of_family) add_family_plot(document, points);
}

}  // namespace

void add_roofline(Document& document, const std::vector<Limits>& all,
                  const std::vector<const Limits*>& largest) {
  std::vector<RooflinePoint> points;
  std::vector<BytesPoint> bytes;
  for (const Limits& limits : all) {
    for (RooflinePoint& point : points_of(limits)) points.push_back(std::move(point));
    for (BytesPoint& point : bytes_points_of(limits)) bytes.push_back(std::move(point));
  }
  if (points.empty() && bytes.empty()) return;
  document.heading(3, "Roofline");
  if (!points.empty()) document.table(roofline_table(points));
  for (const RooflinePoint& point : points) {
    if (point.kind->unit == nullptr) continue;
    document.paragraph(
        fmt::format("The roof of {} is the peak of the {}.", point.kind->name, point.kind->unit));
    break;
  }
  if (!bytes.empty()) document.table(bytes_table(bytes));
  add_plots(document, points, {largest.begin(), largest.end()});
}

}  // namespace warpmeter::reports::sections
