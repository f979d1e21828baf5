// SPDX-License-Identifier: MIT
// UUIDs that follow from a content: the same run has the same name wherever it is made again.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace warpmeter::schema {

/// FNV-1a, 64 bits, which goes on from `hash`.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return hash;
}

/// Version 8 of RFC 9562: made of what it names, here of 122 bits of two hashes.
inline std::string uuid_of(std::uint64_t a, std::uint64_t b) {
  return fmt::format("{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | (b >> 50), b & 0xffffffffffff);
}

}  // namespace warpmeter::schema
