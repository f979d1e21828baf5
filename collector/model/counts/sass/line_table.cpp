// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/line_table.h"

#include <algorithm>

namespace warpmeter::model::sass {
namespace {

constexpr std::string_view section_name = ".nv_debug_line_sass";

/// Reads numbers one after the other. Past the end everything is zero and `ended` is set.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    const auto value = number_at<T>(bytes_, at_);
    at_ += sizeof(T);
    ended_ |= !value;
    return value.value_or(0);
  }
  std::uint64_t take_unsigned() { return leb128().first; }
  std::int64_t take_signed() {
    const auto [bits, width] = leb128();
    if (width >= 64 || (bits >> (width - 1) & 1) == 0) return static_cast<std::int64_t>(bits);
    return static_cast<std::int64_t>(bits | ~std::uint64_t{0} << width);
  }
  void skip_to(std::uint64_t offset) { at_ = offset; }
  std::uint64_t at() const { return at_; }
  bool ended() const { return ended_ || at_ > bytes_.size(); }

 private:
  /// A number of seven bits a byte, lowest first, and how many bits it had.
  std::pair<std::uint64_t, unsigned> leb128() {
    std::uint64_t bits = 0;
    unsigned width = 0;
    std::uint8_t byte = 0x80;
    while ((byte & 0x80) != 0 && !ended()) {
      byte = take<std::uint8_t>();
      if (width < 64) bits |= std::uint64_t{byte & 0x7fu} << width;
      width += 7;
    }
    return {bits, width};
  }

  Bytes bytes_;
  std::uint64_t at_ = 0;
  bool ended_ = false;
};

struct Header {
  std::uint64_t program = 0, end = 0;  ///< offsets of the opcodes and of what follows them
  std::uint8_t step = 1;               ///< bytes by which an address advances
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1, opcode_base = 1;
  std::vector<std::uint8_t> operand_counts;
};

std::optional<Header> read_header(Cursor& cursor) {
  Header header;
  const auto length = cursor.take<std::uint32_t>();
  header.end = cursor.at() + length;
  const auto version = cursor.take<std::uint16_t>();
  const auto header_length = cursor.take<std::uint32_t>();
  header.program = cursor.at() + header_length;
  header.step = cursor.take<std::uint8_t>();
  if (version >= 4) cursor.take<std::uint8_t>();  // operations of a long instruction word
  cursor.take<std::uint8_t>();                    // the row's flag of a statement
  header.line_base = static_cast<std::int8_t>(cursor.take<std::uint8_t>());
  header.line_range = cursor.take<std::uint8_t>();
  header.opcode_base = cursor.take<std::uint8_t>();
  for (int i = 1; i < header.opcode_base; ++i) {
    header.operand_counts.push_back(cursor.take<std::uint8_t>());
  }
  const bool is_known =
      version >= 2 && version <= 4 && header.line_range != 0 && header.opcode_base >= 10;
  if (cursor.ended() || !is_known || header.program < cursor.at()) return std::nullopt;
  return header;
}

}  // namespace

std::variant<LineTable, std::string> LineTable::read(const Elf& elf, std::size_t section) {
  const Section* table = elf.find(section_name);
  if (table == nullptr || table->contents.empty()) {
    return "does not say which line of PTX its code came from; compile it with -lineinfo";
  }
  const std::string damaged = "has a damaged line table; compile it anew with -lineinfo";
  const auto relocations = elf.relocations(section_name);
  LineTable lines;
  Cursor cursor(table->contents);
  while (cursor.at() < table->contents.size()) {
    const std::optional<Header> header = read_header(cursor);
    if (!header || header->end > table->contents.size()) return damaged;
    cursor.skip_to(header->program);

    std::uint64_t offset = 0;
    std::int64_t line = 1;
    bool is_ours = false;
    const auto add_row = [&](bool known) {
      const bool fits = line > 0 && line < (std::int64_t{1} << 31);
      if (is_ours) lines.rows_.push_back({offset, known && fits ? static_cast<int>(line) : 0});
    };
    while (cursor.at() < header->end) {
      const auto opcode = cursor.take<std::uint8_t>();
      if (opcode >= header->opcode_base) {
        const int special = opcode - header->opcode_base;
        offset += static_cast<std::uint64_t>(special / header->line_range) * header->step;
        line += header->line_base + special % header->line_range;
        add_row(true);
      } else if (opcode == 0) {
        const std::uint64_t length = cursor.take_unsigned();
        const std::uint64_t next = cursor.at() + length;
        if (next < cursor.at() || next > header->end) return damaged;
        const auto extended = cursor.take<std::uint8_t>();
        if (extended == 1) {  // end of a sequence
          add_row(false);
          offset = 0;
          line = 1;
          is_ours = false;
        } else if (extended == 2) {  // an address: the relocation says of which section
          const auto target = relocations.find(cursor.at());
          is_ours = target != relocations.end() && target->second == section;
          offset = cursor.take<std::uint64_t>();
        }
        cursor.skip_to(next);
      } else if (opcode == 1) {
        add_row(true);
      } else if (opcode == 2) {
        offset += cursor.take_unsigned() * header->step;
      } else if (opcode == 3) {
        line += cursor.take_signed() % (std::int64_t{1} << 40);
      } else if (opcode == 8) {
        offset += static_cast<std::uint64_t>((255 - header->opcode_base) / header->line_range) *
                  header->step;
      } else if (opcode == 9) {
        offset += cursor.take<std::uint16_t>();
      } else {
        for (int i = 0; i < header->operand_counts[opcode - 1u]; ++i) cursor.take_unsigned();
      }
      if (cursor.ended() || line > (std::int64_t{1} << 50) || line < -(std::int64_t{1} << 50)) {
        return damaged;
      }
    }
    cursor.skip_to(header->end);
  }
  if (lines.rows_.empty()) {
    return "does not say which line of PTX this kernel's code came from; compile it with -lineinfo";
  }
  std::stable_sort(lines.rows_.begin(), lines.rows_.end(),
                   [](const Row& a, const Row& b) { return a.offset < b.offset; });
  return lines;
}

int LineTable::line_at(std::uint64_t offset) const {
  const auto after =
      std::upper_bound(rows_.begin(), rows_.end(), offset,
                       [](std::uint64_t o, const Row& row) { return o < row.offset; });
  return after == rows_.begin() ? 0 : std::prev(after)->line;
}

}  // namespace warpmeter::model::sass
