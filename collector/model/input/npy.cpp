// SPDX-License-Identifier: MIT
// The format, by NumPy's documentation: "\x93NUMPY", a version, the header's length, the header as
// a Python dictionary with 'descr', 'fortran_order' and 'shape', then the elements.
#include "collector/model/input/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/with_noun.h"

namespace warpmeter::model {
namespace {

/// PTX of a large library has some ten million bytes.
constexpr std::uint64_t most_text = std::uint64_t{256} << 20;

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void refuse_file(std::string_view name, const std::string& what) {
  throw Error(ExitCode::file, fmt::format("{} {}; write it again with numpy.save", name, what));
}

struct Described {
  std::string_view descr;
  Element element;
};
constexpr Described types[] = {
    {"|i1", Element::i8},  {"|u1", Element::u8},  {"<i2", Element::i16}, {"<u2", Element::u16},
    {"<i4", Element::i32}, {"<u4", Element::u32}, {"<i8", Element::i64}, {"<u8", Element::u64},
    {"<f2", Element::f16}, {"<f4", Element::f32}, {"<f8", Element::f64}, {"|b1", Element::boolean},
};

/// The value behind 'key': in the dictionary, without leading spaces; empty when there is no such
/// key.
std::string_view value_of(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{0}{1}{0}", quote, key);
    const std::size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    const std::size_t colon = rest.find_first_not_of(" \t");
    if (colon == std::string_view::npos || rest[colon] != ':') continue;
    rest.remove_prefix(colon + 1);
    const std::size_t first = rest.find_first_not_of(" \t");
    return first == std::string_view::npos ? "" : rest.substr(first);
  }
  return "";
}

/// "(3, 4)" → {3, 4}; nullopt for anything else.
std::optional<std::vector<std::uint64_t>> shape_of(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(1, end - 1);
  std::vector<std::uint64_t> shape;
  while (true) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return shape;
    text.remove_prefix(first);
    std::uint64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    const std::size_t comma = text.find_first_not_of(" \tL");
    if (comma == std::string_view::npos) return shape;
    if (text[comma] != ',') return std::nullopt;
    text.remove_prefix(comma + 1);
  }
}

Element element_of(std::string_view value, std::string_view name, Element wanted) {
  if (value.size() < 2 || (value[0] != '\'' && value[0] != '"')) {
    refuse_file(name, "holds records, and a kernel's buffer takes plain numbers");
  }
  const std::string_view descr = value.substr(1, value.find(value[0], 1) - 1);
  if (wanted == Element::bf16 && (descr == "<u2" || descr == "|V2" || descr == "<V2")) {
    return Element::bf16;
  }
  for (const Described& type : types) {
    // Single bytes have no order, whatever sign says so.
    if (type.descr == descr ||
        (descr.size() == 3 && type.descr[0] == '|' && type.descr.substr(1) == descr.substr(1))) {
      return type.element;
    }
  }
  refuse_file(name, fmt::format("holds elements of type '{}', which is none of {}", descr,
                                fmt::join(element_names(), ", ")));
}

std::size_t number_of(std::span<const std::byte> contents, std::size_t at, std::size_t bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::size_t>(contents[at + i]) << 8 * i;
  }
  return value;
}

/// The beginning of a regular file, as much of it as there is.
std::vector<std::byte> read_beginning(const std::string& path, std::uint64_t most) {
  const std::uint64_t bytes = std::min(size_of_file(path), most);
  const std::uint64_t memory = available_memory();
  if (memory > 0 && bytes > memory) {  // a file with holes takes no room on a disk
    throw Error(ExitCode::file, fmt::format("{} has {}, more than this machine's memory; "
                                            "give a smaller file",
                                            path, with_noun(bytes, "byte")));
  }
  std::ifstream stream(path, std::ios::binary);
  std::vector<std::byte> contents(bytes);
  stream.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(bytes));
  if (!stream) {
    throw Error(ExitCode::file, fmt::format("{} cannot be read ({}); check its permissions", path,
                                            std::strerror(errno)));
  }
  return contents;
}

/// The header of a file of `whole` bytes, of which `contents` has the header at least.
NpyHeader header_in(std::span<const std::byte> contents, std::uint64_t whole, std::string_view name,
                    Element wanted) {
  if (contents.size() < 10 || std::memcmp(contents.data(), magic.data(), magic.size()) != 0) {
    refuse_file(name, "is no .npy file");
  }
  const int version = std::to_integer<int>(contents[6]);
  if (version < 1 || version > 3) refuse_file(name, fmt::format("is of .npy version {}", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4, begin = 8 + length_bytes;
  if (contents.size() < begin) refuse_file(name, "ends within its header");
  const std::size_t length = number_of(contents, 8, length_bytes);
  if (length > contents.size() - begin) refuse_file(name, "ends within its header");
  const std::string_view header(reinterpret_cast<const char*>(contents.data()) + begin, length);

  NpyHeader npy;
  npy.begin = begin + length;
  npy.element = element_of(value_of(header, "descr"), name, wanted);
  const auto shape = shape_of(value_of(header, "shape"));
  if (!shape) refuse_file(name, "says no shape in its header");
  const std::string_view order = value_of(header, "fortran_order");
  if (!order.starts_with("False") && !order.starts_with("True")) {
    refuse_file(name, "says no order in its header");
  }
  if (order.starts_with("True") && shape->size() > 1) {
    refuse_file(name, "is stored column by column (numpy.ascontiguousarray turns it)");
  }
  const std::uint64_t held = whole - npy.begin;
  npy.count = 1;
  for (const std::uint64_t extent : *shape) {
    if (__builtin_mul_overflow(npy.count, extent, &npy.count))
      refuse_file(name, "claims to be too big");
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(npy.count, bytes_of(npy.element), &bytes) || bytes > held) {
    refuse_file(name, fmt::format("holds {}, fewer than the {} of {} that it claims",
                                  with_noun(held, "byte"), with_noun(npy.count, "element"),
                                  to_string(npy.element)));
  }
  return npy;
}

}  // namespace

std::uint64_t size_of_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw Error(ExitCode::file, fmt::format("there is no file {}; check its name", path));
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ExitCode::file, fmt::format("{} is no regular file; give one that is", path));
  }
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    throw Error(ExitCode::file, fmt::format("{} cannot be read ({}); check its permissions", path,
                                            error.message()));
  }
  return bytes;
}

std::vector<std::byte> read_whole_file(const std::string& path) {
  return read_beginning(path, std::numeric_limits<std::uint64_t>::max());
}

std::string read_text_file(const std::string& path) {
  const std::uint64_t size = size_of_file(path);
  if (size > most_text) {
    throw Error(ExitCode::file, fmt::format("{} has {}, more than the {} that are read; "
                                            "give a smaller file",
                                            path, with_noun(size, "byte"), most_text));
  }
  const std::vector<std::byte> bytes = read_whole_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Npy parse_npy(std::vector<std::byte> contents, std::string_view name, Element wanted) {
  const NpyHeader header = header_in(contents, contents.size(), name, wanted);
  Npy npy{header.element, header.count, {}};
  contents.resize(header.begin + npy.count * bytes_of(npy.element));
  contents.erase(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(header.begin));
  npy.data = std::move(contents);
  return npy;
}

NpyHeader read_npy_header(const std::string& path, Element wanted) {
  constexpr std::uint64_t longest = 1 << 20;  // NumPy's own are a few hundred bytes
  return header_in(read_beginning(path, longest), size_of_file(path), path, wanted);
}

Npy read_npy(const std::string& path, Element wanted) {
  return parse_npy(read_whole_file(path), path, wanted);
}

std::string npy_header(Element element, std::uint64_t bytes) {
  std::string_view descr = "<u2";  // bf16
  for (const Described& type : types) {
    if (type.element == element) descr = type.descr;
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   descr, bytes / bytes_of(element));
  constexpr std::size_t alignment = 64, fixed = 10;
  header.append(alignment - (fixed + header.size() + 1) % alignment, ' ');
  header += '\n';
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 255),
                                     static_cast<char>(header.size() >> 8)};
  return std::string(magic) + std::string(version_and_length, sizeof version_and_length) + header;
}

}  // namespace warpmeter::model
