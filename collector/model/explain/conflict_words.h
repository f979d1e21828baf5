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

/// The layout in the kernel's own words where its declaration is known.
std::string change_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if);
/// The same in half a sentence.
std::string meaning_of(const SharedArray& array, const Layout& layout);

}  // namespace warpmeter::model::explain
