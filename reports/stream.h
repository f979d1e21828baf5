// Rows as they come: an answer of any length in little memory. CSV and JSON are the same text that
// a whole table would be. What people read is laid out in blocks of thousands of rows, each with
// its headings, for columns cannot be lined up before their rows are known.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

class RowStream {
 public:
  /// Takes the next piece of text; false when nobody wants more.
  using Sink = std::function<bool(std::string_view text)>;

  /// `width` as for render. Throws Error{usage} later, when a format that is one document (html)
  /// gets more rows than a block has.
  RowStream(Format format, std::size_t width, Sink sink);

  void columns(std::vector<std::string> names);
  /// False when nobody wants more.
  bool row(const std::vector<schema::Value>& values);
  /// The rest, and what closes the whole.
  void finish();

  static constexpr std::size_t block_rows = 10'000;

 private:
  void write_block();

  Format format_;
  std::size_t width_;
  Sink sink_;
  schema::Rows block_;
  std::size_t blocks_ = 0;
  bool wanted_ = true;
};

}  // namespace warpmeter::reports
