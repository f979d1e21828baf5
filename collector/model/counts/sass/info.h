// SPDX-License-Identifier: MIT
// The sections `.nv.info` and `.nv.info.KERNEL`, which the driver reads to launch a kernel. Each is
// a list of entries: a byte says of what form the entry is, a byte what it is about, two how many
// bytes follow, or, in the short forms, are the value.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collector/model/counts/sass/elf.h"

namespace warpmeter::model::sass {

// The kinds of long entries, by cuobjdump's names.
inline constexpr std::uint8_t max_threads = 0x05;          // EIATTR_MAX_THREADS
inline constexpr std::uint8_t outside_functions = 0x0f;    // EIATTR_EXTERNS
inline constexpr std::uint8_t required_threads = 0x10;     // EIATTR_REQNTID
inline constexpr std::uint8_t least_stack = 0x12;          // EIATTR_MIN_STACK_SIZE: "cumulative"
inline constexpr std::uint8_t parameter_info = 0x17;       // EIATTR_KPARAM_INFO
inline constexpr std::uint8_t register_count = 0x2f;       // EIATTR_REGCOUNT
inline constexpr std::uint8_t parameter_info_wide = 0x45;  // EIATTR_KPARAM_INFO_V2: large ones

/// Visits each entry of the long form with what it is about and its values.
template <class Visit>
void for_each_entry(Bytes info, Visit visit) {
  constexpr std::uint8_t long_form = 4;
  std::uint64_t at = 0;
  while (const auto head = number_at<std::uint32_t>(info, at)) {
    const auto form = static_cast<std::uint8_t>(*head);
    const std::uint64_t values = at + sizeof *head;
    const std::uint64_t bytes = form == long_form ? *head >> 16 : 0;
    at = values + bytes;
    if (form != long_form) continue;
    visit(static_cast<std::uint8_t>(*head >> 8),
          info.subspan(values, std::min<std::uint64_t>(bytes, info.size() - values)));
  }
}

}  // namespace warpmeter::model::sass
