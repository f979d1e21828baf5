// SPDX-License-Identifier: MIT
// The objects of one kind that a program knows by handles. A handle is the object's address.
#pragma once

#include <map>
#include <memory>
#include <utility>

namespace warpmeter::runtime {

template <class T, class Owner = std::unique_ptr<T>>
class Handles {
 public:
  /// Null for none.
  T* find(const void* handle) const {
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : found->second.get();
  }
  T& add(Owner object) {
    T& made = *object;
    all_.emplace(&made, std::move(object));
    return made;
  }
  /// The object, whose handle is none from here on: what ends with it finds it no more. Null for
  /// none.
  Owner take(const void* handle) {
    auto taken = all_.extract(handle);
    return taken.empty() ? nullptr : std::move(taken.mapped());
  }
  std::size_t size() const { return all_.size(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  void reset() { all_.clear(); }

 private:
  std::map<const void*, Owner> all_;
};

}  // namespace warpmeter::runtime
