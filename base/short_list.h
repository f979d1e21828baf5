// SPDX-License-Identifier: MIT
// A list of so few values that they lie in it: it takes no memory of its own.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>

namespace warpmeter {

template <class T, std::size_t most>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  static constexpr std::size_t max_size() { return most; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void push_back(const T& value) {
    resize(size_ + 1);
    values_[size_ - 1] = value;
  }
  void resize(std::size_t size) {
    if (size > most) throw std::length_error("more than a short list holds");
    for (std::size_t i = size_; i < size; ++i) values_[i] = T();
    size_ = size;
  }
  void clear() { size_ = 0; }

  T& operator[](std::size_t place) { return values_[place]; }
  const T& operator[](std::size_t place) const { return values_[place]; }
  T* begin() { return values_.data(); }
  T* end() { return values_.data() + size_; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }

 private:
  std::array<T, most> values_{};
  std::size_t size_ = 0;
};

}  // namespace warpmeter
