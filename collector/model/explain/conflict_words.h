// SPDX-License-Identifier: MIT
// Bank conflicts and other layouts in words: how the lanes of a warp lie, and what a layout is.
#pragma once

#include <string>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/what_if.h"

namespace warpmeter::model::explain {

/// The warp, and in which wavefront each lane is served.
schema::WarpPicture banks_of(const SiteInfo& site, const WarpAccess& access);
/// A sentence: which lanes meet in how many banks.
std::string pattern_in_words(const WarpAccess& access);

/// A layout that is no padding in the kernel's own words where its declaration is known.
std::string change_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if);
/// The same in half a sentence.
std::string meaning_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if);
/// Stands behind the evidence: the mode of the tensor map whose boxes lie in the array.
std::string mode_in_words(const TensorBoxes& boxes);

/// The value of --shape for an array with rows of so many bytes: "tile=64x32:f32". `together`:
/// bytes that stay so.
std::string shape_of(const SharedArray& array, std::uint32_t row, std::uint32_t together);

/// The same of paddings of rows of one length, of which there are dozens: what is said of all of
/// them is put together once.
class PaddingWords {
 public:
  /// `together`: bytes that stay so.
  PaddingWords(const SharedArray& array, std::uint32_t row, std::uint32_t together);
  std::uint32_t row() const { return row_; }
  std::string change(unsigned words) const;
  std::string meaning(unsigned words) const;

 private:
  std::uint32_t row_, element_, columns_;
  bool is_of_array_ = false;  ///< the declared rows are padded
  std::string
      code_;  ///< the code of the change, what stands before the number; empty: there is none
  std::string before_, behind_;  ///< the words
};

}  // namespace warpmeter::model::explain
