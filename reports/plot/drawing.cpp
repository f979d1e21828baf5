// SPDX-License-Identifier: MIT
#include "reports/plot/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/plot/stack.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t styles = 8;  // the styles of series, as the style sheet numbers them

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

constexpr std::string_view heat_style =
    ".c{fill:#1c2230}.b{font-weight:700}.best{stroke:#1c2230;stroke-width:2}.none{fill:none;stroke:"
    "#dfe3ea}"
    ".k0{fill:#f3f5f9}.k1{fill:#e5ecf8}.k2{fill:#d8e2f6}.k3{fill:#cad9f5}.k4{fill:#bcd0f4}.k5{fill:"
    "#afc7f2}.k6{fill:#a1bef1}.k7{fill:#94b4ef}.k8{fill:#86abee}"
    "@media(prefers-color-scheme:dark){.c{fill:#eef1f6}.best{stroke:#eef1f6}.none{stroke:#333b49}"
    ".k0{fill:#1b212b}.k1{fill:#1e283c}.k2{fill:#202f4e}.k3{fill:#22365f}.k4{fill:#253e70}.k5{fill:"
    "#284581}.k6{fill:#2a4c92}.k7{fill:#2c53a4}.k8{fill:#2f5ab5}}";

/// A value has a seam of its part's colour, so that no pattern runs through it.
constexpr std::string_view stack_style =
    ".i{stroke:#fff;stroke-opacity:.55;stroke-width:1.5;stroke-linecap:round}"
    ".n{font-size:11px;fill:#fff;stroke-width:4;paint-order:stroke;stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){.i{stroke:#14181f}.n{fill:#14181f}}";

constexpr std::array<std::string_view, 4> dashes = {"", "7 4", "2 3", "9 3 2 3"};

std::size_t style_of(std::size_t series) { return series % styles; }

}  // namespace

std::string svg_file(std::string_view title, std::string_view description, double width,
                     double height, std::string_view style, std::string_view body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"t d\">\n"
      "<title id=\"t\">{2}</title>\n<desc id=\"d\">{3}</desc>\n<style>{4}</style>\n"
      "<rect class=\"bg\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{5}</svg>\n",
      width, height, svg_text(title), svg_text(description), style, body);
}

std::string svg_text(std::string_view text) { return escaped_markup(printable(text), "&<>\""); }

std::string shortened(std::string_view text, std::size_t longest) {
  const std::string whole = printable(text);
  if (display_width(whole) <= longest) return whole;
  return wrapped(whole, longest - 1).front() + "…";
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

std::string short_text(const Column& column, const Cell& cell) {
  const std::string& mark = cell.mark;
  return cell_text(column, cell).body + (mark.empty() ? "" : " " + mark);
}

void Drawing::text(double x, double y, std::string_view anchor, std::string_view kind,
                   std::string_view words) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"", x, y);
  if (anchor != "start") body_ += fmt::format(" text-anchor=\"{}\"", anchor);
  if (!kind.empty()) body_ += fmt::format(" class=\"{}\"", kind);
  body_ += ">" + svg_text(words) + "</text>\n";
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view kind) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, kind);
}

void Drawing::bar(double x, double y, double wide, double tall, std::size_t series,
                  std::string_view title) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"s{}\">"
      "<title>{}</title></rect>\n",
      x, y, std::max(wide, 1.0), tall, style_of(series), svg_text(title));
}

void Drawing::point(double x, double y, std::size_t series, std::string_view title) {
  constexpr std::array<std::string_view, 4> shapes = {
      "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.6 -3.6h7.2v7.2h-7.2z", "M0 -5l5 5l-5 5l-5 -5z",
      "M0 -4.8l4.8 8.4h-9.6z"};
  body_ += fmt::format("<path d=\"{}\" transform=\"translate({:.1f} {:.1f})\" class=\"s{}\">",
                       shapes[series % shapes.size()], x, y, style_of(series));
  if (!title.empty()) body_ += "<title>" + svg_text(title) + "</title>";
  body_ += "</path>\n";
}

void Drawing::part(double x, double y, double wide, double tall, std::size_t series,
                   std::string_view words, std::string_view title) {
  body_ += "<g>";
  if (!title.empty()) body_ += "<title>" + svg_text(title) + "</title>";
  const std::string box =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", x, y,
                  std::max(wide - 1, 0.5), tall);
  body_ += fmt::format("{} class=\"s{}\" stroke-width=\"0\"/>", box, style_of(series));
  if (has_pattern(series)) body_ += fmt::format("{} fill=\"url(#p{})\"/>", box, style_of(series));
  if (!words.empty()) {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"s{} n\">{}</text>",
        x + wide / 2, y + tall / 2 + 4, style_of(series), svg_text(words));
  }
  body_ += "</g>\n";
}

void Drawing::polyline(const std::string& points, std::size_t series) {
  body_ +=
      fmt::format("<polyline points=\"{}\" class=\"s{} l\" stroke-dasharray=\"{}\"/>\n", points,
                  style_of(series), dashes[(series / styles + series) % dashes.size()]);
}

std::string Drawing::file(const Plot& plot) const {
  const std::string_view more = plot.form == Plot::Form::heat    ? heat_style
                                : plot.form == Plot::Form::stack ? stack_style
                                                                 : "";
  return svg_file(plot.title, plot.description, width, height,
                  std::string(style_sheet) + std::string(more), body_);
}

void Drawing::cell(double x, double y, double wide, double tall, std::string_view kind,
                   std::string_view words, std::string_view title) {
  body_ += fmt::format(
      "<g>{}<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "class=\"{}\"/>",
      title.empty() ? "" : "<title>" + svg_text(title) + "</title>", x, y, wide, tall, kind);
  if (!words.empty()) {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"v c{}\">{}</text>",
        x + wide / 2, y + tall / 2 + 4, kind.ends_with("best") ? " b" : "", svg_text(words));
  }
  body_ += "</g>\n";
}

}  // namespace warpmeter::reports
