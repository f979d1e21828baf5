// SPDX-License-Identifier: MIT
#include "reports/render/user_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/error.h"
#include "reports/record.h"

namespace warpmeter::reports {
namespace {

struct Head {
  std::vector<std::string> lines;  ///< the lines of the comment, without its dashes
  std::string_view statement;      ///< the statement that follows
};

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

Head head_of(std::string_view sql) {
  Head head;
  while (!sql.empty()) {
    const std::size_t end = std::min(sql.find('\n'), sql.size());
    const std::string line = trimmed(sql.substr(0, end));
    if (!line.empty() && line.rfind("--", 0) != 0) break;
    if (!line.empty()) head.lines.push_back(trimmed(std::string_view(line).substr(2)));
    sql.remove_prefix(std::min(end + 1, sql.size()));
  }
  head.statement = sql;
  return head;
}

/// True if the parameter :run occurs: as a whole word, outside of quotes and comments.
bool asks_for_run(std::string_view sql) {
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'' || c == '"' || c == '`') {
      i = sql.find(c, i + 1);
    } else if (sql.substr(i, 2) == "--") {
      i = sql.find('\n', i);
    } else if (sql.substr(i, 2) == "/*") {
      i = sql.find("*/", i + 2);
    } else if (sql.substr(i, 4) == ":run") {
      const char next = i + 4 < sql.size() ? sql[i + 4] : ' ';
      if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_') return true;
    }
    if (i == std::string_view::npos) return false;
  }
  return false;
}

/// Nobody reads a longer table in a report.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

std::size_t bytes_of(const std::vector<schema::Value>& row) {
  std::size_t bytes = row.size() * sizeof(schema::Value);
  for (const schema::Value& value : row) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
  }
  return bytes;
}

}  // namespace

void add_user_section(Document& document, const schema::Reader& reader, std::int64_t run_id,
                      const SectionChoice& choice, const schema::QueryLimits& limits) {
  const Head head = head_of(choice.sql);
  schema::Rows rows;
  std::size_t bytes = 0;
  try {
    // The whole text, so that the lines of a message are those of the file.
    reader.query_user(
        choice.sql, asks_for_run(head.statement) ? run_parameter(run_id) : schema::Parameters{},
        [&](const std::vector<std::string>& columns) { rows.columns = columns; },
        [&](const std::vector<schema::Value>& row) {
          bytes += bytes_of(row);
          if (bytes > most_bytes) {
            throw Error(ExitCode::nothing,
                        fmt::format("its table would be larger than {} MiB; add a LIMIT, or write "
                                    "it with warpmeter query",
                                    most_bytes >> 20));
          }
          rows.rows.push_back(row);
          return true;
        },
        limits);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", choice.name, error.what()));
  }
  document.heading(2, head.lines.empty() ? choice.name : head.lines.front());
  std::string text;
  for (std::size_t i = 1; i < head.lines.size(); ++i) {
    text += (text.empty() ? "" : " ") + head.lines[i];
  }
  if (!text.empty()) document.paragraph(text);
  document.table(table_from(rows));
}

}  // namespace warpmeter::reports
