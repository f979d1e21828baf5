// SPDX-License-Identifier: MIT
// Messages between threads by flags, locks and counters, fenced or not: who has read what whom has
// written, by strong accesses. It makes no order. It says which remedy a race wants: where one
// thread was told of the other's access, a fence or a barrier is missing, not an atomic.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpmeter::model::check {

/// The numbers that the next contexts would have had: what has smaller ones was done before.
struct Moment {
  std::uint32_t shared = 0, global = 0;

  bool is_behind(std::uint32_t context, bool is_shared) const {
    return context < (is_shared ? shared : global);
  }
  bool is_before(const Moment& other) const {
    return shared < other.shared || global < other.global;
  }
};

/// A strong write by a block (within a block: by a warp), and its last fence before that.
struct Signal {
  std::uint32_t from = 0;
  Moment at, fence;
  std::uint32_t site = 0;  ///< the site of the write
};

/// By the place that they went to: of each of a few writers the latest.
class Signals {
 public:
  void write(std::uint64_t place, const Signal& signal) {
    if (all_.size() >= most_places && !all_.contains(place)) return;
    std::vector<Signal>& here = all_[place];
    std::erase_if(here, [&](const Signal& old) { return old.from == signal.from; });
    if (here.size() == most_writers) here.erase(here.begin());
    here.push_back(signal);
  }
  /// Null: nothing.
  const std::vector<Signal>* at(std::uint64_t place) const {
    const auto found = all_.find(place);
    return found == all_.end() ? nullptr : &found->second;
  }
  void clear() { all_.clear(); }

 private:
  static constexpr std::size_t most_places = 65536, most_writers = 8;
  std::unordered_map<std::uint64_t, std::vector<Signal>> all_;
};

/// The messages to a block or warp, by whom they came from.
class Told {
 public:
  struct Entry {
    Signal signal;
    Moment at;  ///< for the reader
  };
  void read(const Signal& signal, const Moment& now) {
    if (all_.size() < most_writers || all_.contains(signal.from)) all_[signal.from] = {signal, now};
  }
  /// The message from there behind the access of this context; null: nothing.
  const Entry* since(std::uint32_t from, std::uint32_t context, bool is_shared) const {
    const auto found = all_.find(from);
    const bool is_there =
        found != all_.end() && found->second.signal.at.is_behind(context, is_shared);
    return is_there ? &found->second : nullptr;
  }

 private:
  static constexpr std::size_t most_writers = 4096;
  std::unordered_map<std::uint32_t, Entry> all_;
};

}  // namespace warpmeter::model::check
