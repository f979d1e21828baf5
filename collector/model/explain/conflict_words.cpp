// SPDX-License-Identifier: MIT
#include "collector/model/explain/conflict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/with_noun.h"
#include "collector/model/explain/joined.h"
#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {

using namespace std::string_view_literals;

namespace {

/// The longest run of neighbouring lanes that are equally far apart.
struct Run {
  unsigned first = 0, lanes = 1;
  std::int64_t step = 0;
};

Run longest_run(const WarpAccess& access) {
  Run best, run;
  bool is_started = false;
  for (unsigned lane = 1; lane < warp_lanes; ++lane) {
    const bool both = (access.mask >> lane & 1) != 0 && (access.mask >> (lane - 1) & 1) != 0;
    const auto step = static_cast<std::int64_t>(access.address[lane] - access.address[lane - 1]);
    if (both && is_started && step == run.step) {
      ++run.lanes;
    } else if (both) {
      run = {lane - 1, 2, step};
    }
    is_started = both;
    if (both && step != 0 && (run.lanes > best.lanes || best.step == 0)) best = run;
  }
  return best;
}

std::string apart(std::int64_t bytes) {
  const std::int64_t length = bytes < 0 ? -bytes : bytes;
  if (length % word != 0) return with_noun(shown(static_cast<double>(length)), "byte");
  return length == word ? "one word" : with_noun(shown(static_cast<double>(length) / word), "word");
}

/// Rows that are the elements of an array of structures.
bool is_of_elements(const SharedArray& array, std::uint32_t row) {
  return array.extents.size() == 1 && row == array.element_bytes;
}

std::string_view name_of(const SharedArray& array) {
  return array.name.empty() ? "array"sv : std::string_view(array.name);
}

/// Stands behind a formula for an array of several dimensions.
constexpr std::string_view numbers_all = ", where i numbers the elements of the whole array";

/// True if --shape would refuse it.
bool is_refused(const std::string& text, const SharedArray& array) {
  try {
    return !misfit(parse_shape(text), array).empty();
  } catch (const Error&) {
    return true;
  }
}

/// Behind what is said of one.
std::string of_part(const SharedArray& array) {
  return array.part.empty() ? "" : joined(", of the part of ", array.name, " ", array.part);
}

/// The bytes of an element as the source counts them: its type where that is known, else what the
/// accesses keep together.
std::uint32_t element_bytes(const SharedArray& array, std::uint32_t together) {
  return array.element_bytes != 0 && together % array.element_bytes == 0 ? array.element_bytes
                                                                         : together;
}

}  // namespace

schema::WarpPicture banks_of(const SiteInfo& site, const WarpAccess& access) {
  schema::WarpPicture picture;
  picture.mask = access.mask;
  picture.width = access.width;
  for_each_lane(access.mask, [&](unsigned lane) { picture.address[lane] = access.address[lane]; });
  const auto passes = shared_passes(site.carrier == Carrier::matrix ? matrix_rows(access) : access,
                                    shared_access(site));
  std::copy(passes.begin(), passes.end(), picture.pass.begin());
  return picture;
}

std::string pattern_in_words(const WarpAccess& access) {
  /// The places of at most 32 lanes of 32 bytes.
  struct Places {
    std::array<std::uint64_t, warp_lanes * 8> words;
    std::size_t size = 0;
    std::uint32_t banks = 0;  ///< bit b: bank b is among them
    void add(std::uint64_t place) {
      if (size > 0 && words[size - 1] == place) return;
      words[size++] = place;
      banks |= 1u << place % explain::banks;
    }
    std::size_t count() {
      const auto begin = words.begin(), end = begin + static_cast<std::ptrdiff_t>(size);
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      return static_cast<std::size_t>(std::unique(begin, end) - begin);
    }
    unsigned bank_count() const { return static_cast<unsigned>(std::popcount(banks)); }
  } of_all, of_run;
  const Run run = longest_run(access);
  for_each_lane(access.mask, [&](unsigned lane) {
    const bool is_of_run = lane >= run.first && lane < run.first + run.lanes;
    for (unsigned byte = 0; byte < access.width; byte += word) {
      const std::uint64_t place = (access.address[lane] + byte) / word;
      of_all.add(place);
      if (is_of_run) of_run.add(place);
    }
  });
  // Lanes that have a bank each do not meet: it is the runs beside them that they meet.
  const bool meets = of_run.bank_count() < of_run.count();
  if (run.lanes < 4 || run.step == static_cast<std::int64_t>(access.width) || !meets) {
    return fmt::format("Its lanes go to {} in {}.", with_noun(of_all.count(), "word"),
                       with_noun(in_words(of_all.bank_count()), "bank"));
  }
  // Both halves may lie so, in the same banks.
  const bool are_halves = run.lanes == 16 && of_all.count() > of_run.count() &&
                          of_all.bank_count() == of_run.bank_count();
  const std::string who = run.lanes == warp_lanes ? "All 32 lanes"
                          : are_halves            ? "The lanes of both halves of a warp"
                          : run.lanes == 16
                              ? "The 16 lanes of half a warp"
                              : fmt::format("Lanes {} to {}", run.first, run.first + run.lanes - 1);
  const std::string width =
      access.width > word ? fmt::format(" and {} bytes wide", access.width) : "";
  return fmt::format("{}, {} apart{}, meet in {}.", who, apart(run.step), width,
                     with_noun(in_words(of_run.bank_count()), "bank"));
}

std::string mode_in_words(const TensorBoxes& boxes) {
  const char* const mode = boxes.mode() == 0 ? "no swizzle" : name_of_mode(boxes.mode());
  return fmt::format(" Copies move boxes of a tensor map with {} there.", mode);
}

namespace {

std::string meaning_of_mode(const TensorBoxes& boxes, unsigned mode) {
  if (mode == 0) return "no swizzle in the tensor map, nor in any access";
  const std::uint32_t cut = boxes.boxes_of_one(mode);
  const std::string parts = cut == 1 ? ""
                                     : joined(", each box cut into ", cut, " of ",
                                              boxes.row_bytes() / cut, " bytes a row");
  return joined("the swizzle of the tensor map", parts,
                "; in every access byte a of shared memory becomes a ^ (a >> 7 & ",
                (1u << mode) - 1, ") << 4");
}

}  // namespace

std::string change_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if) {
  if (layout.kind == Layout::Kind::boxes) return name_of_mode(layout.amount);
  const std::string_view name = name_of(array);
  if (is_of_elements(array, layout.row)) return "";
  const std::uint32_t element =
      layout.kind == Layout::Kind::swizzle ? what_if.swizzled() : what_if.element();
  const std::uint32_t columns = layout.row / element, rows = array.bytes / layout.row;
  // The elements that stay together.
  const std::uint32_t elements = element / element_bytes(array, what_if.element());
  const bool is_plane = array.extents.size() == 2;
  switch (layout.kind) {
    case Layout::Kind::swizzle: {
      std::string row = layout.amount == 0 ? "row" : joined("(row >> ", layout.amount, ")");
      if ((rows - 1) >> layout.amount >= columns) row = joined("(", row, " % ", columns, ")");
      if (elements > 1) row += joined(" * ", elements);
      return is_plane ? joined(name, "[row][column ^ ", row, "]")
                      : joined(name, "[i ^ ", row, "], row = i / ", columns * elements);
    }
    case Layout::Kind::transpose:
      if (elements > 1) return "";
      return is_plane ? joined(name, "[column][row]")
                      : joined(name, "[i % ", columns, " * ", rows, " + i / ", columns, "]");
    case Layout::Kind::padding:  // see PaddingWords
    case Layout::Kind::split:
    case Layout::Kind::members:
    case Layout::Kind::boxes:
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

std::string meaning_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if) {
  const bool is_declared = array.extents.size() == 2;
  const std::string part = of_part(array);
  switch (layout.kind) {
    case Layout::Kind::swizzle:
      // The others would read what lies elsewhere.
      if (is_declared) return "a swizzle, in every access";
      return joined("a swizzle of rows of ", layout.row / word, " words, in every access", part,
                    array.extents.size() > 2 ? numbers_all : "");
    case Layout::Kind::transpose:
      if (is_declared) return "stored the other way round";
      return joined("rows of ", layout.row / word, " words stored as columns", part);
    case Layout::Kind::split:
      return joined("an array for each word of an element", part);
    case Layout::Kind::members:
      if (layout.amount == 0) return joined("an array for each member", part);
      return joined("an array for each member of ", layout.amount, " bytes", part);
    case Layout::Kind::boxes:
      return meaning_of_mode(what_if.boxes(), layout.amount);
    case Layout::Kind::padding:  // see PaddingWords
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

std::string shape_of(const SharedArray& array, std::uint32_t row, std::uint32_t together) {
  const std::uint32_t bytes = element_bytes(array, together);
  const std::string_view type = bytes == 1 ? "u8" : bytes == 2 ? "f16" : bytes == 8 ? "f64" : "f32";
  const std::uint32_t columns = row / (bytes > 8 ? word : bytes);
  const std::uint32_t rows = (array.bytes + row - 1) / row;
  const std::string shape = fmt::format("{}={}x{}:{}", array.name, rows, columns, type);
  return is_refused(shape, array) ? "" : shape;
}

PaddingWords::PaddingWords(const SharedArray& array, std::uint32_t row, std::uint32_t together)
    : row_(row), element_(element_bytes(array, together)), columns_(row / element_) {
  const bool is_element = is_of_elements(array, row);
  const std::string part = of_part(array);
  if (is_element) {
    before_ = "a member of ";
    behind_ = " more in each element" + part;
    return;
  }
  is_of_array_ = array.extents.size() > 1 && row == array.extents.back() * element_;
  behind_ = is_of_array_ ? " of padding a row" + part
                         : joined(" of padding after every ", row / word, " words", part);
  if (array.extents.size() > 1 && !is_of_array_) behind_ += numbers_all;
  code_ = name_of(array);
  if (!is_of_array_) {
    code_ += joined("[i + i / ", columns_);
    return;
  }
  for (std::size_t i = 0; i + 1 < array.extents.size(); ++i) {
    code_ += joined("[", array.extents[i], "]");
  }
  code_ += "[";
}

std::string PaddingWords::change(unsigned words) const {
  if (code_.empty()) return "";
  const std::uint32_t more = words * word / element_;
  if (is_of_array_) return joined(code_, columns_ + more, "]");
  return more > 1 ? joined(code_, " * ", more, "]") : joined(code_, "]");
}

std::string PaddingWords::meaning(unsigned words) const {
  return words == 1 ? joined(before_, "a word", behind_)
                    : joined(before_, words, " words", behind_);
}

}  // namespace warpmeter::model::explain
