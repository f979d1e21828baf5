#include <string>
#include <string_view>

#include "reports/number.h"
#include "reports/table.h"

namespace warpmeter::reports {
namespace {

std::string quoted(std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

std::string field_of(const Cell& cell) {
  if (cell.missing()) return "";
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell.value)) return exact_number(*real);
  return quoted(std::get<std::string>(cell.value));
}

}  // namespace

std::string csv_heading(const Table& table) {
  std::string csv;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) csv += ',';
    csv += quoted(table.columns[i].name);
  }
  return csv + "\n";
}

std::string csv_rows(const Table& table) {
  std::string csv;
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      csv += field_of(row[i]);
    }
    csv += '\n';
  }
  return csv;
}

std::string render_csv(const Table& table) { return csv_heading(table) + csv_rows(table); }

}  // namespace warpmeter::reports
