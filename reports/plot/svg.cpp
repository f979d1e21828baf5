// SPDX-License-Identifier: MIT
// Plots as SVG files, for markdown. Written by hand because the program is one file that runs on
// machines where no plotting program is installed, and rectangles, lines and text are all it needs.
//
// Colours follow the reader's light or dark mode. Series differ in shape or dashes too, values are
// written out, and each mark has a title that browsers show on hover when the file is opened.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "reports/plot/drawing.h"
#include "reports/plot/plot.h"
#include "reports/plot/scale.h"
#include "reports/plot/stack.h"

namespace warpmeter::reports {
namespace {

/// A row of names below the title, as many rows as they need.
void draw_legend(Drawing& drawing, const std::vector<std::string>& names) {
  double x = 16;
  double y = drawing.height + 12;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = shortened(names[i]);
    const double wide = 26 + character * static_cast<double>(display_width(name));
    if (x + wide > picture_width - right_margin && x > 16) {
      x = 16;
      y += 20;
    }
    drawing.point(x + 6, y - 4, i, "");
    drawing.text(x + 16, y, "start", "", name);
    x += wide + 8;
  }
  drawing.height = y + 14;
}

struct Frame {
  double left = 0, top = 0, wide = 0, tall = 0;
  double x(double place) const { return left + place * wide; }
  double y(double place) const { return top + (1 - place) * tall; }
};

void draw_x_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                 const std::string& label) {
  for (const double tick : scale.ticks()) {
    const double x = frame.x(scale.place(tick));
    drawing.line(x, frame.top, x, frame.top + frame.tall, "g");
    drawing.text(x, frame.top + frame.tall + 17, "middle", "v", tick_text(tick));
  }
  drawing.text(frame.x(0.5), frame.top + frame.tall + 36, "middle", "", label);
  drawing.height = frame.top + frame.tall + 48;
}

void draw_y_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                 const std::string& label) {
  for (const double tick : scale.ticks()) {
    const double y = frame.y(scale.place(tick));
    drawing.line(frame.left, y, frame.left + frame.wide, y, "g");
    drawing.text(frame.left - 8, y + 4, "end", "v", tick_text(tick));
  }
  drawing.text(16, frame.top - 10, "start", "", label);
}

std::vector<double> values_in(const Table& data, std::size_t first_column,
                              std::size_t last_column) {
  std::vector<double> values;
  for (const auto& row : data.rows) {
    for (std::size_t i = first_column; i <= last_column; ++i) {
      const auto value = number_of(row[i]);
      if (!value) continue;
      values.push_back(*value);
      if (row[i].range) values.insert(values.end(), {row[i].range->low, row[i].range->high});
    }
  }
  return values;
}

std::vector<std::string> series_names(const Table& data) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < data.columns.size(); ++i)
    names.push_back(heading_of(data.columns[i]));
  return names;
}

void draw_bars(Drawing& drawing, const Plot& plot) {
  const std::size_t series = plot.series_count();
  if (series > 1) draw_legend(drawing, series_names(plot.data));
  std::size_t widest = 0, widest_value = 0;
  for (const auto& row : plot.data.rows) {
    widest = std::max(widest, display_width(shortened(text_of(row[0]))));
    for (std::size_t i = 1; i <= series; ++i) {
      widest_value =
          std::max(widest_value, display_width(short_text(plot.data.columns[i], row[i])));
    }
  }
  std::vector<double> values = values_in(plot.data, 1, series);
  if (plot.reference) values.push_back(plot.reference->value);
  const Scale scale(values, plot.x.logarithmic);
  const double thick = series > 1 ? 13 : 18;
  const double each = thick * static_cast<double>(series) + 10;
  Frame frame;
  frame.left = 28 + character * static_cast<double>(widest);
  frame.wide =
      picture_width - frame.left - right_margin - 6.4 * static_cast<double>(widest_value) - 8;
  frame.top = drawing.height + (plot.reference ? 22 : 6);
  frame.tall = each * static_cast<double>(plot.data.rows.size());
  draw_x_axis(drawing, frame, scale, plot.x.label);
  double y = frame.top + 5;
  for (const auto& row : plot.data.rows) {
    const std::string name = text_of(row[0]);
    drawing.text(frame.left - 8, y + each / 2 - 1, "end", "", shortened(name));
    for (std::size_t i = 1; i <= series; ++i, y += thick) {
      const auto value = number_of(row[i]);
      const std::string shown = value_text(plot.data.columns[i], row[i]);
      double end = frame.left;
      if (value) {
        end = frame.x(scale.place(*value));
        drawing.bar(frame.left, y, end - frame.left, thick - 1, i - 1, name + ": " + shown);
        if (row[i].range) {
          const double low = frame.x(scale.place(row[i].range->low));
          const double high = frame.x(scale.place(row[i].range->high));
          drawing.line(low, y + thick / 2, high, y + thick / 2, "w");
          end = std::max(end, high);
        }
      }
      drawing.text(end + 5, y + thick / 2 + 4, "start", "v",
                   short_text(plot.data.columns[i], row[i]));
    }
    y += 10;
  }
  if (!plot.reference) return;
  const double x = frame.x(scale.place(plot.reference->value));
  drawing.line(x, frame.top - 4, x, frame.top + frame.tall, "r");
  drawing.text(x, frame.top - 9, "end", "v rt", plot.reference->label);
}

Frame square_frame(const Drawing& drawing) {
  return {72, drawing.height + 22, picture_width - 72 - right_margin - 8, 300};
}

void draw_horizontal_reference(Drawing& drawing, const Frame& frame, const Scale& scale,
                               const Plot::Reference& reference) {
  const double y = frame.y(scale.place(reference.value));
  drawing.line(frame.left, y, frame.left + frame.wide, y, "r");
  drawing.text(frame.left + frame.wide - 4, y - 5, "end", "v rt", reference.label);
}

/// The marks of one line: what is best or as good, and at the bottom the word for a point that is
/// not there. On several lines these would lie on one another.
void draw_marks(Drawing& drawing, const Plot& plot, const Frame& frame, const Scale& across,
                const Scale& up) {
  for (const auto& row : plot.data.rows) {
    const auto x = number_of(row[0]), y = number_of(row[1]);
    if (!x) continue;
    const auto* missing = std::get_if<Missing>(&row[1].value);
    const bool is_ranked = is_best(row[1]) || row[1].mark.find(as_good_mark) != std::string::npos;
    if (y && is_ranked) {
      drawing.text(frame.x(across.place(*x)), frame.y(up.place(*y)) - 8, "middle", "v",
                   row[1].mark);
    } else if (missing != nullptr && missing->word != Missing().word) {
      drawing.text(frame.x(across.place(*x)), frame.top + frame.tall - 6, "middle", "v",
                   missing->word);
    }
  }
}

void draw_lines(Drawing& drawing, const Plot& plot) {
  const std::size_t series = plot.series_count();
  draw_legend(drawing, series_names(plot.data));
  std::vector<double> values = values_in(plot.data, 1, series);
  if (plot.reference) values.push_back(plot.reference->value);
  constexpr std::size_t most_marks = 8;  // sizes that can be written below one another
  const std::vector<double> sizes = values_in(plot.data, 0, 0);
  const Scale across = sizes.size() <= most_marks ? Scale::at(sizes, plot.x.logarithmic)
                                                  : Scale(sizes, plot.x.logarithmic);
  const Scale up(values, plot.y.logarithmic);
  const Frame frame = square_frame(drawing);
  draw_y_axis(drawing, frame, up, plot.y.label);
  draw_x_axis(drawing, frame, across, plot.x.label);
  if (plot.reference) draw_horizontal_reference(drawing, frame, up, *plot.reference);
  for (std::size_t i = 1; i <= series; ++i) {
    const Column& column = plot.data.columns[i];
    std::string path;
    for (const auto& row : plot.data.rows) {
      const auto x = number_of(row[0]), y = number_of(row[i]);
      if (!x || !y) continue;
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", frame.x(across.place(*x)),
                          frame.y(up.place(*y)));
    }
    drawing.polyline(path, i - 1);
    for (const auto& row : plot.data.rows) {
      const auto x = number_of(row[0]), y = number_of(row[i]);
      if (!x || !y) continue;
      drawing.point(frame.x(across.place(*x)), frame.y(up.place(*y)), i - 1,
                    fmt::format("{}: {} at {}", heading_of(column), value_text(column, row[i]),
                                value_text(plot.data.columns[0], row[0])));
    }
    if (series == 1) draw_marks(drawing, plot, frame, across, up);
  }
}

void draw_points(Drawing& drawing, const Plot& plot) {
  std::vector<std::string> groups;
  for (const auto& row : plot.data.rows) {
    const std::string group = text_of(row[1]);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  draw_legend(drawing, groups);
  std::vector<double> xs = values_in(plot.data, 2, 2), ys = values_in(plot.data, 3, 3);
  const Scale across(xs, plot.x.logarithmic), up(ys, plot.y.logarithmic);
  const Frame frame = square_frame(drawing);
  draw_y_axis(drawing, frame, up, plot.y.label);
  draw_x_axis(drawing, frame, across, plot.x.label);
  if (plot.diagonal) {
    const double low = std::max(across.ticks().front(), up.ticks().front());
    const double high = std::min(across.ticks().back(), up.ticks().back());
    if (low < high) {
      drawing.line(frame.x(across.place(low)), frame.y(up.place(low)), frame.x(across.place(high)),
                   frame.y(up.place(high)), "r");
    }
  }
  for (const auto& row : plot.data.rows) {
    const auto x = number_of(row[2]), y = number_of(row[3]);
    if (!x || !y) continue;
    const auto group = std::find(groups.begin(), groups.end(), text_of(row[1])) - groups.begin();
    drawing.point(
        frame.x(across.place(*x)), frame.y(up.place(*y)), static_cast<std::size_t>(group),
        fmt::format("{}: {}, {}", text_of(row[0]), value_text(plot.data.columns[2], row[2]),
                    value_text(plot.data.columns[3], row[3])));
  }
}

}  // namespace

std::string render_svg(const Plot& plot) {
  Drawing drawing;
  drawing.text(16, 24, "start", "h", plot.title);
  drawing.height = 38;
  switch (plot.form) {
    case Plot::Form::bars:
      draw_bars(drawing, plot);
      break;
    case Plot::Form::lines:
      draw_lines(drawing, plot);
      break;
    case Plot::Form::points:
      draw_points(drawing, plot);
      break;
    case Plot::Form::stack:
      draw_stack(drawing, plot);
      break;
    case Plot::Form::heat:
      draw_heat(drawing, plot);
      break;
  }
  return drawing.file(plot);
}

}  // namespace warpmeter::reports
