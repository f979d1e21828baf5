// SPDX-License-Identifier: MIT
#include "collector/model/machine/system_calls.h"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/lanes.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/access.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

constexpr std::size_t longest_text = 1 << 16;

/// The text at a generic address, up to its NUL; nothing for an address that leads nowhere.
std::string text_at(Warp& w, unsigned lane, std::uint64_t address) {
  const HostStretch stretch = host_at(w, lane, address);
  std::string text;
  for (std::uint64_t i = 0; i < stretch.bytes && i < longest_text; ++i) {
    const char c = static_cast<char>(stretch.host[i]);
    if (c == '\0') break;
    text.push_back(c);
  }
  return text;
}

/// vprintf's arguments: each at a multiple of its size, 4 or 8 bytes.
class Arguments {
 public:
  explicit Arguments(const HostStretch& stretch) : stretch_(stretch) {}

  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (stretch_.host != nullptr && at_ + sizeof(T) <= stretch_.bytes) {
      std::memcpy(&value, stretch_.host + at_, sizeof(T));
    }
    at_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  HostStretch stretch_;
  std::uint64_t at_ = 0;
  int count_ = 0;
};

template <class T>
std::string formatted(const std::string& specification, T value) {
  char buffer[512];
  // The specification is checked by its reader, letter by letter.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int length = std::snprintf(buffer, sizeof(buffer), specification.c_str(), value);
#pragma GCC diagnostic pop
  const std::size_t kept =
      std::min<std::size_t>(length < 0 ? 0 : static_cast<std::size_t>(length), sizeof(buffer) - 1);
  return std::string(buffer, kept);
}

/// One "%-8.3f" and its like; `at` stands after the percent sign and goes past the letter. A device
/// leaves as they are, and takes no argument for, "%.*f", "%zu", "%td" and "%5%" (as an H200 does).
std::string one_argument(Warp& w, unsigned lane, std::string_view format, std::size_t& at,
                         Arguments& arguments) {
  const std::size_t begin = at;
  const std::size_t letter_at = format.find_first_not_of("-+ #0123456789.*hlLzjt", begin);
  if (letter_at != std::string_view::npos) {
    const std::string_view before = format.substr(begin, letter_at - begin);
    const bool is_unknown = before.find(".*") != std::string_view::npos ||
                            before.find_first_of("zjt") != std::string_view::npos ||
                            (format[letter_at] == '%' && !before.empty());
    if (is_unknown) {
      at = letter_at + 1;
      return fmt::format("%{}", format.substr(begin, at - begin));
    }
  }
  std::string specification = "%";
  int stars = 0;
  for (; at < format.size() && std::strchr("-+ #0123456789.*", format[at]) != nullptr; ++at) {
    if (format[at] == '*' && ++stars <= 2) {
      specification += std::to_string(std::min(arguments.next<std::int32_t>(), 400));
    } else if (specification.size() < 12) {
      specification.push_back(format[at]);
    }
  }
  bool is_wide = false;
  for (; at < format.size() && std::strchr("hlL", format[at]) != nullptr; ++at) {
    is_wide |= format[at] != 'h';
  }
  if (at >= format.size()) return specification;
  const char letter = format[at++];
  switch (letter) {
    case '%':
      return "%";
    case 'd':
    case 'i':
      return is_wide ? formatted(specification + "lld",
                                 static_cast<long long>(arguments.next<std::int64_t>()))
                     : formatted(specification + "d", arguments.next<std::int32_t>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return is_wide ? formatted(specification + "ll" + letter,
                                 static_cast<unsigned long long>(arguments.next<std::uint64_t>()))
                     : formatted(specification + letter, arguments.next<std::uint32_t>());
    case 'c':
      return formatted(specification + "c", arguments.next<std::int32_t>());
    case 'p':
      return formatted(specification + "p",
                       reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
    case 's':
      return formatted(specification + "s",
                       text_at(w, lane, arguments.next<std::uint64_t>()).c_str());
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return formatted(specification + letter, arguments.next<double>());
    default:
      return specification + letter;
  }
}

}  // namespace

void print(Warp& w, const Operation* op, std::uint32_t mask) {
  for_each_lane(mask, [&](unsigned lane) {
    const std::string format = text_at(w, lane, row_of<std::uint64_t>(w, op->a)[lane]);
    Arguments arguments(host_at(w, lane, row_of<std::uint64_t>(w, op->b)[lane]));
    std::string text;
    for (std::size_t at = 0; at < format.size();) {
      if (format[at] != '%') {
        text.push_back(format[at++]);
      } else {
        text += one_argument(w, lane, format, ++at, arguments);
      }
    }
    row_of<std::int32_t>(w, op->d)[lane] = arguments.count();
    if (w.memory->print) {
      w.memory->print(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stderr);
    }
  });
}

void note_assertion(Warp& w, const Operation* op, std::uint32_t mask) {
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const auto text = [&](std::uint16_t row) {
    return text_at(w, lane, row_of<std::uint64_t>(w, row)[lane]);
  };
  w.memory->assertion = {text(op->a), text(op->b), text(op->e),
                         row_of<std::uint32_t>(w, op->c)[lane]};
}

void allocate(Warp& w, const Operation* op, std::uint32_t mask) {
  DeviceMemory& memory = *w.memory->device;
  for_each_lane(mask, [&](unsigned lane) {
    row_of<std::uint64_t>(w, op->d)[lane] =
        memory.take_of_heap(row_of<std::uint64_t>(w, op->a)[lane]);
  });
}

void deallocate(Warp& w, const Operation* op, std::uint32_t mask) {
  WorkerMemory& memory = *w.memory;
  // Sites remember where accesses went; nothing may lead to what is gone.
  for (std::size_t i = 0; i < memory.counts.size(); ++i) settle(memory, i);
  DeviceMemory::Heap& heap = memory.device->heap();
  ++heap.removals;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = row_of<std::uint64_t>(w, op->a)[lane];
    if (heap.addresses.erase(address) == 0) return;
    heap.bytes -= memory.device->remove(address).size();
  });
}

}  // namespace warpmeter::model
