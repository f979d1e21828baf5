#include "reports/export.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "reports/json.h"
#include "reports/record.h"
#include "reports/sections/sql.h"
#include "schema/error.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t rows_at_a_time = 4096;

/// Runs the SQL of a section and hands its rows on in pieces; the first piece comes even when there
/// are none. False when the sink wants no more.
bool in_pieces(const schema::Reader& reader, std::string_view text, std::int64_t run_id,
               const std::function<bool(const Table& piece)>& use) {
  schema::Rows rows;
  bool wanted = true, any = false;
  const auto flush = [&] {
    wanted = use(table_from(rows));
    rows.rows.clear();
    any = true;
    return wanted;
  };
  reader.query_user(
      text, run_parameter(run_id),
      [&](const std::vector<std::string>& columns) { rows.columns = columns; },
      [&](const std::vector<schema::Value>& row) {
        rows.rows.push_back(row);
        return rows.rows.size() < rows_at_a_time || flush();
      });
  if (wanted && (!any || !rows.rows.empty())) flush();
  return wanted;
}

bool write_array(const schema::Reader& reader, std::string_view text, std::int64_t run_id,
                 const Sink& sink) {
  bool first = true;
  const bool wanted = in_pieces(reader, text, run_id, [&](const Table& piece) {
    std::string lines;
    for (std::size_t i = 0; i < piece.rows.size(); ++i) {
      lines += (first ? "[\n    " : ",\n    ") + json_text(json_row(piece, i));
      first = false;
    }
    return sink(lines);
  });
  return wanted && sink(first ? "[]" : "\n  ]");
}

std::string heading_lines(const schema::Reader& reader) {
  const Table version = table_from(reader.query(sql::schema_version));
  return fmt::format("{{\n  \"format_version\": {},\n  \"schema_version\": {},\n",
                     json_format_version, std::get<std::int64_t>(version.rows[0][0].value));
}

nlohmann::ordered_json table_json(const Table& table, const std::string& caption) {
  nlohmann::ordered_json object;
  object["caption"] = table.caption.empty() ? caption : table.caption;
  object["columns"] = nlohmann::ordered_json::array();
  for (const Column& column : table.columns) {
    object["columns"].push_back({{"name", column.name},
                                 {"heading", column.heading.empty() ? column.name : column.heading},
                                 {"unit", column.unit}});
  }
  object["rows"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < table.rows.size(); ++i) object["rows"].push_back(json_row(table, i));
  return object;
}

/// Gathers a document's blocks under its headings.
struct SectionWriter {
  nlohmann::ordered_json sections = nlohmann::ordered_json::array();
  std::string caption;

  void operator()(const Heading& heading) {
    caption = heading.text;
    if (heading.level <= 2) {
      sections.push_back({{"title", heading.text},
                          {"text", nlohmann::ordered_json::array()},
                          {"tables", nlohmann::ordered_json::array()}});
    }
  }
  void operator()(const Paragraph& paragraph) { sections.back()["text"].push_back(paragraph.text); }
  void operator()(const Facts& facts) {
    for (const auto& [name, value] : facts.pairs) sections.back()["facts"][name] = value;
  }
  void operator()(const Table& table) {
    sections.back()["tables"].push_back(table_json(table, caption));
  }
  void operator()(const Plot&) {}
};

}  // namespace

void write_csv(const schema::Reader& reader, std::int64_t run_id, const Sink& sink) {
  bool first = true;
  in_pieces(reader, sql::results, run_id, [&](const Table& piece) {
    const bool wanted = sink((first ? csv_heading(piece) : "") + csv_rows(piece));
    first = false;
    return wanted;
  });
}

void write_json(const schema::Reader& reader, std::int64_t run_id, const Sink& sink) {
  const Table run = table_from(reader.query(sql::run, run_parameter(run_id)));
  if (!sink(heading_lines(reader) + "  \"run\": " + json_text(json_row(run, 0)))) return;
  const std::array<std::pair<std::string_view, std::string_view>, 7> parts = {
      {{"devices", sql::devices},
       {"device_states", sql::device_states},
       {"launches", sql::launches},
       {"results", sql::results},
       {"timings", sql::timings},
       {"expectations", sql::expectations},
       {"lines", sql::lines}}};
  for (const auto& [name, text] : parts) {
    if (!sink(fmt::format(",\n  \"{}\": ", name))) return;
    if (!write_array(reader, text, run_id, sink)) return;
  }
  sink("\n}\n");
}

std::string document_csv(const Document& document) {
  const Table* only = nullptr;
  std::size_t tables = 0;
  for (const auto& block : document.blocks) {
    if (const auto* table = std::get_if<Table>(&block)) {
      only = table;
      ++tables;
    }
  }
  if (tables == 1) return render_csv(*only);
  throw Error(ExitCode::usage,
              fmt::format("csv is one table and the sections chosen have {}: choose others with "
                          "--section, or --format json",
                          tables));
}

std::string document_json(const Document& document) {
  SectionWriter writer;
  for (const auto& block : document.blocks) std::visit([&](const auto& b) { writer(b); }, block);
  nlohmann::ordered_json json;
  json["format_version"] = json_format_version;
  json["sections"] = std::move(writer.sections);
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace warpmeter::reports
