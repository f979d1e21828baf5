// SPDX-License-Identifier: MIT
// NumPy's .npy files: one array, as a kernel's buffer takes it or leaves it. The file is not
// trusted: a header may claim anything, and no more is ever allocated than the file holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/element.h"

namespace warpmeter::model {

struct Npy {
  Element element = Element::f32;
  std::uint64_t count = 0;      ///< elements, over all dimensions
  std::vector<std::byte> data;  ///< count × bytes_of(element)
};

/// The claims of a file.
struct NpyHeader {
  Element element = Element::f32;
  std::uint64_t count = 0;  ///< elements, over all dimensions
  std::size_t begin = 0;    ///< the begin of the elements in the file
};

/// Reads no element. Throws as read_npy.
NpyHeader read_npy_header(const std::string& path, Element wanted);

/// Throws Error{file}: no such file, no .npy file, a truncated one, a type or order that a buffer
/// cannot take. `wanted`: elements of 16 bits that are unsigned whole numbers to NumPy may be bf16.
Npy read_npy(const std::string& path, Element wanted);

/// The same from memory; `name` is for messages. Takes the file's contents over.
Npy parse_npy(std::vector<std::byte> contents, std::string_view name, Element wanted);

/// The header before `bytes` bytes of elements in one dimension. bf16, which NumPy lacks, is
/// written as unsigned numbers of 16 bits.
std::string npy_header(Element element, std::uint64_t bytes);

/// The bytes of a regular file, unread. Throws Error{file}.
std::uint64_t size_of_file(const std::string& path);

/// All bytes of a regular file. Throws Error{file}.
std::vector<std::byte> read_whole_file(const std::string& path);

/// The same as text.
std::string read_text_file(const std::string& path);

}  // namespace warpmeter::model
