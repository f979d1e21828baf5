#include "collector/model/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "collector/model/npy.h"
#include "schema/catalogue.h"
#include "schema/error.h"

namespace warpmeter::model {
namespace {

constexpr const char* forms =
    "write n:i32=1024 for a number, out:f32[1048576] or in:f32[1048576]=iota (zeros, random:SEED, "
    "a number, FILE.npy, FILE.bin) for a buffer, @in for a buffer once more, null for no buffer";

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("the argument '{}' {}; {}", text, what, forms));
}

bool is_name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// "0x00ff12": two digits a byte, the first byte first.
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

void parse_fill(Argument& argument, std::string_view value) {
  if (value == "zeros") {
    argument.fill = Argument::Fill::zeros;
  } else if (value == "iota") {
    argument.fill = Argument::Fill::iota;
  } else if (value == "random" || value.starts_with("random:")) {
    argument.fill = Argument::Fill::random;
    if (value == "random") return;
    const std::optional<std::uint64_t> seed = digits(value.substr(7));
    if (!seed) refuse(argument.text, "has a seed that is no whole number");
    argument.seed = *seed;
  } else if (value.ends_with(".npy")) {
    argument.fill = Argument::Fill::npy;
    argument.file = value;
  } else if (value.ends_with(".bin")) {
    argument.fill = Argument::Fill::raw;
    argument.file = value;
  } else if (auto bytes = encode(argument.element, value)) {
    argument.fill = Argument::Fill::value;
    argument.bytes = std::move(*bytes);
  } else {
    refuse(argument.text, fmt::format("starts its buffer with '{}', which is no {}, no file and "
                                      "no way to fill one",
                                      value, to_string(argument.element)));
  }
}

/// "f32", "f32[16]", "f32[]"; fills in the type, and the count of a buffer.
void parse_type(Argument& argument, std::string_view type) {
  std::string_view name = type;
  if (const std::size_t bracket = type.find('['); bracket != std::string_view::npos) {
    if (!type.ends_with(']')) refuse(argument.text, "has no ']' after its count");
    name = type.substr(0, bracket);
    const std::string_view count = type.substr(bracket + 1, type.size() - bracket - 2);
    argument.kind = Argument::Kind::buffer;
    if (!count.empty()) {
      const std::optional<std::uint64_t> elements = digits(count);
      if (!elements || *elements == 0) {
        refuse(argument.text, "has a count that is no whole number above 0");
      }
      argument.count = *elements;
    }
  }
  const std::optional<Element> element = element_named(name);
  if (!element) {
    refuse(argument.text, fmt::format("has the type '{}', which is none of {}{}", name,
                                      fmt::join(element_names(), ", "),
                                      schema::did_you_mean(name, element_names())));
  }
  argument.element = *element;
  argument.type = type;
}

/// SplitMix64's finaliser (Steele, Lea, Flood, 2014): the same numbers on every machine.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Floating types: from 0 to 1; bool: 0 or 1; whole numbers: from 0 to 99.
double random_value(const Argument& argument, std::uint64_t index) {
  const std::uint64_t bits = mixed(mixed(argument.seed) + index);
  if (is_floating(argument.element)) return static_cast<double>(bits >> 40) * 0x1p-24;
  return static_cast<double>(bits % (argument.element == Element::boolean ? 2 : 100));
}

void check_count(const Argument& argument, std::uint64_t held) {
  if (argument.count == 0 || argument.count == held) return;
  throw Error(
      ExitCode::usage,
      fmt::format("'{}' asks for {} elements, but {} holds {}; write {}[] to take what it "
                  "holds",
                  argument.text, argument.count, argument.file, held, to_string(argument.element)));
}

std::vector<std::byte> from_file(const Argument& argument) {
  if (argument.fill == Argument::Fill::raw) {
    std::vector<std::byte> contents = read_whole_file(argument.file);
    if (contents.empty() || contents.size() % bytes_of(argument.element) != 0) {
      throw Error(
          ExitCode::usage,
          fmt::format("{} holds {} bytes, which are no elements of {}; see '{}'", argument.file,
                      contents.size(), to_string(argument.element), argument.text));
    }
    check_count(argument, contents.size() / bytes_of(argument.element));
    return contents;
  }
  Npy npy = read_npy(argument.file, argument.element);
  if (npy.element != argument.element) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds elements of {}, but '{}' asks for {}", argument.file,
                            to_string(npy.element), argument.text, to_string(argument.element)));
  }
  check_count(argument, npy.count);
  return std::move(npy.data);
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
    return fmt::format("has {} bytes, not {}", parameter.bytes, argument.bytes.size());
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

Argument parse_argument(std::string_view text) {
  Argument argument;
  argument.text = text;
  if (text.starts_with('@')) {
    argument.kind = Argument::Kind::reference;
    argument.name = text.substr(1);
    argument.type = text;
    if (!is_name(argument.name)) refuse(text, "names no buffer after its '@'");
    return argument;
  }
  const std::size_t equals = text.find('=');
  std::string_view left = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (const std::size_t colon = left.find(':'); colon != std::string_view::npos) {
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
  parse_type(argument, left);
  if (argument.kind == Argument::Kind::buffer) {
    if (equals != std::string_view::npos) parse_fill(argument, value);
    if (argument.count == 0 && argument.file.empty()) refuse(text, "says no count and no file");
    return argument;
  }
  if (equals == std::string_view::npos) refuse(text, "has no value");
  auto bytes = encode(argument.element, value);
  if (!bytes) refuse(text, fmt::format("has the value '{}', which is no {}", value, left));
  argument.bytes = std::move(*bytes);
  return argument;
}

std::vector<std::byte> contents_of(const Argument& argument, std::uint64_t most_bytes) {
  if (!argument.file.empty()) return from_file(argument);
  const std::size_t width = bytes_of(argument.element);
  if (argument.count > most_bytes / width) {
    throw Error(ExitCode::kernel,
                fmt::format("'{}' does not fit into this machine's memory; choose a smaller buffer",
                            argument.text));
  }
  std::vector<std::byte> contents(argument.count * width);
  std::byte* to = contents.data();
  if (argument.fill == Argument::Fill::iota) {
    for (std::uint64_t i = 0; i < argument.count; ++i) {
      encode(argument.element, static_cast<double>(i), to + i * width);
    }
  } else if (argument.fill == Argument::Fill::random) {
    for (std::uint64_t i = 0; i < argument.count; ++i) {
      encode(argument.element, random_value(argument, i), to + i * width);
    }
  } else if (argument.fill == Argument::Fill::value) {
    for (std::uint64_t i = 0; i < argument.count; ++i) {
      std::copy(argument.bytes.begin(), argument.bytes.end(), to + i * width);
    }
  }
  return contents;
}

std::string signature_of(const Program& program) {
  std::string list;
  for (const Parameter& parameter : program.parameters) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", parameter.type);
  }
  return fmt::format("({})", list);
}

void check_signature(const Program& program, std::string_view kernel,
                     const std::vector<Argument>& arguments) {
  const std::vector<Parameter>& parameters = program.parameters;
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
    const std::string why = misfit(arguments[i], parameters[i]);
    if (why.empty()) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("parameter {} of {}{} is {}, and '{}' does not fit: the parameter {}", i + 1,
                    kernel, signature_of(program), parameters[i].type, arguments[i].text, why));
  }
  if (parameters.size() == arguments.size()) return;
  const std::string which =
      arguments.size() < parameters.size()
          ? fmt::format("parameter {} ({}) has none", arguments.size() + 1,
                        parameters[arguments.size()].type)
          : fmt::format("'{}' is one too many", arguments[parameters.size()].text);
  throw Error(
      ExitCode::usage,
      fmt::format("{}{} takes {} arguments and {} were given: {}; give one --arg for each "
                  "parameter, in their order",
                  kernel, signature_of(program), parameters.size(), arguments.size(), which));
}

}  // namespace warpmeter::model
