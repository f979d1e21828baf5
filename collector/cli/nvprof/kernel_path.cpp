// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/kernel_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"

namespace warpmeter::cli::nvprof {
namespace {

/// True if a colon of it stands alone, as none does in the name of a kernel.
bool has_lone_colon(const std::string& text) {
  for (std::size_t at = text.find(':'); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(':', at), text.size());
    if (end - at == 1) return true;
    at = text.find(':', end);
  }
  return false;
}

/// The parts between the colons that are no part of "::" in a name. KERNEL alone is the third.
/// Throws Error{usage}.
std::array<std::string, 4> parts_of(const std::string& text) {
  std::array<std::string, 4> parts;
  if (std::count(text.begin(), text.end(), ':') < 3) {
    if (has_lone_colon(text)) {
      throw Error(ExitCode::usage,
                  fmt::format("invalid argument of option --kernels: {} lacks a colon of "
                              "<context>:<stream>:<kernel>:<invocation>, whose parts may be empty",
                              text));
    }
    parts[2] = text;
    return parts;
  }
  const std::size_t first = text.find(':'), second = text.find(':', first + 1),
                    last = text.rfind(':');
  parts[0] = text.substr(0, first);
  parts[1] = text.substr(first + 1, second - first - 1);
  parts[2] = text.substr(second + 1, last - second - 1);
  parts[3] = text.substr(last + 1);
  return parts;
}

/// A part that matches as a whole. Throws Error{usage}.
RegularExpression whole_match(const std::string& part, const char* what) {
  try {
    return RegularExpression("^(" + part + ")$");
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("invalid argument of option --kernels: the {}: {}",
                                             what, error.what()));
  }
}

}  // namespace

KernelPath::Place KernelPath::place_of(const std::string& part, const char* what) {
  if (part.empty()) return {};
  if (const auto number = read_all<std::uint32_t>(part)) return {number, std::nullopt};
  return {std::nullopt, whole_match(part, what)};
}

KernelPath::KernelPath(const std::string& text, reports::nvprof::ResourceNames names)
    : names_(std::move(names)) {
  const std::array<std::string, 4> parts = parts_of(text);
  context_ = place_of(parts[0], "context");
  stream_ = place_of(parts[1], "stream");
  kernel_ = parts[2];
  invocation_ = parts[3];
  pattern_ = std::make_shared<inject::KernelPattern>(kernel_.empty() ? "" : "regex:" + kernel_);
  const auto number = read_all<std::uint64_t>(invocation_);
  if (number && *number == 0) {
    throw Error(ExitCode::usage,
                "invalid argument of option --kernels: the first invocation of a kernel is 1");
  }
  if (!invocation_.empty() && !number) {
    invocations_.emplace(whole_match(invocation_, "invocation"));
  }
}

bool KernelPath::matches(const reports::nvprof::CountedLaunch& launch) const {
  const reports::nvprof::Origin& origin = launch.origin;
  const auto is_at = [](const Place& place, std::uint32_t number, const auto& name) {
    if (place.number) return *place.number == number;
    return !place.name || place.name->finds(name());
  };
  const auto context = [&] {
    return names_.context ? names_.context(origin.process, origin.context) : "";
  };
  const auto stream = [&] {
    return names_.stream ? names_.stream(origin.process, origin.context, origin.stream) : "";
  };
  if (!is_at(context_, origin.context, context)) return false;
  if (!is_at(stream_, origin.stream, stream)) return false;
  if (!kernel_.empty() && !pattern_->matches(launch.kernel)) return false;
  if (invocation_.empty()) return true;
  const std::string number = fmt::format("{}", launch.invocation);
  return invocations_ ? invocations_->finds(number) : invocation_ == number;
}

}  // namespace warpmeter::cli::nvprof
