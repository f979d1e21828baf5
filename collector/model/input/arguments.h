// SPDX-License-Identifier: MIT
// A kernel's arguments as a person writes them:
//
//   i32=1024  n:i32=1024        a number, with or without a name
//   null                        a pointer that points nowhere
//   p:bytes=0x00000080…         a structure by value, byte after byte
//   out:f32[1048576]            a buffer whose contents nobody has set
//   in:f32[1048576]=iota        … or set in one of the ways of fill.h; f32[]=FILE.npy takes all
//   that
//                               the file holds, f32[]=1,2,3 as many as are listed
//   @in                         the buffer of that name once more
//
// A count and a number may be expressions (base/expression.h): f32[1<<20], and in a family file
// f32[n*n]. float4[n] is n vectors of four floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/element.h"
#include "base/expression.h"
#include "collector/model/input/fill.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

struct Argument {
  enum class Kind { scalar, buffer, reference };

  Kind kind = Kind::scalar;
  std::string text;  ///< as it was written
  std::string name;  ///< may be empty; of a reference, the buffer's
  std::string type;  ///< as it is printed: "i32", "f32[16]", "bytes", "null"
  Element element = Element::u64;
  std::uint64_t lanes =
      1;  ///< the lanes of a vector type: 4 of float4; `count` counts its elements
  std::vector<std::byte> bytes;  ///< the bytes of a scalar
  std::uint64_t count = 0;       ///< the count of a buffer; 0 with a file: as many as it holds
  Fill fill;                     ///< the fill of a buffer

  bool is_set() const { return fill.kind != Fill::Kind::nothing; }  ///< for a buffer
};

/// Throws Error{usage}: what is wrong with the text, and how it would be right. Reads no file.
/// `symbols` are the names that its expressions may use.
Argument parse_argument(std::string_view text, const Symbols& symbols = {});

/// The bytes of a buffer, its file read as a whole; what is more than 2^64 - 1 is that.
std::uint64_t buffer_bytes(const Argument& argument);

/// A buffer's contents, read or made. Throws Error{file} for a file that cannot be used,
/// Error{usage} for one of another size or type than the argument says, and for a buffer larger
/// than `most_bytes`.
std::vector<std::byte> contents_of(const Argument& argument, std::uint64_t most_bytes);

/// "0x00ff12": two digits a byte, the first byte first; nullopt: something else.
std::optional<std::vector<std::byte>> hexadecimal_bytes(std::string_view text);

/// Throws Error{usage} naming the first parameter that does not fit the kernel's signature.
/// `declaration` is that of its source, for the message; empty: the parameters as PTX has them.
void check_signature(const std::vector<Parameter>& parameters, std::string_view kernel,
                     const std::vector<Argument>& arguments, std::string_view declaration = "");

/// "(u64, u64, u32, b8[24])"
std::string signature_of(const std::vector<Parameter>& parameters);

}  // namespace warpmeter::model
