// SPDX-License-Identifier: MIT
// PTX modules that were compiled apart made into one, by the names that they give each other: what
// nvlink does with machine code.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::runtime {

struct LinkedPtx {
  std::string text;
  std::string failure;  ///< why there is none; empty: there is
};

/// Each module's own names (those that are neither .visible, .extern nor .weak) stay its own: where
/// two modules have one in common, those of the later are renamed. The first of several .weak
/// definitions stays, or the one that is not. Lines keep their files; other debug sections go.
LinkedPtx link_ptx(const std::vector<std::string>& modules);

}  // namespace warpmeter::runtime
