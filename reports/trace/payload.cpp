// SPDX-License-Identifier: MIT
#include "reports/trace/payload.h"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace warpmeter::reports {
namespace {

void add_varint(std::string& bytes, std::int64_t number) {
  auto rest = static_cast<std::uint64_t>(number);
  for (; rest >= 0x80; rest >>= 7) bytes.push_back(static_cast<char>(rest | 0x80));
  bytes.push_back(static_cast<char>(rest));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= count ? digits[group >> (18 - 6 * k) & 63U] : '=');
    }
  }
  return text;
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  if (code != Z_OK) throw std::bad_alloc();  // the only failure that room for the bound leaves
  result.resize(size);
  return result;
}

/// The columns of one line.
struct PayloadLine {
  std::size_t count = 0;
  std::int64_t last_ns = 0;
  std::string starts, durations, names;
};

}  // namespace

std::string timeline_payload(const Trace& trace, const Timeline& timeline) {
  nlohmann::json head = {{"begin", timeline.begin_ns}, {"end", timeline.end_ns}};
  std::map<std::pair<std::string, std::string>, std::size_t> numbers;
  std::vector<std::size_t> name_of_shape;
  for (const TracedShape& shape : trace.shapes) {
    const auto [at, is_new] =
        numbers.try_emplace({printable(shape.name), printable(shape.kind)}, numbers.size());
    if (is_new) head["names"].push_back({at->first.first, at->first.second});
    name_of_shape.push_back(at->second);
  }
  std::vector<std::vector<std::size_t>> first_line;  // by row and lane
  std::size_t line_count = 0;
  for (const TimelineRow& row : timeline.rows) {
    std::vector<std::size_t>& lanes = first_line.emplace_back();
    const std::size_t before = line_count;
    for (const std::size_t depth : row.depths) {
      lanes.push_back(line_count);
      line_count += depth;
    }
    head["rows"].push_back({{"group", printable(row.group())},
                            {"name", printable(row.name())},
                            {"lines", line_count - before}});
  }
  std::vector<PayloadLine> lines(line_count, PayloadLine{0, timeline.begin_ns, "", "", ""});
  for (const TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = trace.activities[place.activity];
    PayloadLine& line = lines[first_line[place.row][place.lane] + place.depth];
    ++line.count;
    add_varint(line.starts, *activity.start_ns - line.last_ns);
    line.last_ns = *activity.start_ns;
    add_varint(line.durations, activity.end_ns() - *activity.start_ns);
    add_varint(line.names, static_cast<std::int64_t>(name_of_shape[activity.shape]));
  }
  const std::string head_text = head.dump();
  std::string bytes;
  add_varint(bytes, static_cast<std::int64_t>(head_text.size()));
  bytes += head_text;
  for (const PayloadLine& line : lines) {
    add_varint(bytes, static_cast<std::int64_t>(line.count));
    bytes += line.starts + line.durations + line.names;
  }
  return base64(compressed(bytes));
}

}  // namespace warpmeter::reports
