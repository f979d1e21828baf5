// SPDX-License-Identifier: MIT
// The sources that launches name: each is read once, and searched once for what it declares,
// however often its kernels are explained.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace warpmeter::model::explain {

class Sources {
 public:
  /// Gives the text of a file; empty where it is not to be had.
  using Read = std::function<std::string(const std::string& file)>;
  explicit Sources(Read read) : read_(std::move(read)) {}

  /// Has this text for the file, unless it was read before.
  void give(const std::string& file, std::string_view text) { files_.try_emplace(file, text); }
  std::string_view text(const std::string& file) { return of(file).text; }
  /// The text from a line on, from 1; empty: there is none.
  std::string_view from_line(const std::string& file, int line);

  struct Array {
    std::string name;
    std::uint32_t bytes = 0;  ///< the bytes of the whole variable
    int last_line = 0;        ///< that may hold its declaration; 0: any
    bool operator<(const Array& other) const {
      return std::tie(name, bytes, last_line) < std::tie(other.name, other.bytes, other.last_line);
    }
  };
  /// The extents of the last `__shared__ … name[a][b]` up to a line that fits the variable's size,
  /// the innermost last; empty where they cannot be told.
  const std::vector<std::uint32_t>& extents(const std::string& file, const Array& array);

 private:
  struct File {
    explicit File(std::string_view of) : text(of) {}
    std::string text;
    std::vector<std::size_t> lines;  ///< where they begin; empty: not looked for yet
    std::map<Array, std::vector<std::uint32_t>> extents;
  };
  File& of(const std::string& file);

  Read read_;
  std::map<std::string, File> files_;
};

}  // namespace warpmeter::model::explain
