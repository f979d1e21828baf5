// SPDX-License-Identifier: MIT
#include "reports/render/export.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/exact_rows.h"
#include "reports/table/json.h"
#include "reports/table/stream.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t piece_bytes = 1U << 16U;

/// The rows of a section's SQL as an array. False when the sink wants no more.
bool write_array(const schema::Reader& reader, std::string_view sql_text, std::int64_t run_id,
                 const Sink& sink) {
  std::string text;
  std::optional<JsonRows> rows;
  bool any = false, wanted = true;
  reader.query_user(
      sql_text, run_parameter(run_id),
      [&](const std::vector<std::string>& columns) { rows.emplace(distinct_names(columns)); },
      [&](const std::vector<schema::Value>& row) {
        text += any ? ",\n    " : "[\n    ";
        any = true;
        rows->append(text, row);
        if (text.size() < piece_bytes) return true;
        wanted = sink(text);
        text.clear();
        return wanted;
      });
  return wanted && sink(text + (any ? "\n  ]" : "[]"));
}

std::string heading_lines(const schema::Reader& reader) {
  const Table version = table_from(reader.query(sql::schema_version));
  return fmt::format("{{\n  \"format_version\": {},\n  \"schema_version\": {},\n",
                     json_format_version, std::get<std::int64_t>(version.rows[0][0].value));
}

/// Why a value is null: one failed, another was not in the run.
void add_missing(nlohmann::ordered_json& object, const Table& table) {
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const auto* missing = std::get_if<Missing>(&table.rows[row][i].value);
      if (missing == nullptr || missing->reason.empty()) continue;
      object["missing"].push_back(
          {{"row", row}, {"column", table.columns[i].name}, {"reason", missing->reason}});
    }
  }
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
  add_missing(object, table);
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
  void operator()(const Plot& plot) {
    if (!plot.is_table) return;
    sections.back()["text"].push_back(plot.title + ". " + plot.description);
    sections.back()["tables"].push_back(table_json(plot.data, plot.title));
  }
  void operator()(const Entry& entry) {
    std::string text = entry.place.empty() ? entry.text : entry.place + ": " + entry.text;
    for (const std::string& line : entry.more) text += fmt::format(" {}: {}.", entry.lead, line);
    sections.back()["text"].push_back(std::move(text));
  }
  void operator()(const Remark& remark) { sections.back()["text"].push_back(remark.text); }
  void operator()(const Picture&) {}
  void operator()(const MovingTimeline&) {}
  void operator()(const MemoryChart&) {}
  void operator()(const Listing& listing) {
    caption = listing.file;
    (*this)(listing.table);
  }
};

/// A column more where a file has one that those before it lack.
void add_listing(const Listing& listing, Table& lines) {
  if (lines.columns.empty()) lines.columns.push_back(Column::text("file"));
  for (std::size_t i = lines.columns.size() - 1; i < listing.table.columns.size(); ++i) {
    lines.columns.push_back(listing.table.columns[i]);
    for (auto& row : lines.rows) row.emplace_back(Missing{""});
  }
  for (const auto& row : listing.table.rows) {
    std::vector<Cell> cells = {listing.file};
    cells.insert(cells.end(), row.begin(), row.end());
    cells.resize(lines.columns.size(), Cell(Missing{""}));
    lines.rows.push_back(std::move(cells));
  }
}

}  // namespace

void write_csv(const schema::Reader& reader, std::int64_t run_id, const Sink& sink) {
  RowStream rows(Format::csv, 0, sink);
  try {
    reader.query_user(
        sql::results, run_parameter(run_id),
        [&](const std::vector<std::string>& columns) { rows.columns(columns); },
        [&](const std::vector<schema::Value>& row) { return rows.row(row); });
  } catch (...) {
    rows.break_off();
    throw;
  }
  rows.finish();
}

void write_json(const schema::Reader& reader, std::int64_t run_id, const Sink& sink) {
  const Table run = table_from(reader.query(sql::run, run_parameter(run_id)));
  if (!sink(heading_lines(reader) + "  \"run\": " + json_text(json_row(run, 0)))) return;
  const std::array<std::pair<std::string_view, std::string_view>, 9> parts = {
      {{"devices", sql::devices},
       {"device_states", sql::device_states},
       {"disturbances", sql::disturbances},
       {"environment", sql::environment},
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
  Table lines;  // the lines of all listings, each with its file
  std::size_t tables = 0;
  for (const auto& block : document.blocks) {
    if (const auto* table = std::get_if<Table>(&block)) {
      only = table;
      ++tables;
    }
    if (const auto* listing = std::get_if<Listing>(&block)) add_listing(*listing, lines);
  }
  const bool has_listings = !lines.rows.empty();
  if (tables == 0 && has_listings) return render_csv(lines);
  if (tables == 1 && !has_listings) return render_csv(*only);
  tables += has_listings ? 1 : 0;
  throw Error(ExitCode::usage,
              fmt::format("csv is one table and the sections chosen have {}: choose others with "
                          "--section, or --format json",
                          tables == 0 ? "none" : std::to_string(tables)));
}

std::string document_json(const Document& document) {
  SectionWriter writer;
  for (const auto& block : document.blocks) std::visit([&](const auto& b) { writer(b); }, block);
  nlohmann::ordered_json json;
  json["format_version"] = json_format_version;
  json["sections"] = std::move(writer.sections);
  return json_text(json, 2) + "\n";
}

}  // namespace warpmeter::reports
