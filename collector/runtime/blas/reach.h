// SPDX-License-Identifier: MIT
// The device's memory for a computation of cuBLAS: vectors and matrices as BLAS has them, where
// they lie in this process. The checks hear of every touch.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime::blas {

/// The program's address leads to no memory of the device.
struct Unreachable {
  std::uint64_t address = 0, bytes = 0;
  bool writes = false;
};

/// How many numbers lie from the first to the last of `columns` columns; past what any memory holds
/// it grows no more.
inline std::int64_t span_of(std::int64_t columns, std::int64_t leading, std::int64_t rows) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  const double about =
      static_cast<double>(columns - 1) * static_cast<double>(leading) + static_cast<double>(rows);
  return about > static_cast<double>(most) ? most : (columns - 1) * leading + rows;
}

/// n numbers, `step` apart. With a negative step the first of them lies last.
template <class T>
struct Vector {
  T* first = nullptr;
  std::int64_t n = 0, step = 1;

  T& operator[](std::int64_t i) const { return first[(step < 0 ? i - (n - 1) : i) * step]; }
};

/// Columns, each `leading` behind the last one.
template <class T>
struct Matrix {
  T* first = nullptr;
  std::int64_t leading = 1;

  T& at(std::int64_t i, std::int64_t j) const { return first[i + j * leading]; }
};

/// A part of a square matrix: cublasFillMode_t.
enum class Fill : int { lower = 0, upper = 1, full = 2 };

/// An element's bytes; of batches the elements are pointers.
template <class T>
inline constexpr std::int64_t element_bytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression)

class Reach {
 public:
  explicit Reach(Process& process) : process_(process) {}

  template <class T>
  const T* read(const T* at, std::int64_t count) {
    const auto* place = static_cast<const T*>(this->place(at, count * element_bytes<T>, false));
    touch(at, count * element_bytes<T>, false);
    return place;
  }
  template <class T>
  T* write(T* at, std::int64_t count) {
    auto* place = static_cast<T*>(this->place(at, count * element_bytes<T>, true));
    touch(at, count * element_bytes<T>, true);
    return place;
  }
  /// A vector that is read, or, where T is not const, read and written.
  template <class T>
  Vector<T> vector(T* at, std::int64_t n, std::int64_t step) {
    constexpr bool writes = !std::is_const_v<T>;
    const std::int64_t apart = std::abs(step);
    const Vector<T> made{static_cast<T*>(place(at, span_of(n, apart, 1) * sizeof(T), writes)), n,
                         step};
    if (step == 1 || step == -1) {
      touch(at, n * sizeof(T), writes);
    } else if (is_checked()) {
      for (std::int64_t i = 0; i < n; ++i) touch(at + i * apart, sizeof(T), writes);
    }
    return made;
  }
  template <class T>
  Matrix<T> matrix(T* at, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                   Fill fill = Fill::full) {
    constexpr bool writes = !std::is_const_v<T>;
    const std::int64_t count = span_of(columns, leading, rows);
    const Matrix<T> made{static_cast<T*>(place(at, count * sizeof(T), writes)), leading};
    if (!is_checked()) return made;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t begin = fill == Fill::lower ? j : 0;
      const std::int64_t end = fill == Fill::upper ? j + 1 : rows;
      touch(at + begin + j * leading, (end - begin) * sizeof(T), writes);
    }
    return made;
  }

  /// The computation is done: what it wrote depends on what it read.
  void finish();

 private:
  bool is_checked() const { return process_.checks() != nullptr; }
  void* place(const void* at, std::uint64_t bytes, bool writes);
  void touch(const void* at, std::uint64_t bytes, bool writes);

  Process& process_;
  std::uint64_t ordered_ = 0;  ///< something read that depends on the order of threads; 0: nothing
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written_;  ///< addresses, bytes
};

}  // namespace warpmeter::runtime::blas
