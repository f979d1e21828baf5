// SPDX-License-Identifier: MIT
#include "schema/server/copy_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <map>

#include "schema/server/text_there.h"

namespace warpmeter::schema::server {
namespace {

constexpr std::string_view signature("PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
constexpr std::size_t chunk_bytes = 256 << 10;

/// Numbers of a COPY that the server sends, most significant byte first.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }
  void skip(std::size_t bytes) { bytes_.remove_prefix(std::min(bytes, bytes_.size())); }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const char c : text(bytes)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view text(std::size_t bytes) {
    if (bytes > bytes_.size()) {
      throw Error(ExitCode::file, "the server's answer cannot be read: is a proxy in between?");
    }
    const std::string_view found = bytes_.substr(0, bytes);
    bytes_.remove_prefix(bytes);
    return found;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

RowsThere::RowsThere(Connection& server, const std::string& table,
                     const std::vector<std::string>& columns)
    : server_(server), columns_(static_cast<std::int16_t>(columns.size())), chunk_(signature) {
  server.begin_copy(fmt::format("COPY warpmeter.{} ({}) FROM STDIN (FORMAT binary)", table,
                                fmt::join(columns, ", ")));
}

void RowsThere::append(std::uint64_t bits, int bytes) {
  char text[8];
  for (int i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>(bits >> (8 * (bytes - 1 - i)));
  }
  chunk_.append(text, static_cast<std::size_t>(bytes));
}

void RowsThere::begin_row() {
  if (chunk_.size() > chunk_bytes) {
    server_.put(chunk_);
    chunk_.clear();
  }
  append(static_cast<std::uint16_t>(columns_), 2);
}

void RowsThere::put(std::int64_t value) {
  append(8, 4);
  append(static_cast<std::uint64_t>(value), 8);
}

void RowsThere::put(double value) {
  append(8, 4);
  append(std::bit_cast<std::uint64_t>(value), 8);
}

void RowsThere::put(std::string_view text) {
  if (is_same_there(text)) {
    append(text.size(), 4);
    chunk_ += text;
  } else {
    const std::string there = text_there(text);
    append(there.size(), 4);
    chunk_ += there;
  }
}

void RowsThere::put_null() { append(0xffffffff, 4); }

void RowsThere::put(const Statement& row, int column, Kind kind) {
  if (row.is_null(column)) {
    put_null();
  } else if (kind == Kind::integer) {
    put(row.integer(column));
  } else if (kind == Kind::real) {
    put(row.number(column));
  } else {
    put(std::string_view(row.text(column)));
  }
}

void RowsThere::finish() {
  append(0xffff, 2);
  server_.put(chunk_);
  chunk_.clear();
  server_.end_copy();
}

std::vector<Kind> kinds_of(sqlite3* db, const std::string& table,
                           const std::vector<std::string>& columns) {
  std::map<std::string, std::string> types;
  Statement statement(db, "SELECT name, type FROM pragma_table_info(?)");
  statement.bind(1, table);
  while (statement.step()) types[statement.text(0)] = statement.text(1);
  std::vector<Kind> kinds;
  for (const std::string& column : columns) {
    const std::string& type = types[column];
    kinds.push_back(type == "INTEGER" ? Kind::integer : type == "REAL" ? Kind::real : Kind::text);
  }
  return kinds;
}

std::int64_t rows_here(Connection& server, const std::string& select, std::span<const Kind> kinds,
                       Statement& insert,
                       const std::function<void(std::span<const std::int64_t>)>& on_row) {
  std::int64_t rows = 0;
  bool is_first = true;
  std::vector<std::int64_t> integers(kinds.size());
  std::vector<std::string> texts(kinds.size());
  server.copy_out(
      fmt::format("COPY ({}) TO STDOUT (FORMAT binary)", select), [&](std::string_view chunk) {
        Bytes bytes(chunk);
        if (is_first) bytes.skip(signature.size());
        is_first = false;
        while (!bytes.is_empty()) {
          if (bytes.number(2) == 0xffff) return;
          for (std::size_t i = 0; i < kinds.size(); ++i) {
            const int index = static_cast<int>(i) + 1;
            const std::uint64_t size = bytes.number(4);
            integers[i] = 0;
            if (size == 0xffffffff) {
              insert.bind(index, nullptr);
            } else if (kinds[i] == Kind::text) {
              // Bound texts are not copied: the statement reads them before the next row.
              insert.bind(index, std::string_view(texts[i] = text_here(bytes.text(size))));
            } else if (kinds[i] == Kind::real) {
              insert.bind(index, std::bit_cast<double>(bytes.number(size)));
            } else {
              integers[i] = static_cast<std::int64_t>(bytes.number(size));
              insert.bind(index, integers[i]);
            }
          }
          insert.step();
          on_row(integers);
          ++rows;
        }
      });
  return rows;
}

}  // namespace warpmeter::schema::server
