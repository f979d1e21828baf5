#include "collector/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "schema/catalogue.h"
#include "schema/error.h"

namespace warpmeter::cli {
namespace {

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

/// The whole of `text` as a number, nothing before or after it.
template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t least,
                          std::int64_t most) {
  const std::optional<std::int64_t> value = read_all<std::int64_t>(text);
  if (!value || *value < least || *value > most) {
    const std::string range = most == INT64_MAX ? fmt::format("of at least {}", least)
                                                : fmt::format("from {} to {}", least, most);
    throw Error(ExitCode::usage,
                fmt::format("{} takes a whole number {}, not '{}'", option, range, text));
  }
  return *value;
}

double positive_seconds(std::string_view option, std::string_view text) {
  const std::optional<double> value = read_all<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0) {
    throw Error(ExitCode::usage,
                fmt::format("{} takes a number of seconds greater than 0, not '{}'", option, text));
  }
  return *value;
}

std::string choose_word(std::string_view option, std::string_view text,
                        std::span<const std::string> known) {
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    throw Error(ExitCode::usage,
                fmt::format("{} takes {}, not '{}'{}", option, fmt::join(known, ", "), text,
                            schema::did_you_mean(text, known)));
  }
  return std::string(text);
}

std::vector<std::string> split_list(std::string_view option, std::span<const std::string> texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      if (end == begin) {
        throw Error(ExitCode::usage,
                    fmt::format("{} '{}' has an empty part; separate its values by single commas",
                                option, text));
      }
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return parts;
}

std::pair<std::string, schema::Value> parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) {
    throw Error(ExitCode::usage,
                fmt::format("--param takes NAME=VALUE, not '{}'; write :NAME in the SQL", text));
  }
  const std::string name = fmt::format(":{}", text.substr(0, equals));
  const std::string_view value = text.substr(equals + 1);
  if (const auto integer = read_all<std::int64_t>(value)) return {name, *integer};
  const auto real = read_all<double>(value);
  if (real && std::isfinite(*real)) return {name, *real};
  return {name, std::string(value)};
}

void check_label(std::string_view label) {
  const bool is_id = !label.empty() && label.find_first_not_of("0123456789") == label.npos;
  if (is_id || label == "last" || label.starts_with("last~")) {
    throw Error(ExitCode::usage,
                fmt::format("--label '{}' already means a run to --run: choose another", label));
  }
  constexpr std::size_t longest_label = 200;
  if (label.size() > longest_label) {
    throw Error(ExitCode::usage, fmt::format("--label is longer than {} bytes", longest_label));
  }
  if (!is_utf8(label)) {
    throw Error(ExitCode::usage, "--label is not UTF-8, which other readers of the database need");
  }
}

std::string shell_line(std::span<const std::string> words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int length = first < 0x80   ? 1
                       : first < 0xc2 ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                                      : 4;
    if (length == 0 || first > 0xf4 || i + static_cast<std::size_t>(length) > text.size())
      return false;
    std::uint32_t point = length == 1 ? first : first & (0x7fU >> length);
    for (int k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      if ((next & 0xc0U) != 0x80) return false;
      point = point << 6 | (next & 0x3fU);
    }
    const bool is_overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    if (is_overlong || is_surrogate || point > 0x10ffff) return false;
    i += static_cast<std::size_t>(length);
  }
  return true;
}

}  // namespace warpmeter::cli
