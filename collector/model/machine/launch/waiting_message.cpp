// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/waiting_message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "collector/model/machine/memory/shown_name.h"

namespace warpmeter::model {
namespace {

/// Waits at barrier objects that a message names.
constexpr std::size_t most_waits = 3;

/// Blocks wait, and others begin only when one of these ends.
std::string not_resident(const BlockTrap& trap, const std::string& kernel,
                         const Geometry& geometry) {
  return fmt::format(
      "no progress: kernel '{}' waits in a loop for what no block on the device brings about: {}"
      " of {} fit at a time, and {} of {} begin only when one of those ends; "
      "launch at most {}, or let blocks wait for lower ones only",
      kernel, with_noun(trap.resident, "block"), with_noun(geometry.block.count(), "thread"),
      trap.not_begun, with_noun(geometry.grid.count(), "block"), with_noun(trap.resident, "block"));
}

/// "1 arrival and 512 bytes of copies"
std::string missing(const ObjectWait& wait) {
  std::string text;
  if (wait.state.pending > 0) {
    text = fmt::format("{} of {}", wait.state.pending, with_noun(wait.state.count, "arrival"));
  }
  if (wait.state.bytes > 0) {
    text += fmt::format("{}{} of copies", text.empty() ? "" : " and ",
                        with_noun(wait.state.bytes, "byte"));
  }
  return text.empty() ? "bytes of copies" : text;
}

std::string at_objects(const BlockTrap& trap, const Program& program, const std::string& kernel,
                       const Geometry& geometry) {
  const ObjectWait& wait = trap.object_waits.front();
  const std::string phase = wait.parity ? fmt::format("phase of parity {}", *wait.parity)
                                        : "phase that the thread arrived in";
  std::string text = fmt::format(
      "no progress: kernel '{}' waits for the {} of the barrier object {}, and nobody brings what "
      "is "
      "missing: {}",
      kernel, phase, object_at(wait.place, program), missing(wait));
  if (wait.parity && wait.state.pending == wait.state.count && wait.state.bytes == 0) {
    text += fmt::format(
        "; nobody has come to this phase, and that of parity {0} is over: wait for parity {0} if "
        "that one is meant. On hardware a wait for parity {1} that comes earlier returns at once, "
        "before the data are there",
        1 - *wait.parity, *wait.parity);
  }
  for (std::size_t i = 1; i < std::min(trap.object_waits.size(), most_waits); ++i) {
    const ObjectWait& other = trap.object_waits[i];
    text += fmt::format("; thread {} waits on {} for {} of the barrier object {}",
                        to_string(position(other.thread, geometry.block)),
                        place_of(program, program.places[other.instruction]),
                        other.parity ? fmt::format("parity {}", *other.parity) : "the phase",
                        object_at(other.place, program));
  }
  return text;
}

}  // namespace

std::string place_of(const Program& program, const Place& place) {
  if (place.line == 0 || static_cast<std::size_t>(place.file) >= program.files.size()) {
    return fmt::format("line {} of its PTX", place.ptx_line);
  }
  return fmt::format("{}:{} (line {} of its PTX)",
                     program.files[static_cast<std::size_t>(place.file)], place.line,
                     place.ptx_line);
}

Dim3 position(std::uint64_t linear, const Dim3& size) {
  return {static_cast<std::uint32_t>(linear % size.x),
          static_cast<std::uint32_t>(linear / size.x % size.y),
          static_cast<std::uint32_t>(linear / size.x / size.y)};
}

std::string to_string(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string object_at(std::uint64_t place, const Program& program) {
  for (const SharedVariable& variable : program.shared_variables) {
    const bool is_dynamic = variable.bytes == 0;  // it goes on to the end
    if (place < variable.offset || (!is_dynamic && place - variable.offset >= variable.bytes)) {
      continue;
    }
    const std::uint64_t byte = place - variable.offset;
    const std::string name = name_of_shared(variable.name);
    return byte == 0 ? fmt::format("'{}'", name) : fmt::format("at byte {} of '{}'", byte, name);
  }
  return fmt::format("at byte {} of shared memory", place);
}

std::string waiting_message(const BlockTrap& trap, const Program& program,
                            const Geometry& geometry) {
  const std::string kernel = readable_name(program.kernel);
  if (trap.not_begun > 0) return not_resident(trap, kernel, geometry);
  if (!trap.object_waits.empty() && trap.object_waits.front().thread / warp_lanes == trap.warp) {
    return at_objects(trap, program, kernel, geometry);
  }
  return fmt::format(
      "no progress: kernel '{}' waits in a loop for what no thread of the grid brings about",
      kernel);
}

}  // namespace warpmeter::model
