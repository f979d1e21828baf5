// SPDX-License-Identifier: MIT
#include "collector/model/input/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/nearest.h"
#include "base/with_noun.h"
#include "base/words.h"

namespace warpmeter::model {
namespace {

constexpr const char* forms =
    "write n:i32=1024 for a number, out:f32[1048576] or in:f32[1048576]=iota (zeros, "
    "random:LO..HI:SEED, a number or a list of them, FILE.npy, FILE.bin) for a buffer, @in for a "
    "buffer once more, null for no buffer";

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("the argument '{}' {}; {}", text, what, forms));
}

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(), is_of_word);
}

/// "float4" is four of "float"; nothing else has lanes.
std::pair<std::string_view, std::uint64_t> lanes_of(std::string_view name) {
  constexpr std::string_view vectors[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                          "long", "ulong", "half",  "float",  "double"};
  if (name.empty() || name.back() < '2' || name.back() > '4') return {name, 1};
  const std::string_view stem = name.substr(0, name.size() - 1);
  const bool is_vector =
      std::find(std::begin(vectors), std::end(vectors), stem) != std::end(vectors);
  if (!is_vector) return {name, 1};
  return {stem, static_cast<std::uint64_t>(name.back() - '0')};
}

/// Elements of a buffer: an expression that gives a whole number above 0.
std::uint64_t count_of(const Argument& argument, std::string_view count, const Symbols& symbols) {
  constexpr auto most = std::int64_t{1} << 60;
  try {
    const std::uint64_t vectors =
        static_cast<std::uint64_t>(evaluate_whole(count, symbols, 1, most));
    return vectors * argument.lanes;
  } catch (const ExpressionFault& fault) {
    if (count.find_first_not_of("0123456789") == std::string_view::npos && count != "0") {
      refuse(argument.text, "has a count that is larger than any memory");
    }
    refuse(argument.text, fmt::format("has a count that is no whole number above 0: '{}' {}", count,
                                      fault.what()));
  }
}

/// A number, or an expression that gives one.
std::vector<std::byte> number_of(const Argument& argument, std::string_view value,
                                 const Symbols& symbols) {
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  if (auto bytes = encode(argument.element, value)) return std::move(*bytes);
  const auto wrong = [&](const std::string& why) {
    refuse(argument.text, fmt::format("has the value '{}', which is no {}{}", value,
                                      to_string(argument.element), why));
  };
  if (const auto greatest = exceeded_greatest(argument.element, value)) {
    wrong(fmt::format(": the greatest is {}; 'inf' is infinity", *greatest));
  }
  try {
    const long double number = evaluate(value, symbols);
    if (is_floating(argument.element)) {
      std::vector<std::byte> bytes(bytes_of(argument.element));
      encode(argument.element, static_cast<double>(number), bytes.data());
      if (std::isinf(number_at(argument.element, bytes.data()))) {
        wrong(": it gives more than that can hold");
      }
      return bytes;
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t whole = evaluate_whole(value, symbols, -most, most);
    if (auto bytes = encode(argument.element, fmt::format("{}", whole))) return std::move(*bytes);
    wrong(fmt::format(": it gives {}", whole));
  } catch (const ExpressionFault& fault) {
    const bool is_name_or_number = value.find_first_of("+-*/%<>()&|?") == std::string_view::npos;
    wrong(is_name_or_number && symbols.empty() ? "" : fmt::format(": it {}", fault.what()));
  }
  return {};
}

/// "1.5" or, of a vector, "1,2,3,4".
std::vector<std::byte> value_of(const Argument& argument, std::string_view value,
                                const Symbols& symbols) {
  if (argument.lanes == 1) return number_of(argument, value, symbols);
  std::vector<std::byte> bytes;
  std::uint64_t listed = 0;
  for (std::size_t begin = 0; begin <= value.size(); ++listed) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    const auto part = number_of(argument, value.substr(begin, end - begin), symbols);
    bytes.insert(bytes.end(), part.begin(), part.end());
    begin = end + 1;
  }
  if (listed != argument.lanes) {
    refuse(argument.text, fmt::format("lists {} for {}, which takes {}", with_noun(listed, "value"),
                                      argument.type, argument.lanes));
  }
  return bytes;
}

/// The fill of a buffer, and its count where the values say it.
void parse_start(Argument& argument, std::string_view value) {
  auto fill = parse_fill(argument.element, value);
  if (const auto* wrong = std::get_if<std::string>(&fill)) refuse(argument.text, *wrong);
  argument.fill = std::move(std::get<Fill>(fill));
  if (argument.fill.kind != Fill::Kind::values) return;
  const std::uint64_t listed = argument.fill.count(argument.element);
  if (listed < 2) return;  // for every element
  if (argument.count == 0) argument.count = listed;
  if (argument.count != listed) {
    refuse(argument.text, fmt::format("lists {} for {}", with_noun(listed, "value"),
                                      with_noun(argument.count, "element")));
  }
}

/// "f32", "f32[16]", "f32[]"; fills in the type, and the count of a buffer.
void parse_type(Argument& argument, std::string_view type, const Symbols& symbols) {
  const std::size_t bracket = type.find('[');
  const auto [name, lanes] = lanes_of(type.substr(0, bracket));
  const std::optional<Element> element = element_named(name);
  if (!element) {
    refuse(argument.text,
           fmt::format("has the type '{}', which is none of {}{}", name,
                       fmt::join(element_names(), ", "), did_you_mean(name, element_names())));
  }
  argument.element = *element;
  argument.lanes = lanes;
  argument.type = type;
  if (bracket == std::string_view::npos) return;
  if (!type.ends_with(']')) refuse(argument.text, "has no ']' after its count");
  argument.kind = Argument::Kind::buffer;
  const std::string_view count = type.substr(bracket + 1, type.size() - bracket - 2);
  if (!count.empty()) argument.count = count_of(argument, count, symbols);
}

bool is_float_type(std::string_view type) { return type == "f32" || type == "f64"; }

/// Why the argument cannot be this parameter; empty when it can.
std::string misfit(const Argument& argument, const Parameter& parameter) {
  if (argument.kind != Argument::Kind::scalar) {
    return parameter.bytes == sizeof(std::uint64_t) && !is_float_type(parameter.type)
               ? ""
               : "is no pointer";
  }
  if (argument.bytes.size() != parameter.bytes) {
    return fmt::format("has {}, not {}", with_noun(parameter.bytes, "byte"), argument.bytes.size());
  }
  const bool is_number = argument.type != "bytes" && argument.type != "null";
  const bool is_structure = parameter.type.starts_with('b');
  if (is_number && !is_structure &&
      is_float_type(parameter.type) != is_floating(argument.element)) {
    return is_float_type(parameter.type) ? "is a floating-point number" : "is a whole number";
  }
  return "";
}

}  // namespace

std::optional<std::vector<std::byte>> hexadecimal_bytes(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  if (text.empty() || text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

Argument parse_argument(std::string_view text, const Symbols& symbols) {
  Argument argument;
  argument.text = text;
  if (text.starts_with('@')) {
    argument.kind = Argument::Kind::reference;
    argument.name = text.substr(1);
    argument.type = text;
    if (!is_name(argument.name)) refuse(text, "names no buffer after its '@'");
    return argument;
  }
  const std::size_t bracket = text.find('['), close = text.find(']');
  const bool has_count = bracket < text.find('=') && close != std::string_view::npos;
  const std::size_t equals = text.find('=', has_count ? close : 0);
  std::string_view left = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (const std::size_t colon = left.find(':'); colon < left.find('[')) {
    argument.name = left.substr(0, colon);
    if (!is_name(argument.name)) {
      refuse(text, fmt::format("has the name '{}', which no variable can have", argument.name));
    }
    left.remove_prefix(colon + 1);
  }
  if (left == "null") {
    if (equals != std::string_view::npos) refuse(text, "gives null a value");
    argument.bytes.resize(sizeof(std::uint64_t));
    argument.type = "null";
    return argument;
  }
  if (left == "bytes") {
    auto bytes = hexadecimal_bytes(value);
    if (!bytes) refuse(text, "has no bytes as hexadecimal digits, two a byte");
    argument.bytes = std::move(*bytes);
    argument.type = "bytes";
    return argument;
  }
  parse_type(argument, left, symbols);
  if (argument.kind == Argument::Kind::buffer) {
    if (equals != std::string_view::npos) parse_start(argument, value);
    if (argument.count == 0 && argument.fill.file.empty())
      refuse(text, "says no count and no file");
    return argument;
  }
  if (equals == std::string_view::npos) refuse(text, "has no value");
  argument.bytes = value_of(argument, value, symbols);
  return argument;
}

std::uint64_t buffer_bytes(const Argument& argument) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(argument.count, bytes_of(argument.element), &bytes)) return UINT64_MAX;
  if (argument.fill.file.empty()) return bytes;
  std::error_code error;
  const std::uint64_t held = std::filesystem::file_size(argument.fill.file, error);
  return error ? bytes : std::max(bytes, held);  // the read will report the error
}

std::vector<std::byte> contents_of(const Argument& argument, std::uint64_t most_bytes) {
  if (buffer_bytes(argument) > most_bytes) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' does not fit into this machine's memory; choose a smaller buffer",
                            argument.text));
  }
  return filled(argument.fill, argument.element, argument.count, argument.text);
}

std::string signature_of(const std::vector<Parameter>& parameters) {
  std::string list;
  for (const Parameter& parameter : parameters) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", parameter.type);
  }
  return fmt::format("({})", list);
}

void check_signature(const std::vector<Parameter>& parameters, std::string_view kernel,
                     const std::vector<Argument>& arguments, std::string_view declaration) {
  const std::string called = declaration.empty()
                                 ? fmt::format("{}{}", kernel, signature_of(parameters))
                                 : std::string(declaration);
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
    const std::string why = misfit(arguments[i], parameters[i]);
    if (why.empty()) continue;
    throw Error(ExitCode::usage,
                fmt::format("parameter {} of {} is {}, and '{}' does not fit: the parameter {}",
                            i + 1, called, parameters[i].type, arguments[i].text, why));
  }
  if (parameters.size() == arguments.size()) return;
  const std::string which =
      arguments.size() < parameters.size()
          ? fmt::format("parameter {} ({}) has none", arguments.size() + 1,
                        parameters[arguments.size()].type)
          : fmt::format("'{}' is one too many", arguments[parameters.size()].text);
  throw Error(ExitCode::usage,
              fmt::format("{} takes {} and {} given: {}; give one for each parameter, in "
                          "their order",
                          called, with_noun(parameters.size(), "argument"),
                          with_noun(arguments.size(), "was", "were"), which));
}

}  // namespace warpmeter::model
