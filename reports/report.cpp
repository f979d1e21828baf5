#include "reports/report.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "reports/document.h"
#include "reports/json.h"
#include "reports/record.h"
#include "reports/sections/sections.h"
#include "reports/sections/sql.h"

namespace warpmeter::reports {
namespace {

std::string rendered(const Document& document, Format format, std::size_t width) {
  return format == Format::table ? document_text(document, width) : document_markdown(document);
}

std::string csv_of(const schema::Reader& reader, std::int64_t run_id) {
  return render_csv(table_from(reader.query(sql::results, run_parameter(run_id))));
}

std::string json_of(const schema::Reader& reader, std::int64_t run_id) {
  const auto table = [&](std::string_view text) {
    return table_from(reader.query(text, run_parameter(run_id)));
  };
  const Table version = table_from(reader.query(sql::schema_version));
  std::string json = fmt::format("{{\n  \"schema_version\": {},\n  \"run\": {}",
                                 std::get<std::int64_t>(version.rows[0][0].value),
                                 json_text(json_row(table(sql::run), 0)));
  const std::array<std::pair<std::string_view, std::string_view>, 7> parts = {
      {{"devices", sql::devices},
       {"device_states", sql::device_states},
       {"launches", sql::launches},
       {"results", sql::results},
       {"timings", sql::timings},
       {"expectations", sql::expectations},
       {"lines", sql::lines}}};
  for (const auto& [name, text] : parts) {
    json += fmt::format(",\n  \"{}\": {}", name, json_array(table(text), "  "));
  }
  return json + "\n}\n";
}

}  // namespace

std::string render_report(const schema::Reader& reader, std::int64_t run_id, Format format,
                          std::size_t width) {
  require_run(reader, run_id);
  if (format == Format::csv) return csv_of(reader, run_id);
  if (format == Format::json) return json_of(reader, run_id);
  const RunRecord run = read_run(reader, run_id);
  Document document;
  sections::add_provenance(document, reader, run);
  sections::add_failures(document, run);
  sections::add_comparison(document, run);
  sections::add_expectations(document, reader, run);
  sections::add_costly_lines(document, reader, run);
  sections::add_unavailable(document, reader, run);
  sections::add_every_expectation(document, reader, run);
  return rendered(document, format, width);
}

std::string render_comparison(const schema::Reader& reader, std::int64_t run_id, Format format,
                              std::size_t width) {
  if (format == Format::csv || format == Format::json) {
    return render_report(reader, run_id, format);
  }
  require_run(reader, run_id);
  const RunRecord run = read_run(reader, run_id);
  Document document;
  sections::add_failures(document, run);
  sections::add_comparison(document, run);
  return rendered(document, format, width);
}

}  // namespace warpmeter::reports
