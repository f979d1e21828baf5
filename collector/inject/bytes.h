// SPDX-License-Identifier: MIT
// Numbers and texts in a frame: little-endian, without padding. Reading is bounded: what a frame
// does not hold makes the reader fail once and for all, and every later read returns nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpmeter::inject {

static_assert(std::endian::native == std::endian::little,
              "frames are written as memory holds them");

class ByteWriter {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    append(&value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    append(value.data(), value.size());
  }
  std::vector<std::uint8_t> take() {
    bytes_.resize(size_);
    return std::move(bytes_);
  }

 private:
  void append(const void* data, std::size_t size) {
    if (size == 0) return;
    if (size_ + size > bytes_.size()) bytes_.resize(2 * (size_ + size) + usual_bytes);
    std::memcpy(bytes_.data() + size_, data, size);
    size_ += size;
  }

  static constexpr std::size_t usual_bytes = 256;

  std::vector<std::uint8_t> bytes_;  ///< longer than what was written
  std::size_t size_ = 0;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class Number>
  Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    Number value{};
    if (take(sizeof value)) std::memcpy(&value, taken_, sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (!take(size)) return "";
    return {reinterpret_cast<const char*>(taken_), size};
  }
  /// The number of elements that follow, each of at least `least_bytes`; 0 and failed() when the
  /// frame is too short for them, so that a lie costs no memory.
  std::size_t count(std::size_t least_bytes) {
    const auto elements = number<std::uint32_t>();
    if (elements > rest_.size() / least_bytes) {
      fail();
      return 0;
    }
    return elements;
  }
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  bool failed() const { return failed_; }
  /// Everything was read, and there was enough of it.
  bool is_complete() const { return !failed_ && rest_.empty(); }

 private:
  bool take(std::size_t size) {
    if (failed_ || size > rest_.size()) {
      fail();
      return false;
    }
    taken_ = rest_.data();
    rest_ = rest_.subspan(size);
    return true;
  }

  std::span<const std::uint8_t> rest_;
  const std::uint8_t* taken_ = nullptr;
  bool failed_ = false;
};

}  // namespace warpmeter::inject
