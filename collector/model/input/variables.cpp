// SPDX-License-Identifier: MIT
#include "collector/model/input/variables.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>

#include "base/element.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/with_noun.h"
#include "collector/model/input/arguments.h"
#include "collector/model/input/fill.h"
#include "collector/model/input/npy.h"
#include "collector/model/machine/memory/shown_name.h"

namespace warpmeter::model {
namespace {

constexpr const char* setting_forms =
    "write NAME=VALUE, NAME=FILE.npy, or with a type NAME:f32=VALUE, NAME:f32=1,2,3, "
    "NAME:f32=random:LO..HI, NAME:f32=FILE.bin, NAME:bytes=HEX; NAME=@BUFFER for a pointer";

/// The typed words, in parts.
struct Typed {
  std::string_view text, name, type, count, value;
};

[[noreturn]] void refuse_setting(std::string_view text, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("the setting '{}' {}", text, what));
}

Typed parts_of(std::string_view text) {
  Typed typed;
  typed.text = text;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) {
    refuse_setting(text, fmt::format("has no value; {}", setting_forms));
  }
  typed.value = text.substr(equals + 1);
  typed.name = text.substr(0, equals);
  // The last single colon; "::" belongs to the name.
  const std::size_t colon = typed.name.rfind(':');
  if (colon != std::string_view::npos && (colon == 0 || typed.name[colon - 1] != ':')) {
    typed.type = typed.name.substr(colon + 1);
    typed.name = typed.name.substr(0, colon);
    if (typed.type.empty())
      refuse_setting(text, fmt::format("has no type after its ':'; {}", setting_forms));
    if (const std::size_t bracket = typed.type.find('['); bracket != std::string_view::npos) {
      if (!typed.type.ends_with(']')) refuse_setting(text, "has no ']' after its count");
      typed.count = typed.type.substr(bracket + 1, typed.type.size() - bracket - 2);
      typed.type = typed.type.substr(0, bracket);
    }
  }
  if (typed.name.empty()) refuse_setting(text, fmt::format("names no variable; {}", setting_forms));
  return typed;
}

std::string spaceless(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) result += c;
  }
  return result;
}

const ptx::Variable& variable_named(const KernelFile& file, const Typed& typed) {
  std::string wanted = spaceless(typed.name);
  if (wanted.starts_with("::")) wanted.erase(0, 2);
  std::vector<std::string> names;
  std::vector<const ptx::Variable*> whole, ends;
  for (const ptx::Variable& variable : file.module->variables) {
    if (!is_settable(variable)) continue;
    if (variable.name == typed.name) return variable;
    names.push_back(variable_name(variable.name));
    const std::string name = spaceless(names.back());
    if (name == wanted) whole.push_back(&variable);
    if (name.ends_with("::" + wanted)) ends.push_back(&variable);
  }
  const auto& found = whole.empty() ? ends : whole;
  if (found.size() == 1) return *found[0];
  if (names.empty()) {
    refuse_setting(typed.text,
                   fmt::format("names a variable, and {} has none that a kernel uses", file.path));
  }
  if (found.empty()) {
    refuse_setting(typed.text,
                   fmt::format("names no variable that a kernel of {} uses{}; there {} {}",
                               file.path, did_you_mean(std::string(typed.name), names),
                               names.size() == 1 ? "is" : "are", fmt::join(names, ", ")));
  }
  std::vector<std::string_view> symbols;
  for (const ptx::Variable* variable : found) symbols.push_back(variable->name);
  refuse_setting(typed.text, fmt::format("may mean {} variables: name one as it is in the PTX, {}",
                                         found.size(), fmt::join(symbols, ", ")));
}

/// The type that the PTX declares; nothing for "so many bytes".
std::optional<Element> declared_element(const ptx::Variable& variable) {
  const std::string_view type = ptx::text_of(variable.type);
  if (type.starts_with('b')) return std::nullopt;
  return element_named(type);
}

/// "f32", "f32[16]", "1024 bytes"
std::string declaration_of(const ptx::Variable& variable) {
  const std::optional<Element> element = declared_element(variable);
  if (!element) return with_noun(variable.bytes, "byte");
  const std::uint64_t count = variable.bytes / bytes_of(*element);
  return count == 1 ? std::string(to_string(*element))
                    : fmt::format("{}[{}]", to_string(*element), count);
}

/// Refuses a type whose numbers may not stand there. `int` and `unsigned` are the same to PTX.
void check_type(const ptx::Variable& variable, const Typed& typed, Element element) {
  const std::optional<Element> declared = declared_element(variable);
  const bool fits = declared ? bytes_of(*declared) == bytes_of(element) &&
                                   is_floating(*declared) == is_floating(element)
                             : bytes_of(element) <= std::max(variable.alignment, 1u);
  if (fits) return;
  refuse_setting(typed.text,
                 declared
                     ? fmt::format("has the type {}, but '{}' is {}", to_string(element),
                                   variable_name(variable.name), declaration_of(variable))
                     : fmt::format("has the type {}, but '{}' is aligned to {}, so it holds none",
                                   to_string(element), variable_name(variable.name),
                                   with_noun(variable.alignment, "byte")));
}

[[noreturn]] void refuse_size(const ptx::Variable& variable, const Typed& typed,
                              std::uint64_t count, Element element) {
  refuse_setting(
      typed.text,
      fmt::format(
          "gives {} of {}, {}, but '{}' is {}", with_noun(count, "value"), to_string(element),
          with_noun(count * bytes_of(element), "byte"), variable_name(variable.name),
          declared_element(variable)
              ? fmt::format("{}, {}", declaration_of(variable), with_noun(variable.bytes, "byte"))
              : declaration_of(variable)));
}

/// The element type of the setting, else what the PTX does.
std::optional<Element> element_of(const ptx::Variable& variable, const Typed& typed) {
  if (typed.type.empty()) return declared_element(variable);
  const std::optional<Element> element = element_named(typed.type);
  if (!element) {
    refuse_setting(typed.text, fmt::format("has the type '{}', which is none of {}, bytes{}",
                                           typed.type, fmt::join(element_names(), ", "),
                                           did_you_mean(std::string(typed.type), element_names())));
  }
  check_type(variable, typed, *element);
  const std::uint64_t count = variable.bytes / bytes_of(*element);
  if (!typed.count.empty() && typed.count != fmt::format("{}", count)) {
    refuse_setting(typed.text,
                   fmt::format("has {}, but '{}' is {}: {} of {}",
                               with_noun(typed.count, "element"), variable_name(variable.name),
                               declaration_of(variable), count, to_string(*element)));
  }
  return element;
}

/// The bytes of a .npy, whose type is known, or of a .bin.
std::vector<std::byte> setting_from_file(const ptx::Variable& variable, const Typed& typed,
                                         std::optional<Element> element) {
  const std::string path(typed.value);
  constexpr std::uint64_t most_header = 1 << 20;
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > variable.bytes + most_header) {  // not worth reading
    refuse_setting(typed.text,
                   fmt::format("gives a file of {}, but '{}' is {}", with_noun(size, "byte"),
                               variable_name(variable.name), with_noun(variable.bytes, "byte")));
  }
  if (path.ends_with(".bin")) {
    std::vector<std::byte> bytes = read_whole_file(path);
    if (bytes.size() == variable.bytes) return bytes;
    refuse_setting(typed.text,
                   fmt::format("gives {}, but '{}' is {}", with_noun(bytes.size(), "byte"),
                               variable_name(variable.name), with_noun(variable.bytes, "byte")));
  }
  Npy npy = read_npy(path, element.value_or(Element::f32));
  if (!typed.type.empty() && npy.element != *element) {
    refuse_setting(typed.text, fmt::format("asks for {}, but {} holds {}", to_string(*element),
                                           path, to_string(npy.element)));
  }
  check_type(variable, typed, npy.element);
  if (npy.data.size() != variable.bytes) refuse_size(variable, typed, npy.count, npy.element);
  return std::move(npy.data);
}

/// Values for a variable of numbers that are all alike.
std::vector<std::byte> from_values(const ptx::Variable& variable, const Typed& typed,
                                   std::optional<Element> element) {
  const std::string name = variable_name(variable.name);
  if (!element) {
    refuse_setting(typed.text,
                   fmt::format("says no type, and '{}' is known as {} alone: {}:f32={}", name,
                               declaration_of(variable), typed.name, typed.value));
  }
  auto fill = parse_fill(*element, typed.value);
  if (std::holds_alternative<std::string>(fill) && typed.type.empty() && !is_floating(*element)) {
    // `int` and `unsigned` are the same to PTX: the other sign may be meant.
    constexpr std::pair<Element, Element> others[] = {{Element::u8, Element::i8},
                                                      {Element::u16, Element::i16},
                                                      {Element::u32, Element::i32},
                                                      {Element::u64, Element::i64}};
    for (const auto& [unsigned_one, signed_one] : others) {
      if (*element != unsigned_one) continue;
      auto other = parse_fill(signed_one, typed.value);
      if (std::holds_alternative<Fill>(other)) {
        element = signed_one;
        fill = std::move(other);
        break;
      }
    }
  }
  if (const auto* wrong = std::get_if<std::string>(&fill)) {
    refuse_setting(typed.text, fmt::format("{}; '{}' is {}; {}", *wrong, name,
                                           declaration_of(variable), setting_forms));
  }
  const Fill& chosen = std::get<Fill>(fill);
  const std::uint64_t count = variable.bytes / bytes_of(*element);
  const std::uint64_t listed = chosen.count(*element);
  const bool is_list = chosen.kind == Fill::Kind::values && listed != 1;
  if (variable.bytes % bytes_of(*element) != 0 || (is_list && listed != count)) {
    refuse_size(variable, typed, is_list ? listed : 1, *element);
  }
  return filled(chosen, *element, count, std::string(typed.text));
}

}  // namespace

std::string variable_name(std::string_view symbol) {
  return readable_variable(symbol).value_or(std::string(symbol));
}

bool is_settable(const ptx::Variable& variable) {
  return (variable.space == ptx::Space::global || variable.space == ptx::Space::constant) &&
         variable.bytes > 0 && !variable.name.starts_with('$');
}

bool is_typed(const ptx::Variable& variable) { return declared_element(variable).has_value(); }

std::string file_of_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !names_file(text.substr(equals + 1))) return "";
  return std::string(text.substr(equals + 1));
}

VariableSetting parse_setting(const KernelFile& file, std::string_view text) {
  const Typed typed = parts_of(text);
  VariableSetting setting;
  const ptx::Variable& variable = variable_named(file, typed);
  setting.variable = &variable;
  if (typed.value.starts_with('@')) {
    setting.buffer = typed.value.substr(1);
    if (variable.bytes != sizeof(std::uint64_t) || !typed.type.empty()) {
      refuse_setting(text, fmt::format("gives a buffer's address, but '{}' is {}, no pointer",
                                       variable_name(variable.name), declaration_of(variable)));
    }
    return setting;
  }
  if (typed.type == "bytes") {
    auto bytes = hexadecimal_bytes(typed.value);
    if (!bytes) refuse_setting(text, "has no bytes as hexadecimal digits, two a byte");
    if (bytes->size() != variable.bytes) {
      refuse_setting(text,
                     fmt::format("gives {}, but '{}' is {}", with_noun(bytes->size(), "byte"),
                                 variable_name(variable.name), with_noun(variable.bytes, "byte")));
    }
    setting.bytes = std::move(*bytes);
    return setting;
  }
  const std::optional<Element> element = element_of(variable, typed);
  setting.bytes = names_file(typed.value) ? setting_from_file(variable, typed, element)
                                          : from_values(variable, typed, element);
  return setting;
}

}  // namespace warpmeter::model
