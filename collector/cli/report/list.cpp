// SPDX-License-Identifier: MIT
// `warpmeter list`: what there is. One function a list, each a table.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "base/words.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/report/runs.h"
#include "collector/cupti/device.h"
#include "collector/cupti/energy.h"
#include "collector/family/catalogue.h"
#include "collector/model/counts/grades.h"
#include "collector/model/session/backend.h"
#include "reports/table/table.h"
#include "schema/catalogue.h"
#include "schema/nvprof_names.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

using reports::Cell;
using reports::Column;
using reports::Kind;
using reports::Missing;
using reports::Table;

struct List {
  std::string what, filter, database, format = "table", file;
};

Table kernels_table() {
  Table table;
  table.columns = {Column::text("kernel"), Column::text("sizes", "default sizes"),
                   Column::text("size_meaning", "size is the"), Column::text("entry"),
                   Column::text("summary")};
  for (const kernels::Family* family : family::catalogue()) {
    for (const kernels::Variant& variant : family->variants) {
      table.rows.push_back({fmt::format("{}/{}", family->name, variant.name),
                            family->has_sizes()
                                ? Cell(fmt::format("{}", fmt::join(family->sizes, " ")))
                                : Cell(Missing{"one fixed size"}),
                            family->has_sizes() ? Cell(std::string(family->size_meaning))
                                                : Cell(Missing{"one fixed size"}),
                            std::string(variant.entry), std::string(family->summary)});
    }
  }
  return table;
}

/// "cupti model": the backends that count all of these counters. A metric without any is a resource
/// or comes from the clock, which the model does not have.
std::string backends_of(const std::vector<std::string>& counters, bool is_resource = false) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  bool on_gpu = true, model = is_resource || !counters.empty();
  for (const std::string& name : counters) {
    const schema::CounterInfo* counter = catalogue.find_counter(name);
    on_gpu = on_gpu && counter != nullptr &&
             (counter->is_on_hardware() || cupti::is_energy_counter(name));
    model = model && model::is_counted(name);
  }
  return fmt::format("{}{}{}", on_gpu ? "cupti" : "", on_gpu && model ? " " : "",
                     model ? "model" : "");
}

/// An event of nvprof, or a metric, that has another name here or no counter.
std::vector<Cell> row_of(const schema::NvprofName& name) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const std::string kind = name.is_event ? "event" : "metric";
  if (name.answer.empty()) {
    return {name.name, "", kind, "yes", "", "Not measured: " + schema::refusal(name) + "."};
  }
  const schema::MetricInfo* metric = catalogue.find_metric(name.answer);
  const schema::CounterInfo* counter = catalogue.find_counter(name.answer);
  const std::vector<std::string> counters =
      metric != nullptr ? metric->counters() : std::vector<std::string>{name.answer};
  const std::string note = name.note.empty() ? "" : "; " + name.note;
  return {name.name,
          metric != nullptr ? metric->unit : counter->unit,
          kind,
          "yes",
          backends_of(counters),
          fmt::format("Measured as {}{}.", name.answer, note)};
}

/// The metrics of which a word of the row holds `filter`, in any case; all for "".
Table metrics_table(const std::string& filter) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  Table table;
  table.columns = {Column::text("name"),   Column::text("unit"),     Column::text("kind"),
                   Column::text("nvprof"), Column::text("backends"), Column::text("description")};
  for (const schema::MetricInfo& metric : catalogue.metrics()) {
    table.rows.push_back({metric.name, metric.unit, "metric", metric.nvprof ? "yes" : "no",
                          backends_of(metric.counters(), metric.is_resource), metric.description});
  }
  for (const schema::CounterInfo& counter : catalogue.counters()) {
    table.rows.push_back({counter.name, counter.unit, "counter", counter.nvprof ? "yes" : "no",
                          backends_of({counter.name}), counter.description});
  }
  for (const schema::NvprofName& name : schema::nvprof_names()) {
    const bool is_listed = name.answer == name.name || catalogue.find_metric(name.name) != nullptr;
    if (!is_listed) table.rows.push_back(row_of(name));
  }
  for (const schema::SetInfo& set : catalogue.sets()) {
    table.rows.push_back({"@" + set.name, "", "set", "no", "", set.description});
  }
  const std::string wanted = lower(filter);
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return std::none_of(row.begin(), row.end(), [&](const Cell& cell) {
      const auto* text = std::get_if<std::string>(&cell.value);
      return text != nullptr && lower(*text).find(wanted) != std::string::npos;
    });
  });
  if (table.rows.empty()) {
    throw Error(ExitCode::usage, fmt::format("no metric has '{}' in its name or description{}",
                                             filter, catalogue.suggestion(filter)));
  }
  return table;
}

Table devices_table() {
  Table table;
  table.columns = {Column::text("backend"),
                   Column::number("device", "device", "", Kind::exact),
                   Column::text("name"),
                   Column::text("chip"),
                   Column::text("compute_capability", "compute capability"),
                   Column::number("multiprocessors", "multiprocessors", "", Kind::exact),
                   Column::number("memory_bytes", "memory", "bytes", Kind::count),
                   Column::text("driver"),
                   Column::text("uuid")};
  const auto optional = [](const std::optional<std::int64_t>& value) {
    return value ? Cell(*value) : Cell(Missing{"not known"});
  };
  const auto add = [&](const schema::Device& device) {
    table.rows.push_back(
        {device.backend, std::int64_t{device.ordinal}, device.name, device.chip,
         fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10),
         optional(device.multiprocessors), optional(device.memory_bytes), device.driver,
         device.uuid});
  };
  for (const schema::Device& device : cupti::devices()) add(device);
  add(model::open({})->device());
  return table;
}

/// A view's row has no column; its columns follow.
Table views_table() {
  Table table;
  table.columns = {Column::text("view"), Column::text("column"), Column::text("description")};
  for (const schema::ViewInfo& view : schema::views()) {
    table.rows.push_back({view.name, Missing{"the view itself"}, view.description});
    for (const schema::ColumnInfo& column : view.columns) {
      table.rows.push_back({view.name, column.name, column.description});
    }
  }
  return table;
}

Table table_of(const List& list) {
  if (list.what == "metrics") return metrics_table(list.filter);
  if (!list.filter.empty()) {
    throw Error(ExitCode::usage, "a filter is for metrics: warpmeter list metrics " + list.filter);
  }
  if (list.what == "kernels") return kernels_table();
  if (list.what == "devices") return devices_table();
  if (list.what == "runs") {
    return runs_table(list.database, list.format == "table" && table_width(list.file) > 0);
  }
  if (list.what == "views") return views_table();
  throw Error(ExitCode::usage,
              "list needs to know what: kernels, metrics, devices, runs or views (see: warpmeter "
              "list --help)");
}

ExitCode run(const List& list) {
  FileClaims files;
  files.read_database(list.database);
  Output output(files.write(list.file, "-o"));
  output.write(rendered(table_of(list), list.format, list.file));
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_list(CLI::App& program) {
  CLI::App& app =
      add_command(program, "list", "Show the kernels, metrics, devices, runs or views there are",
                  {{"warpmeter list kernels", "what `run` measures, and at which sizes"},
                   {"warpmeter list metrics", "names, units, which backend has them"},
                   {"warpmeter list metrics l2", "those with l2 in the name or description"},
                   {"warpmeter list views --format markdown", "the database's columns"}});
  auto list = std::make_shared<List>();
  add_choice(app, "WHAT", {"kernels", "metrics", "devices", "runs", "views"}, list->what,
             "The subject");
  add_text(app, "FILTER", "TEXT", list->filter, "A part of the metrics' names or descriptions");
  add_database(app, list->database);
  add_format(app, list->format);
  add_text(app, "-o,--output", "FILE", list->file, "Write there instead of standard output");
  return {&app, [list] { return run(*list); }};
}

}  // namespace warpmeter::cli
