// SPDX-License-Identifier: MIT
#include "collector/cli/tables/acceptance_tables.h"

#include <iterator>
#include <utility>

#include "base/kernel_name.h"
#include "collector/cli/formats.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/acceptance.h"
#include "reports/document.h"

namespace warpmeter::cli {
namespace {

using reports::Cell;
using reports::Column;
using reports::Missing;

void add_entry(AcceptanceTables& tables, const model::KernelFile& file,
               const model::Acceptance& entry) {
  const bool is_of_header = model::is_of_header(file, entry.entry);
  reports::Table& table = is_of_header ? tables.of_headers : tables.own;
  const std::string name = readable_name(entry.entry);
  const std::string header = is_of_header ? "yes" : "no";
  if (entry.is_accepted()) {
    table.rows.push_back({file.path, name, "yes", std::int64_t{entry.line}, Missing{}, header});
  }
  for (const model::Refusal& refusal : entry.refusals) {
    table.rows.push_back({file.path, name, "no", std::int64_t{refusal.place.ptx_line},
                          model::to_string(refusal, entry.entry), header});
  }
}

/// Without the column that says the same in all of its rows.
reports::Table for_people(reports::Table table) {
  table.columns.pop_back();
  for (std::vector<Cell>& row : table.rows) row.pop_back();
  return table;
}

}  // namespace

AcceptanceTables acceptance_tables(const std::vector<std::string>& paths,
                                   const model::CompileOptions& options) {
  AcceptanceTables tables;
  tables.own.columns = {
      Column::text("file"),     Column::text("entry"),
      Column::text("accepted"), Column::number("line", "PTX line", "", reports::Kind::exact),
      Column::text("reason"),   Column::text("header")};
  tables.of_headers.columns = tables.own.columns;
  for (const std::string& path : paths) {
    try {
      const model::KernelFile file = model::read_kernel_file(path, options, {});
      const std::vector<model::Acceptance> entries = model::accepts(*file.module);
      for (const model::Acceptance& entry : entries) add_entry(tables, file, entry);
      if (entries.empty()) throw Error(ExitCode::usage, path + " holds no kernel");
    } catch (const Error& error) {
      tables.own.rows.push_back({path, Missing{}, "no", Missing{}, error.what(), Missing{}});
      if (tables.code != ExitCode::file) tables.code = error.code();
    }
  }
  return tables;
}

std::string rendered(AcceptanceTables tables, const std::string& format, const std::string& file) {
  if (format == "csv" || format == "json") {
    std::move(tables.of_headers.rows.begin(), tables.of_headers.rows.end(),
              std::back_inserter(tables.own.rows));
    return rendered(tables.own, format, file);
  }
  if (tables.of_headers.rows.empty())
    return rendered(for_people(std::move(tables.own)), format, file);
  reports::Document document;
  if (!tables.own.rows.empty()) document.table(for_people(std::move(tables.own)));
  document.paragraph("Kernels of headers outside of the file's folder:");
  document.table(for_people(std::move(tables.of_headers)));
  if (format == "markdown") return reports::document_markdown(document);
  if (format == "html") return reports::document_html(document);
  return reports::document_text(document, table_width(file));
}

}  // namespace warpmeter::cli
