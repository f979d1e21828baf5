// SPDX-License-Identifier: MIT
#include "collector/model/input/device_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "collector/model/input/compile_options.h"

namespace warpmeter::model {
namespace {

/// The value behind a flag: nothing, a word of its own alphabet, a macro, or flags of ptxas.
enum class Value { none, word, macro, ptxas };

struct Flag {
  std::string_view name, other;  ///< without the dashes before it; many have two names
  Value value;
};

constexpr Flag device_flags[] = {
    {"D", "define-macro", Value::macro},
    {"U", "undefine-macro", Value::macro},
    {"std", "", Value::word},
    {"O", "optimize", Value::word},
    {"dopt", "", Value::word},
    {"G", "device-debug", Value::none},
    {"lineinfo", "generate-line-info", Value::none},
    {"use_fast_math", "", Value::none},
    {"extra-device-vectorization", "", Value::none},
    {"expt-relaxed-constexpr", "", Value::none},
    {"expt-extended-lambda", "extended-lambda", Value::none},
    {"restrict", "", Value::none},
    {"w", "disable-warnings", Value::none},
    {"maxrregcount", "", Value::word},
    {"ftz", "", Value::word},
    {"fmad", "", Value::word},
    {"prec-div", "", Value::word},
    {"prec-sqrt", "", Value::word},
    {"rdc", "relocatable-device-code", Value::word},
    {"diag-suppress", "", Value::word},
    {"Xptxas", "ptxas-options", Value::ptxas},
};

constexpr Flag ptxas_flags[] = {
    {"O", "opt-level", Value::word},
    {"dlcm", "def-load-cache", Value::word},
    {"dscm", "def-store-cache", Value::word},
    {"v", "verbose", Value::none},
    {"w", "", Value::none},
    {"warn-spills", "warn-on-spills", Value::none},
    {"warn-lmem-usage", "warn-on-local-memory-usage", Value::none},
    {"warn-double-usage", "warn-on-double-precision-use", Value::none},
    {"allow-expensive-optimizations", "", Value::word},
    {"maxrregcount", "", Value::word},
    {"fmad", "", Value::word},
};

[[noreturn]] void refuse_flag(std::string_view option, std::string_view flag) {
  throw Error(ExitCode::usage,
              fmt::format("{} '{}' is none of those that a file may ask for: -O, -G, -lineinfo, "
                          "-use_fast_math, -maxrregcount, -ftz, -fmad, -prec-div, -prec-sqrt, "
                          "-rdc, -restrict, -diag-suppress, -Xptxas, -D, -U, -std, "
                          "-extra-device-vectorization, -expt-relaxed-constexpr, "
                          "-expt-extended-lambda (folders of headers: include:)",
                          option, flag));
}

/// Nvcc takes what begins with a dash for the next flag.
bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '+' || c == '_' || c == ',' || c == '-';
         });
}

/// The flags "-X", "--X", "-X=value", "-X value" and, for one letter, "-Xvalue".
class Reader {
 public:
  Reader(std::string_view option, const std::vector<std::string>& words)
      : option_(option), words_(words) {}

  void check(const Flag* begin, const Flag* end) {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      const Flag* flag = nullptr;
      std::optional<std::string> value = value_of(word, begin, end, flag);
      if (flag == nullptr) refuse_flag(option_, word);
      if (flag->value == Value::none && value) refuse_flag(option_, word);
      if (flag->value == Value::none) continue;
      if (!value && next_ < words_.size()) value = words_[next_++];
      check_value(*flag, word, value.value_or(""));
    }
  }

 private:
  /// The flag of a word, and its value where it stands in the same one.
  static std::optional<std::string> value_of(std::string_view word, const Flag* begin,
                                             const Flag* end, const Flag*& flag) {
    if (!word.starts_with('-')) return std::nullopt;
    const bool is_long = word.starts_with("--");
    word.remove_prefix(is_long ? 2 : 1);
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    flag = std::find_if(begin, end, [&](const Flag& each) {
      return !name.empty() && (each.name == name || each.other == name);
    });
    if (flag != end) {
      if (equals == std::string_view::npos) return std::nullopt;
      return std::string(word.substr(equals + 1));
    }
    flag = std::find_if(begin, end, [&](const Flag& each) {
      const bool is_letter = each.name.size() == 1 && each.value != Value::none;
      return !is_long && is_letter && word.starts_with(each.name);
    });
    if (flag == end) flag = nullptr;
    return flag == nullptr ? std::nullopt : std::optional(std::string(word.substr(1)));
  }

  void check_value(const Flag& flag, const std::string& word, const std::string& value) const {
    if (flag.value == Value::macro) return check_define(option_, value);
    if (flag.value == Value::word && !is_word(value)) refuse_flag(option_, word);
    if (flag.value != Value::ptxas) return;
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      parts.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
    Reader(option_, parts).check(std::begin(ptxas_flags), std::end(ptxas_flags));
  }

  std::string_view option_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
};

}  // namespace

void check_device_flags(std::string_view option, const std::vector<std::string>& flags) {
  Reader(option, flags).check(std::begin(device_flags), std::end(device_flags));
}

}  // namespace warpmeter::model
