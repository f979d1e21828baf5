// SPDX-License-Identifier: MIT
// The types of what a kernel reads and writes: their names, their bytes, how their values are
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

enum class Element : std::uint8_t {
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
  boolean
};

/// "i8", "f32", "bool", or C's name for it ("int", "float", …).
std::optional<Element> element_named(std::string_view name);
std::string_view to_string(Element element);
std::vector<std::string> element_names();
std::size_t bytes_of(Element element);
bool is_floating(Element element);

/// A value as the kernel's memory holds it: "12", "0x1f", "-1.5e3", "nan", "true". nullopt: not a
/// value of this type, or outside of its range.
std::optional<std::vector<std::byte>> encode(Element element, std::string_view text);

/// A number that the type, of floats, would take for an infinity: its greatest as text. nullopt: it
/// has room for it, or the text is no number.
std::optional<std::string> exceeded_greatest(Element element, std::string_view text);

/// A number rounded to the type: to nearest even for floating types, towards zero and wrapped for
/// whole numbers. Writes bytes_of(element) bytes.
void encode(Element element, double value, std::byte* to);

/// The value at `from`, as a number and as a person would write it: a whole number of less than
/// 10^16 with all its digits, else the fewest digits that read back as the same value of the type.
double number_at(Element element, const std::byte* from);
std::string text_at(Element element, const std::byte* from);

}  // namespace warpmeter
