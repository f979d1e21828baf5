// SPDX-License-Identifier: MIT
#include "reports/table/stream.h"

#include <utility>

#include "base/error.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t piece_bytes = 1U << 16U;

}  // namespace

RowStream::RowStream(Format format, std::size_t width, Sink sink)
    : format_(format), width_(width), sink_(std::move(sink)) {}

void RowStream::columns(std::vector<std::string> names) {
  if (format_ == Format::json) json_.emplace(distinct_names(names));
  block_.columns = std::move(names);
  if (format_ == Format::csv) text_ = csv_heading(table_from(block_));
}

bool RowStream::row(const std::vector<schema::Value>& values) {
  if (!wanted_) return false;
  if (is_exact()) {
    if (json_) {
      text_ += any_row_ ? ",\n  " : "[\n  ";
      json_->append(text_, values);
    } else {
      append_csv_row(text_, values);
    }
    any_row_ = true;
    if (text_.size() >= piece_bytes) write_text();
    return wanted_;
  }
  if (block_.rows.size() == block_rows) write_block();
  if (wanted_) block_.rows.push_back(values);
  return wanted_;
}

void RowStream::write_text() {
  any_written_ = true;
  wanted_ = sink_(text_);
  text_.clear();
}

void RowStream::write_block() {
  if (format_ == Format::html) {
    throw Error(ExitCode::usage,
                "this format is one document and the answer has too many rows for it: ask for "
                "fewer with --limit, or use --format csv or json");
  }
  const bool is_first = blocks_++ == 0;
  any_written_ = true;
  wanted_ = sink_((is_first ? "" : "\n") + render(table_from(block_), format_, width_));
  block_.rows.clear();
}

void RowStream::break_off() {
  if (!wanted_ || !any_written_) return;
  constexpr std::string_view remark = "stopped here: not all rows";
  if (format_ == Format::csv) {
    sink_(text_ + "\"" + std::string(remark));
  } else if (format_ == Format::json) {
    sink_(text_);
  } else {
    sink_("\n(" + std::string(remark) + ")\n");
  }
}

void RowStream::finish() {
  if (!wanted_) return;
  if (is_exact()) {
    if (json_) text_ += any_row_ ? "\n]\n" : "[]\n";
    write_text();
  } else if (blocks_ == 0) {
    sink_(render(table_from(block_), format_, width_));
  } else {
    write_block();
  }
}

}  // namespace warpmeter::reports
