#include "reports/stream.h"

#include <utility>

#include "reports/json.h"
#include "schema/error.h"

namespace warpmeter::reports {
namespace {

bool is_one_document(Format format) {
  return format != Format::csv && format != Format::json && format != Format::table &&
         format != Format::markdown;
}

/// The rows of a JSON array without its brackets and without the last line end.
std::string json_lines(const Table& table) {
  std::string lines;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    lines += (i == 0 ? "  " : ",\n  ") + json_text(json_row(table, i));
  }
  return lines;
}

}  // namespace

RowStream::RowStream(Format format, std::size_t width, Sink sink)
    : format_(format), width_(width), sink_(std::move(sink)) {}

void RowStream::columns(std::vector<std::string> names) { block_.columns = std::move(names); }

bool RowStream::row(const std::vector<schema::Value>& values) {
  if (block_.rows.size() == block_rows) write_block();
  if (wanted_) block_.rows.push_back(values);
  return wanted_;
}

void RowStream::write_block() {
  if (is_one_document(format_)) {
    throw Error(ExitCode::usage,
                "this format is one document and the answer has too many rows for it: ask for "
                "fewer with --limit, or use --format csv or json");
  }
  const Table table = table_from(block_);
  const bool is_first = blocks_++ == 0;
  std::string text;
  if (format_ == Format::csv) {
    text = (is_first ? csv_heading(table) : "") + csv_rows(table);
  } else if (format_ == Format::json) {
    text = (is_first ? "[\n" : ",\n") + json_lines(table);
  } else {
    text = (is_first ? "" : "\n") + render(table, format_, width_);
  }
  wanted_ = sink_(text);
  block_.rows.clear();
}

void RowStream::finish() {
  if (!wanted_) return;
  if (blocks_ == 0) {
    sink_(render(table_from(block_), format_, width_));
    return;
  }
  write_block();
  if (format_ == Format::json) sink_("\n]\n");
}

}  // namespace warpmeter::reports
