// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "schema/catalogue.h"

namespace warpmeter::schema {
namespace {

/// From 1.
constexpr std::array<std::string_view, 10> copy_directions = {
    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 7> memory_words = {
    "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
constexpr std::array<NvprofManaged, 8> managed_events = {
    {{"migration", "[Unified Memory Memcpy HtoD]"},
     {"migration", "[Unified Memory Memcpy DtoH]"},
     {"page fault", "[Unified Memory CPU page faults]"},
     {"page fault", "[Unified Memory GPU page faults]"},
     {"thrashing", "[Unified Memory thrashing]"},
     {"throttling", "[Unified Memory throttling]"},
     {"remote map", "[Unified Memory remote map]"},
     {"migration", "[Unified Memory Memcpy DtoD]"}}};

/// The number of an entry, from 1; 0 where there is none.
template <class List, class Is>
std::int64_t number_in(const List& list, const Is& is) {
  const auto found = std::find_if(list.begin(), list.end(), is);
  return found == list.end() ? 0 : found - list.begin() + 1;
}

template <class List>
auto entry_of(const List& list, std::int64_t number) {
  const bool is_there = number >= 1 && number <= static_cast<std::int64_t>(list.size());
  return is_there ? list[static_cast<std::size_t>(number - 1)] : typename List::value_type{};
}

}  // namespace

std::int64_t nvprof_copy_kind(std::string_view name) {
  return number_in(copy_directions, [&](std::string_view direction) {
    return name == fmt::format("[CUDA memcpy {}]", direction);
  });
}

std::string nvprof_copy_name(std::int64_t kind) {
  const std::string_view direction = entry_of(copy_directions, kind);
  return direction.empty() ? "[CUDA memcpy]" : fmt::format("[CUDA memcpy {}]", direction);
}

std::int64_t nvprof_memory_kind(std::string_view word) {
  return number_in(memory_words, [&](std::string_view known) { return known == word; });
}

std::string_view nvprof_memory_word(std::int64_t kind) {
  const std::string_view word = entry_of(memory_words, kind);
  return word.empty() ? "Unknown" : word;
}

std::int64_t nvprof_managed_kind(std::string_view kind, std::string_view name) {
  return number_in(managed_events, [&](const NvprofManaged& event) {
    return event.kind == kind && event.name == name;
  });
}

NvprofManaged nvprof_managed(std::int64_t kind) { return entry_of(managed_events, kind); }

std::string little_endian(std::uint64_t bits, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>((bits >> (8 * i)) & 0xff);
  return bytes;
}

std::string bytes_of_uuid(std::string_view uuid) {
  std::string digits;
  for (const char c : uuid.substr(std::min<std::size_t>(uuid.size(), 4))) {
    if (c != '-') digits += c;
  }
  std::string bytes(16, '\0');
  if (digits.size() != 32) return bytes;
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<char>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

std::string uuid_of_bytes(std::string_view bytes) {
  if (bytes.size() != 16 || bytes == std::string(16, '\0')) return "";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

std::optional<std::uint64_t> nvprof_bits(std::string_view name, NvprofForm form, double value) {
  std::string_view unit;
  const Catalogue& catalogue = Catalogue::get();
  if (const MetricInfo* metric = catalogue.find_metric(name)) unit = metric->unit;
  if (const CounterInfo* counter = catalogue.find_counter(name)) unit = counter->unit;
  const auto whole = [](double number) {
    return number >= 0 && number < 1.8e19
               ? std::optional(static_cast<std::uint64_t>(std::round(number)))
               : std::nullopt;
  };
  switch (form) {
    case NvprofForm::ratio:
      return std::bit_cast<std::uint64_t>(unit == "%" ? value / 100 : value);
    case NvprofForm::percent:
      return std::bit_cast<std::uint64_t>(value);
    case NvprofForm::count:
      return whole(value);
    case NvprofForm::bytes_per_second:
      if (unit == "GB/s" || unit.empty()) return whole(value * 1e9);
      return unit == "bytes/s" ? whole(value) : std::nullopt;
    case NvprofForm::level:
      // The level that nvprof prints: each begun tenth counts.
      return unit == "%" || unit.empty() ? whole(std::ceil(value / 10)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace warpmeter::schema
