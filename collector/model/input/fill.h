// SPDX-License-Identifier: MIT
// How a buffer or a variable of a module starts:
//
//   zeros, iota                 0, 0, 0, …; 0, 1, 2, …
//   random, random:SEED         whole numbers over their type's whole range, bool 0 or 1,
//                               floating types from 0 to below 1
//   random:LO..HI[:SEED]        whole numbers from LO to HI, both included; floating types from LO
//                               to below HI (before they are rounded to the type)
//   integers:LO..HI[:SEED]      whole numbers of any type: sums and products of small ones are
//                               exact in every order
//   small, small:SEED           whole numbers from -8 to 8, those of the catalogue's inputs
//   5   1,2,3                   one value for every element, or each of them
//   FILE.npy  FILE.bin          what a file holds
//
// Random values are a function of the seed and the element's place alone: every machine gives the
// same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/element.h"

namespace warpmeter::model {

struct Fill {
  enum class Kind { nothing, zeros, iota, random, small, values, npy, raw };

  Kind kind = Kind::nothing;
  std::uint64_t seed = 0;
  bool is_whole = false;          ///< for Kind::random: whole numbers of a floating type too
  std::vector<std::byte> values;  ///< elements; of Kind::random LO and HI, or none
  std::string file;               ///< the file of Kind::npy and Kind::raw

  std::uint64_t count(Element element) const { return values.size() / bytes_of(element); }
};

/// FILE.npy or FILE.bin?
bool names_file(std::string_view value);

/// The fill, or why the text is none: "has a seed that is no whole number". Reads no file.
std::variant<Fill, std::string> parse_fill(Element element, std::string_view value);

/// `count` elements, at most what memory holds. A file's are read: Error{file} where it cannot be
/// used, Error{usage} where it holds another type or number of elements than `text` asks for;
/// count 0 takes as many as it holds.
std::vector<std::byte> filled(const Fill& fill, Element element, std::uint64_t count,
                              const std::string& text);

/// How many elements a file would fill; 0: none fills it. Reads its header at most, and throws what
/// filled() would.
std::uint64_t elements_in_file(const Fill& fill, Element element, std::uint64_t count,
                               const std::string& text);

}  // namespace warpmeter::model
