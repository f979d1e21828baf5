// SPDX-License-Identifier: MIT
#include "kernels/references.h"

#include <algorithm>
#include <cstring>

namespace warpmeter::kernels {
namespace {

using Arguments = ReferenceArguments;
using Sizes = std::vector<std::uint64_t>;

std::uint64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
}

template <class T>
const T* input(const Arguments& arguments, std::size_t index) {
  return reinterpret_cast<const T*>(arguments.buffers[index]);
}

/// Calls `body` with a zero of the type; whole numbers wrap around.
template <class Body>
void for_type(Element type, const Body& body) {
  if (type == Element::f32) return body(float{0});
  if (type == Element::f64) return body(double{0});
  body(std::uint32_t{0});
}

/// Calls `body` with a number as wide as the type, for moving elements.
template <class Body>
void for_width(Element type, const Body& body) {
  switch (bytes_of(type)) {
    case 1:
      return body(std::uint8_t{0});
    case 2:
      return body(std::uint16_t{0});
    case 4:
      return body(std::uint32_t{0});
    default:
      return body(std::uint64_t{0});
  }
}

/// Result and buffers of equal length.
template <std::size_t buffers>
Sizes all_equal(const Arguments& arguments) {
  return Sizes(buffers + 1, arguments.count);
}

void add(const Arguments& arguments, std::byte* result) {
  for_type(arguments.type, [&](auto zero) {
    using T = decltype(zero);
    const T *a = input<T>(arguments, 0), *b = input<T>(arguments, 1);
    T* sum = reinterpret_cast<T*>(result);
    for (std::uint64_t i = 0; i < arguments.count; ++i) sum[i] = a[i] + b[i];
  });
}

/// The sum of each block in its first element; the others stay.
void block_sums(const Arguments& arguments, std::byte* result) {
  for_type(arguments.type, [&](auto zero) {
    using T = decltype(zero);
    const auto block = static_cast<std::uint64_t>(arguments.numbers[0]);
    const T* data = input<T>(arguments, 0);
    T* values = reinterpret_cast<T*>(result);
    std::copy(data, data + arguments.count, values);
    for (std::uint64_t first = 0; first < arguments.count; first += block) {
      T sum = zero;
      const std::uint64_t end = std::min(first + block, arguments.count);
      for (std::uint64_t i = first; i < end; ++i) sum += data[i];
      values[first] = sum;
    }
  });
}

void copy(const Arguments& arguments, std::byte* result) {
  std::memcpy(result, arguments.buffers[0], arguments.count * bytes_of(arguments.type));
}

/// The first half over the second; the middle one of an odd number stays.
void copy_half(const Arguments& arguments, std::byte* result) {
  const std::size_t half = arguments.count / 2 * bytes_of(arguments.type);
  copy(arguments, result);
  std::memcpy(result + half, arguments.buffers[0], half);
}

/// 0, 1, 2, …
void iota(const Arguments& arguments, std::byte* result) {
  for (std::uint64_t i = 0; i < arguments.count; ++i) {
    encode(arguments.type, static_cast<double>(i), result + i * bytes_of(arguments.type));
  }
}

Sizes iota_transposed_sizes(const Arguments& arguments) {
  return {product(arguments.numbers[0], arguments.numbers[1])};
}

/// The columns of 0, 1, 2, … in rows of `width`, one after the other.
void iota_transposed(const Arguments& arguments, std::byte* result) {
  const auto width = static_cast<std::uint64_t>(arguments.numbers[0]);
  const auto height = static_cast<std::uint64_t>(arguments.numbers[1]);
  for (std::uint64_t i = 0; i < arguments.count; ++i) {
    const std::uint64_t value = (i % height) * width + i / height;
    encode(arguments.type, static_cast<double>(value), result + i * bytes_of(arguments.type));
  }
}

Sizes matmul_sizes(const Arguments& arguments) {
  const std::int64_t m = arguments.numbers[0], k = arguments.numbers[1], n = arguments.numbers[2];
  return {product(m, n), product(m, k), product(k, n)};
}

/// Adds rows [row, row + count) of a × b to c. Four rows at a time, so that a row of b is fetched
/// once for all of them; the inner loop runs along rows, and the compiler vectorises it.
template <int count, class T>
void add_rows(T* __restrict c, const T* __restrict a, const T* __restrict b, std::int64_t row,
              std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < k; ++i) {
    const T* __restrict b_row = b + i * n;
    for (std::int64_t j = 0; j < n; ++j) {
      for (int r = 0; r < count; ++r) c[(row + r) * n + j] += a[(row + r) * k + i] * b_row[j];
    }
  }
}

/// The row-major product of a (m × k) and b (k × n).
void matmul(const Arguments& arguments, std::byte* result) {
  for_type(arguments.type, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t m = arguments.numbers[0], k = arguments.numbers[1], n = arguments.numbers[2];
    const T *a = input<T>(arguments, 0), *b = input<T>(arguments, 1);
    T* c = reinterpret_cast<T*>(result);
    std::int64_t row = 0;
    for (; row + 4 <= m; row += 4) add_rows<4>(c, a, b, row, k, n);
    for (; row < m; ++row) add_rows<1>(c, a, b, row, k, n);
  });
}

Sizes transpose_sizes(const Arguments& arguments) {
  return Sizes(2, product(arguments.numbers[0], arguments.numbers[1]));
}

/// A row-major matrix of `height` rows of `width`, as `width` rows of `height`.
void transpose(const Arguments& arguments, std::byte* result) {
  for_width(arguments.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = input<T>(arguments, 0);
    T* to = reinterpret_cast<T*>(result);
    // In squares that a cache holds: column by column, a large matrix would miss at every element.
    constexpr std::int64_t square = 32;
    const std::int64_t w = arguments.numbers[0], h = arguments.numbers[1];
    for (std::int64_t top = 0; top < h; top += square) {
      for (std::int64_t left = 0; left < w; left += square) {
        for (std::int64_t x = left; x < std::min(left + square, w); ++x) {
          for (std::int64_t y = top; y < std::min(top + square, h); ++y) {
            to[x * h + y] = from[y * w + x];
          }
        }
      }
    }
  });
}

constexpr Reference all[] = {
    {"add", "a, b", 2, 0, true, all_equal<2>, add},
    {"block_sums", "data, block", 1, 1, true, all_equal<1>, block_sums},
    {"copy", "in", 1, 0, false, all_equal<1>, copy},
    {"copy_half", "data", 1, 0, false, all_equal<1>, copy_half},
    {"iota", "", 0, 0, false, all_equal<0>, iota},
    {"iota_transposed", "width, height", 0, 2, false, iota_transposed_sizes, iota_transposed},
    {"matmul", "a, b, m, k, n", 2, 3, true, matmul_sizes, matmul},
    {"transpose", "in, width, height", 1, 2, false, transpose_sizes, transpose},
};

}  // namespace

bool Reference::takes(Element type) const {
  return !is_arithmetic || type == Element::i32 || type == Element::u32 || type == Element::f32 ||
         type == Element::f64;
}

std::span<const Reference> references() { return all; }

const Reference* find_reference(std::string_view name) {
  const auto* found = std::find_if(std::begin(all), std::end(all),
                                   [&](const Reference& each) { return each.name == name; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace warpmeter::kernels
