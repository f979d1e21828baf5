// SPDX-License-Identifier: MIT
// Bytes of a file that somebody else wrote, read without trust. A number, a part or a text comes
// out only where all of it lies within the bytes; no sum of an offset and a size can wrap. Every
// reader of a binary format goes through these functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace warpmeter {

static_assert(std::endian::native == std::endian::little, "files are read as memory holds them");

using Bytes = std::span<const std::byte>;

inline Bytes bytes_in(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// All of it as text, NULs included.
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `size` bytes from `offset` on; nothing where they are not all there.
inline std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

/// The bytes from `offset` on; empty past the end.
inline Bytes rest(Bytes bytes, std::uint64_t offset) {
  return offset > bytes.size() ? Bytes() : bytes.subspan(offset);
}

/// A little-endian number, or a record of such numbers, at any offset; nothing past the end.
template <class T>
requires std::is_trivially_copyable_v<T> std::optional<T> number_at(Bytes bytes,
                                                                    std::uint64_t offset) {
  const auto found = part(bytes, offset, sizeof(T));
  if (!found) return std::nullopt;
  T value;
  std::memcpy(&value, found->data(), sizeof value);
  return value;
}

/// No name in a file is longer: those that C++ templates get have some thousand characters.
inline constexpr std::size_t longest_text = std::size_t{1} << 15;

/// The text at `offset` up to its NUL; empty where none ends it, or only one far away.
inline std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  const std::string_view all = as_text(rest(bytes, offset)).substr(0, longest_text);
  const std::size_t end = all.find('\0');
  return end == std::string_view::npos ? std::string_view() : all.substr(0, end);
}

/// `size` rounded up to a multiple of `step`, a power of two; nothing where that wraps.
inline std::optional<std::uint64_t> rounded_up(std::uint64_t size, std::uint64_t step) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(size, step - 1, &sum)) return std::nullopt;
  return sum & ~(step - 1);
}

}  // namespace warpmeter
