// SPDX-License-Identifier: MIT
#include "collector/model/input/fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/small_values.h"
#include "base/with_noun.h"
#include "collector/model/input/npy.h"

namespace warpmeter::model {
namespace {

/// The most values of a list; longer ones are for files.
constexpr std::size_t most_listed = 1 << 16;

std::optional<std::uint64_t> seed_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

bool is_signed(Element element) {
  return element == Element::i8 || element == Element::i16 || element == Element::i32 ||
         element == Element::i64;
}

/// The bits of a whole number, with its sign where the type has one.
std::uint64_t whole_at(Element element, const std::byte* from) {
  std::uint64_t bits = 0;
  const std::size_t width = bytes_of(element);
  std::memcpy(&bits, from, width);
  const unsigned unused = static_cast<unsigned>(64 - 8 * width);
  if (!is_signed(element)) return bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

/// SplitMix64's finaliser (Steele, Lea, Flood, 2014): the same numbers on every machine.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// A number of [0, span), each as likely as the others; 0 is 2^64.
std::uint64_t below(std::uint64_t bits, std::uint64_t span) {
  if (span == 0) return bits;
  const std::uint64_t surplus = (0 - span) % span;  // 2^64 modulo span
  while (surplus != 0 && bits >= 0 - surplus) bits = mixed(bits);
  return bits % span;
}

void fill_randomly(const Fill& fill, Element element, std::byte* to, std::uint64_t count) {
  const std::size_t width = bytes_of(element);
  const bool has_range = !fill.values.empty();
  const std::byte* const high = fill.values.data() + (has_range ? width : 0);
  const std::uint64_t seed = mixed(fill.seed);
  if (is_floating(element)) {
    const double from = has_range ? number_at(element, fill.values.data()) : 0;
    const double end = has_range ? number_at(element, high) : 1;
    if (fill.is_whole) {
      const auto span = static_cast<std::uint64_t>(end - from) + 1;
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto step = static_cast<double>(below(mixed(seed + i), span));
        encode(element, from + step, to + i * width);
      }
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const double share = static_cast<double>(mixed(seed + i) >> 40) * 0x1p-24;
      // Each value is rounded once, whatever the compiler thinks of contraction.
      const double value = std::fma(share, end, std::fma(-share, from, from));
      encode(element, value, to + i * width);
    }
    return;
  }
  std::uint64_t from = 0, span = element == Element::boolean ? 2 : 0;
  if (has_range) {
    from = whole_at(element, fill.values.data());
    span = whole_at(element, high) - from + 1;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t value = from + below(mixed(seed + i), span);
    std::memcpy(to + i * width, &value, width);  // the low bytes
  }
}

/// "LO..HI"; what is wrong with it, if anything is.
std::string parse_range(Fill& fill, Element element, std::string_view range) {
  const std::size_t dots = range.find("..");
  const auto low = encode(element, range.substr(0, dots));
  const auto high = encode(element, range.substr(dots + 2));
  if (!low || !high) {
    return fmt::format("has the range '{}', which is not LO..HI of {}", range, to_string(element));
  }
  fill.values = *low;
  fill.values.insert(fill.values.end(), high->begin(), high->end());
  if (is_floating(element)) {
    const double from = number_at(element, low->data()), end = number_at(element, high->data());
    if (!std::isfinite(from) || !std::isfinite(end)) return "has a range without an end";
    if (from <= end) return "";
  } else {
    const std::uint64_t from = whole_at(element, low->data());
    const std::uint64_t end = whole_at(element, high->data());
    const bool ascends = is_signed(element)
                             ? static_cast<std::int64_t>(from) <= static_cast<std::int64_t>(end)
                             : from <= end;
    if (ascends) return "";
  }
  return fmt::format("has the range '{}', whose end is below its beginning", range);
}

/// Parses the words after "random".
std::string parse_random(Fill& fill, Element element, std::string_view rest) {
  if (rest.empty()) return "";
  rest.remove_prefix(1);
  const std::size_t dots = rest.find("..");
  if (dots != std::string_view::npos) {
    const std::size_t colon = rest.find(':', dots);
    const std::string wrong = parse_range(fill, element, rest.substr(0, colon));
    if (!wrong.empty() || colon == std::string_view::npos) return wrong;
    rest.remove_prefix(colon + 1);
  }
  const std::optional<std::uint64_t> seed = seed_of(rest);
  if (!seed) {
    return fmt::format(
        "has the seed '{}', which is no whole number (random:SEED, random:LO..HI, "
        "random:LO..HI:SEED)",
        rest);
  }
  fill.seed = *seed;
  return "";
}

/// Parses the words after "small".
std::string parse_small(Fill& fill, Element element, std::string_view rest) {
  const bool has_sign = is_signed(element) || is_floating(element);
  if (!has_sign) return fmt::format("has numbers from -8 to 8, which {} lacks", to_string(element));
  const std::optional<std::uint64_t> seed =
      rest.empty() ? std::optional<std::uint64_t>(0) : seed_of(rest.substr(1));
  if (!seed || *seed > std::numeric_limits<std::uint32_t>::max()) {
    return fmt::format("has the seed '{}', which is no whole number below 2^32 (small:SEED)",
                       rest.substr(1));
  }
  fill.seed = *seed;
  return "";
}

/// True if LO and HI are given, and are whole.
bool are_whole(const Fill& fill, Element element) {
  if (fill.values.empty()) return false;
  const double low = number_at(element, fill.values.data());
  const double high = number_at(element, fill.values.data() + bytes_of(element));
  return std::floor(low) == low && std::floor(high) == high && std::fabs(low) < 0x1p53 &&
         std::fabs(high) < 0x1p53;
}

/// "1,2,3"
std::string parse_values(Fill& fill, Element element, std::string_view list) {
  for (std::size_t begin = 0, count = 0; begin <= list.size(); ++count) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view part = list.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const auto bytes = encode(element, part);
    if (const auto greatest = exceeded_greatest(element, part)) {
      return fmt::format(
          "has the value '{}', which is no {}: the greatest is {}; 'inf' is infinity", part,
          to_string(element), *greatest);
    }
    if (!bytes) {
      return fmt::format("starts with '{}', which is no {}, no file and no way to fill one", part,
                         to_string(element));
    }
    if (count == most_listed) return "lists more values than 65536: give a FILE.npy";
    fill.values.insert(fill.values.end(), bytes->begin(), bytes->end());
    begin = end + 1;
  }
  return "";
}

void check_count(const Fill& fill, Element element, std::uint64_t count, std::uint64_t held,
                 const std::string& text) {
  if (count == 0 || count == held) return;
  throw Error(ExitCode::usage,
              fmt::format("'{}' asks for {}, but {} holds {}; write {}[] to take what it "
                          "holds",
                          text, with_noun(count, "element"), fill.file, held, to_string(element)));
}

void check_raw(const Fill& fill, Element element, std::uint64_t bytes, std::uint64_t count,
               const std::string& text) {
  if (bytes == 0 || bytes % bytes_of(element) != 0) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds {}, which are no elements of {}; see '{}'", fill.file,
                            with_noun(bytes, "byte"), to_string(element), text));
  }
  check_count(fill, element, count, bytes / bytes_of(element), text);
}

void check_npy(const Fill& fill, Element element, Element held, std::uint64_t held_count,
               std::uint64_t count, const std::string& text) {
  if (held != element) {
    throw Error(ExitCode::usage, fmt::format("{} holds elements of {}, but '{}' asks for {}",
                                             fill.file, to_string(held), text, to_string(element)));
  }
  check_count(fill, element, count, held_count, text);
}

std::vector<std::byte> from_file(const Fill& fill, Element element, std::uint64_t count,
                                 const std::string& text) {
  if (fill.kind == Fill::Kind::raw) {
    std::vector<std::byte> contents = read_whole_file(fill.file);
    check_raw(fill, element, contents.size(), count, text);
    return contents;
  }
  Npy npy = read_npy(fill.file, element);
  check_npy(fill, element, npy.element, npy.count, count, text);
  return std::move(npy.data);
}

}  // namespace

bool names_file(std::string_view value) {
  return value.ends_with(".npy") || value.ends_with(".bin");
}

std::variant<Fill, std::string> parse_fill(Element element, std::string_view value) {
  Fill fill;
  std::string wrong;
  if (value == "zeros") {
    fill.kind = Fill::Kind::zeros;
  } else if (value == "iota") {
    fill.kind = Fill::Kind::iota;
  } else if (value == "random" || value.starts_with("random:")) {
    fill.kind = Fill::Kind::random;
    wrong = parse_random(fill, element, value.substr(6));
  } else if (value.starts_with("integers:")) {
    fill.kind = Fill::Kind::random;
    fill.is_whole = true;
    wrong = parse_random(fill, element, value.substr(8));
    if (wrong.empty() && !are_whole(fill, element)) {
      wrong = fmt::format("has '{}', which is not integers:LO..HI with whole numbers below 2^53",
                          value);
    }
  } else if (value == "small" || value.starts_with("small:")) {
    fill.kind = Fill::Kind::small;
    wrong = parse_small(fill, element, value.substr(5));
  } else if (names_file(value)) {
    fill.kind = value.ends_with(".npy") ? Fill::Kind::npy : Fill::Kind::raw;
    fill.file = value;
  } else {
    fill.kind = Fill::Kind::values;
    wrong = parse_values(fill, element, value);
  }
  if (!wrong.empty()) return wrong;
  return fill;
}

std::vector<std::byte> filled(const Fill& fill, Element element, std::uint64_t count,
                              const std::string& text) {
  if (!fill.file.empty()) return from_file(fill, element, count, text);
  const std::size_t width = bytes_of(element);
  std::vector<std::byte> contents(count * width);
  std::byte* to = contents.data();
  if (fill.kind == Fill::Kind::iota) {
    for (std::uint64_t i = 0; i < count; ++i) {
      encode(element, static_cast<double>(i), to + i * width);
    }
  } else if (fill.kind == Fill::Kind::random) {
    fill_randomly(fill, element, to, count);
  } else if (fill.kind == Fill::Kind::small) {
    write_small_values(element, static_cast<std::uint32_t>(fill.seed), count, to);
  } else if (fill.kind == Fill::Kind::values && fill.values.size() == contents.size()) {
    contents = fill.values;
  } else if (fill.kind == Fill::Kind::values) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::copy_n(fill.values.begin(), width, to + i * width);
    }
  }
  return contents;
}

std::uint64_t elements_in_file(const Fill& fill, Element element, std::uint64_t count,
                               const std::string& text) {
  if (fill.file.empty()) return 0;
  if (fill.kind == Fill::Kind::raw) {
    const std::uint64_t bytes = size_of_file(fill.file);
    check_raw(fill, element, bytes, count, text);
    return bytes / bytes_of(element);
  }
  const NpyHeader npy = read_npy_header(fill.file, element);
  check_npy(fill, element, npy.element, npy.count, count, text);
  return npy.count;
}

}  // namespace warpmeter::model
