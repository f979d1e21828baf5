// SPDX-License-Identifier: MIT
#include "collector/model/input/compile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/words.h"
#include "collector/model/input/nvrtc.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::model {
namespace {

[[noreturn]] void refuse_option(const std::string& sentence) {
  throw Error(ExitCode::usage, sentence);
}

/// The architectures that nvcc prints: "sm_75", a line each.
std::vector<int> nvcc_architectures() {
  const auto nvcc = toolkit_program("nvcc");
  if (!nvcc) return {};
  const ToolOutcome outcome = run_tool({nvcc->string(), "--list-gpu-code"});
  std::vector<int> known;
  for (std::size_t at = 0; (at = outcome.output.find("sm_", at)) != std::string::npos;) {
    at += 3;
    known.push_back(std::atoi(outcome.output.c_str() + at));
  }
  std::sort(known.begin(), known.end());
  return outcome.exit_code == 0 ? known : std::vector<int>{};
}

/// That NVRTC compiles for, or else nvcc; empty without a toolkit.
std::vector<int> known_architectures() {
  std::vector<int> known = nvrtc_architectures();
  return known.empty() ? nvcc_architectures() : known;
}

/// "sm_9" is rather a part of sm_90 than near sm_75, and "sm_90a" is that without its letter; to
/// "sm_999" nothing is near.
std::optional<int> nearest_architecture(const std::vector<int>& known, int arch) {
  constexpr int most_off = 5;
  const std::string digits = std::to_string(arch);
  const auto begun = std::find_if(known.begin(), known.end(),
                                  [&](int one) { return std::to_string(one).starts_with(digits); });
  if (begun != known.end()) return *begun;
  const auto off = [&](int one) { return std::abs(std::int64_t{one} - arch); };
  const int near =
      *std::min_element(known.begin(), known.end(), [&](int a, int b) { return off(a) < off(b); });
  return off(near) <= most_off ? std::optional(near) : std::nullopt;
}

}  // namespace

int checked_arch(std::string_view option, std::string_view text) {
  const std::size_t prefix = text.starts_with("sm_") ? 3 : text.starts_with("sm") ? 2 : 0;
  const std::string_view digits = text.substr(prefix);
  int arch = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), arch);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  const std::vector<int> known = known_architectures();
  if (is_number && known.empty() && arch >= 50 && arch <= 199) return arch;
  if (is_number && std::find(known.begin(), known.end(), arch) != known.end()) return arch;
  if (known.empty()) {
    refuse_option(fmt::format("{} takes an architecture such as sm_90, not '{}'", option, text));
  }
  const auto near = arch > 0 ? nearest_architecture(known, arch) : std::nullopt;
  refuse_option(
      fmt::format("{} takes an architecture that this toolkit's compiler knows, not '{}'{}: "
                  "sm_{}",
                  option, text, near ? fmt::format(" (did you mean sm_{}?)", *near) : "",
                  fmt::join(known, ", sm_")));
}

void check_compiler(std::string_view option, const std::string& compiler) {
  if (compiler.empty() || compiler == "nvrtc" || compiler == "nvcc") return;
  refuse_option(fmt::format("{} takes nvrtc or nvcc, not '{}'", option, compiler));
}

void check_standard(std::string_view option, const std::string& standard) {
  if (standard.empty() || standard == "c++17" || standard == "c++20") return;
  refuse_option(fmt::format("{} takes c++17 or c++20, not '{}'", option, standard));
}

void check_include(std::string_view option, const std::string& folder) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  const bool exists = std::filesystem::exists(folder, ignored);
  refuse_option(fmt::format("{} takes a folder, and '{}' is {}; check its name", option, folder,
                            exists ? "none" : "not there"));
}

void check_define(std::string_view option, std::string_view define) {
  const auto end = std::find_if_not(define.begin(), define.end(), is_of_word);
  const bool is_name =
      end != define.begin() && std::isdigit(static_cast<unsigned char>(define.front())) == 0;
  if (is_name && (end == define.end() || *end == '=' || *end == '(')) return;
  refuse_option(fmt::format("{} takes NAME or NAME=VALUE, not '{}'", option, define));
}

}  // namespace warpmeter::model
