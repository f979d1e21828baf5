// SPDX-License-Identifier: MIT
// Writes the reports of the test runs into a folder, as HTML for the test that drives a browser and
// as JSON, whole and by sections, for the test of its schema.
//
//   write_pages FOLDER [million]
//
// million.html, where it is asked for, has the timeline of a million activities.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/explain/explain.h"
#include "reports/render/report.h"
#include "tests/reports/limits_run.h"
#include "tests/reports/runs.h"
#include "tests/reports/stalled_run.h"
#include "tests/reports/sweep_runs.h"
#include "tests/reports/traced_run.h"

int main(int argc, char** argv) {
  using namespace warpmeter;
  if (argc < 2 || argc > 3) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const std::pair<const char*, std::int64_t (*)(schema::Store&)> pages[] = {
      {"hardware", reports::add_hardware_run},
      {"hostile", reports::add_hostile_run},
      {"model", reports::add_model_run},
      {"long_source", reports::add_long_source_run},
      {"two_devices", reports::add_two_device_run},
      {"explained", reports::add_explained_run},
      {"sweeps", reports::add_sweep_run},
      {"large_sweep", reports::add_large_sweep_run},
      {"limits", reports::add_limits_run},
      {"stalled", reports::add_stalled_run},
      {"traced", [](schema::Store& store) { return reports::add_traced_run(store, 3'000); }}};
  for (const auto& [name, add_run] : pages) {
    const reports::TemporaryDatabase database;
    schema::Store store(database.path());
    const std::int64_t run = add_run(store);
    std::string source;
    for (int line = 1; line <= 60; ++line) {
      source += line % 9 == 4
                    ? "  out[static_cast<std::size_t>(x) * height + static_cast<std::size_t>(y)] = "
                      "in[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];\n"
                    : "// a line\n";
    }
    store.add_sources(
        run, std::vector<std::pair<std::string, std::string>>{{"kernels/transpose.cu", source}});
    const schema::CodeText code{
        "kernels/transpose.cu", "transpose/naive", "PTX",
        "// kernels/transpose.cu:31\n\tld.global.f32 %f1, [%rd1];\n\tret;\n"};
    store.add_codes(run, std::span(&code, 1));
    const schema::Reader reader(database.path());
    for (const reports::Format format : {reports::Format::html, reports::Format::json}) {
      reports::ExplainOptions choice;
      choice.run = run;
      choice.format = format;
      std::ofstream(folder / fmt::format("{}_explain.{}", name,
                                         reports::format_names()[static_cast<std::size_t>(format)]),
                    std::ios::binary)
          << reports::explain(reader, choice).text;
    }
    std::ofstream(folder / fmt::format("{}.html", name), std::ios::binary)
        << render_report(reader, run, reports::Format::html);
    std::ofstream(folder / fmt::format("{}.json", name), std::ios::binary)
        << render_report(reader, run, reports::Format::json);
    reports::ReportOptions options;
    options.format = reports::Format::json;
    for (const std::string& section : reports::section_names()) {
      options.sections.push_back({section, ""});
    }
    std::ofstream sections(folder / fmt::format("{}_sections.json", name), std::ios::binary);
    reports::write_report(reader, run, options, [&](std::string_view text) {
      sections << text;
      return true;
    });
  }
  if (argc == 2) return 0;
  const reports::TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = reports::add_traced_run(store, 1'000'000);
  reports::ReportOptions options;
  options.format = reports::Format::html;
  options.sections = {{"timeline", ""}};
  std::ofstream million(folder / "million.html", std::ios::binary);
  reports::write_report(schema::Reader(database.path()), run, options, [&](std::string_view text) {
    million << text;
    return true;
  });
}
