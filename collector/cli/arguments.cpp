// SPDX-License-Identifier: MIT
#include "collector/cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/utf8.h"

namespace warpmeter::cli {
namespace {

bool is_name(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

}  // namespace

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
                            did_you_mean(text, known)));
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
    throw Error(
        ExitCode::usage,
        fmt::format("query --param takes NAME=VALUE, not '{}'; write :NAME in the SQL", text));
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
                fmt::format("--label '{}' already means a run: choose another", label));
  }
  constexpr std::size_t longest_label = 200;
  if (label.size() > longest_label) {
    throw Error(ExitCode::usage, fmt::format("--label is longer than {} bytes", longest_label));
  }
  if (!is_utf8(label)) {
    throw Error(ExitCode::usage, "--label is not UTF-8, which other readers of the database need");
  }
}

}  // namespace warpmeter::cli
