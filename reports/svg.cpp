// Plots as SVG files, for markdown. Written by hand because the program is one file that runs on
// machines where no plotting program is installed, and rectangles, lines and text are all it needs.
//
// Colours follow the reader's light or dark mode. Series differ in shape or dashes too, values are
// written out, and each mark has a title that browsers show on hover when the file is opened.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/number.h"
#include "reports/plot.h"
#include "reports/scale.h"

namespace warpmeter::reports {
namespace {

constexpr double picture_width = 760, right_margin = 24, character = 6.9;
constexpr std::size_t longest_label = 34;  // characters; a title has the whole of it
constexpr std::size_t styles = 8;          // of series, as the style sheet numbers them

constexpr std::string_view style_sheet =
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;fill:#3b4252}"
    ".h{font-size:14px;font-weight:600;fill:#1c2230}.v{font-size:11px}"
    ".g{stroke:#dfe3ea}.w{stroke:#1c2230;stroke-width:1.2}.r{stroke:#b3261e;stroke-width:1.5;"
    "stroke-dasharray:5 4}.rt{fill:#b3261e}.l{fill:none;stroke-width:2}"
    ".s0{fill:#2f5fc4;stroke:#2f5fc4}.s1{fill:#c2570c;stroke:#c2570c}.s2{fill:#10795c;stroke:#"
    "10795c}"
    ".s3{fill:#9a3b8f;stroke:#9a3b8f}.s4{fill:#86680a;stroke:#86680a}.s5{fill:#0b7a94;stroke:#"
    "0b7a94}"
    ".s6{fill:#b3344f;stroke:#b3344f}.s7{fill:#5b6472;stroke:#5b6472}"
    "polyline.l{fill:none}.bg{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#c3cad6}.h{fill:#eef1f6}.g{stroke:#333b49}"
    ".w{stroke:#eef1f6}.r{stroke:#ff8f85}.rt{fill:#ff8f85}.bg{fill:#14181f}"
    ".s0{fill:#86aaff;stroke:#86aaff}.s1{fill:#ff9d57;stroke:#ff9d57}.s2{fill:#4fd0a5;stroke:#"
    "4fd0a5}"
    ".s3{fill:#e490da;stroke:#e490da}.s4{fill:#e0bf4b;stroke:#e0bf4b}.s5{fill:#5cc8e3;stroke:#"
    "5cc8e3}"
    ".s6{fill:#ff8fa5;stroke:#ff8fa5}.s7{fill:#a9b2c0;stroke:#a9b2c0}polyline.l{fill:none}}";

constexpr std::array<std::string_view, 4> dashes = {"", "7 4", "2 3", "9 3 2 3"};

/// Text of an element or attribute. Printable text holds no control characters, which XML forbids.
std::string escaped(std::string_view text) { return escaped_markup(printable(text), "&<>\""); }

std::string shortened(std::string_view text) {
  const std::string whole = printable(text);
  if (display_width(whole) <= longest_label) return whole;
  return wrapped(whole, longest_label - 1).front() + "…";
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value))
    return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&cell.value);
  return real != nullptr && std::isfinite(*real) ? std::optional(*real) : std::nullopt;
}

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell.value);
  return text != nullptr ? *text : "";
}

std::string value_text(const Column& column, const Cell& cell) {
  const CellText text = cell_text(column, cell);
  return text.body + text.tail;
}

/// The value alone, for the end of a bar.
std::string short_text(const Column& column, const Cell& cell) {
  const std::string& mark = cell.mark;
  return cell_text(column, cell).body + (mark.empty() ? "" : " " + mark);
}

std::size_t style_of(std::size_t series) { return series % styles; }

/// The drawing: elements from the top down, and how tall it has become.
class Drawing {
 public:
  double height = 0;

  void text(double x, double y, std::string_view anchor, std::string_view kind,
            std::string_view words) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
    if (anchor != "start") body_ += fmt::format(" text-anchor=\"{}\"", anchor);
    if (!kind.empty()) body_ += fmt::format(" class=\"{}\"", kind);
    body_ += ">" + escaped(words) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, std::string_view kind) {
    body_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1,
        x2, y2, kind);
  }
  void bar(double x, double y, double wide, double tall, std::size_t series,
           std::string_view title) {
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"s{}\">"
        "<title>{}</title></rect>\n",
        x, y, std::max(wide, 1.0), tall, style_of(series), escaped(title));
  }
  /// Series differ in shape: circle, square, diamond, triangle.
  void point(double x, double y, std::size_t series, std::string_view title) {
    constexpr std::array<std::string_view, 4> shapes = {
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.6 -3.6h7.2v7.2h-7.2z", "M0 -5l5 5l-5 5l-5 -5z",
        "M0 -4.8l4.8 8.4h-9.6z"};
    body_ += fmt::format("<path d=\"{}\" transform=\"translate({:.1f} {:.1f})\" class=\"s{}\">",
                         shapes[series % shapes.size()], x, y, style_of(series));
    if (!title.empty()) body_ += "<title>" + escaped(title) + "</title>";
    body_ += "</path>\n";
  }
  void polyline(const std::string& points, std::size_t series) {
    body_ +=
        fmt::format("<polyline points=\"{}\" class=\"s{} l\" stroke-dasharray=\"{}\"/>\n", points,
                    style_of(series), dashes[(series / styles + series) % dashes.size()]);
  }

  std::string file(const Plot& plot) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">{2}</title>\n"
        "<desc id=\"d\">{3}</desc>\n<style>{4}</style>\n"
        "<rect class=\"bg\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{5}</svg>\n",
        picture_width, height, escaped(plot.title), escaped(plot.description), style_sheet, body_);
  }

 private:
  std::string body_;
};

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
  }
  return drawing.file(plot);
}

}  // namespace warpmeter::reports
