// SPDX-License-Identifier: MIT
#include "reports/render/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "reports/record.h"
#include "reports/render/export.h"
#include "reports/render/user_section.h"
#include "reports/sections/sections.h"

namespace warpmeter::reports {
namespace {

const sections::Section& section_named(const std::string& name) {
  const auto all = sections::all_sections();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const sections::Section& s) { return s.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const sections::Section& section : all) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", section.name);
  }
  throw Error(
      ExitCode::usage,
      fmt::format("there is no section '{}'{}: there are {}, and files whose name ends in .sql",
                  name, did_you_mean(name, section_names()), names));
}

void add_all(Document& document, const sections::Source& source, Format format) {
  add_title(document, source);
  for (const sections::Section& section : sections::all_sections()) {
    if (section.in_short || format == Format::html) section.add(document, source);
  }
}

/// "limits: the resource that limits each variant, … (run -m @limits)", for one of our own.
std::string names_of(const std::vector<SectionChoice>& choices) {
  std::string names;
  for (const SectionChoice& choice : choices) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.name);
  }
  if (choices.size() != 1 || !choices.front().sql.empty()) return names;
  return fmt::format("{}: {}", names, section_named(names).meaning);
}

/// ".\nWithout a limit: app/reduce (…)": the reason why a section has nothing, where it knows one.
std::string why_nothing(const std::vector<SectionChoice>& choices, const sections::Source& source) {
  const bool has_limits = std::any_of(
      choices.begin(), choices.end(),
      [](const SectionChoice& choice) { return choice.sql.empty() && choice.name == "limits"; });
  return has_limits ? ".\n" + sections::why_no_limits(source) : "";
}

/// The sections that were chosen, or those that the format shows by itself.
Document document_of(const schema::Reader& reader, std::int64_t run_id,
                     const ReportOptions& options) {
  const RunRecord run = read_run(reader, run_id);
  const bool plots = options.format == Format::html ? options.plots : !options.plot_folder.empty();
  sections::Source source(reader, run, plots);
  source.is_interactive = plots && options.format == Format::html;
  Document document;
  for (const SectionChoice& choice : options.sections) {
    if (choice.sql.empty()) {
      section_named(choice.name).add(document, source);
    } else {
      add_user_section(document, reader, run_id, choice, options.limits);
    }
  }
  if (options.brief) {
    sections::add_brief(document, source);
  } else if (options.sections.empty()) {
    add_all(document, source, options.format);
  } else if (document.blocks.empty()) {
    throw Error(ExitCode::nothing,
                fmt::format("run {} has nothing for {}{}", run_id, names_of(options.sections),
                            why_nothing(options.sections, source)));
  }
  return document;
}

std::string rendered(const Document& document, const ReportOptions& options,
                     std::vector<PlotFile>& files) {
  switch (options.format) {
    case Format::table:
      return document_text(document, options.width);
    case Format::html:
      return document_html(document);
    case Format::csv:
      return document_csv(document);
    case Format::json:
      return document_json(document);
    case Format::markdown:
      break;
  }
  return options.plot_folder.empty() ? document_markdown(document)
                                     : document_markdown(document, options.plot_folder, files);
}

}  // namespace

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const sections::Section& section : sections::all_sections()) {
    names.emplace_back(section.name);
  }
  return names;
}

std::vector<PlotFile> write_report(const schema::Reader& reader, std::int64_t run_id,
                                   const ReportOptions& options, const Sink& sink) {
  require_run(reader, run_id);
  std::vector<PlotFile> files;
  const bool is_whole = options.sections.empty() && !options.brief;
  if (is_whole && options.format == Format::csv) {
    write_csv(reader, run_id, sink);
  } else if (is_whole && options.format == Format::json) {
    write_json(reader, run_id, sink);
  } else {
    sink(rendered(document_of(reader, run_id, options), options, files));
  }
  return files;
}

std::string render_report(const schema::Reader& reader, std::int64_t run_id, Format format,
                          std::size_t width) {
  ReportOptions options;
  options.format = format;
  options.width = width;
  std::string report;
  write_report(reader, run_id, options, [&](std::string_view text) {
    report += text;
    return true;
  });
  return report;
}

std::string render_comparison(const schema::Reader& reader, std::int64_t run_id, Format format,
                              std::size_t width) {
  if (format == Format::csv || format == Format::json) {
    return render_report(reader, run_id, format);
  }
  ReportOptions options;
  options.format = format;
  options.width = width;
  options.sections = {{"failures", ""}, {"comparison", ""}};
  require_run(reader, run_id);
  std::vector<PlotFile> files;
  return rendered(document_of(reader, run_id, options), options, files);
}

}  // namespace warpmeter::reports
