// SPDX-License-Identifier: MIT
// One function visits a message's members in order, for writing and for reading alike, so that the
// two cannot disagree.
#include "collector/inject/protocol.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/members.h"
#include "collector/inject/bytes.h"
#include "schema/catalogue.h"

namespace warpmeter::inject {
namespace {

/// Writes values.
struct Put {
  static constexpr bool reads = false;
  ByteWriter& bytes;
  template <class Number>
  void number(const Number& value) {
    bytes.number(value);
  }
  void text(const std::string& value) {
    bytes.text(std::string_view(value).substr(0, max_text_bytes));
  }
};

/// Reads values.
struct Get {
  static constexpr bool reads = true;
  ByteReader& bytes;
  template <class Number>
  void number(Number& value) {
    value = bytes.number<Number>();
  }
  void text(std::string& value) { value = bytes.text(); }
};

constexpr Mode last_of(Mode) { return Mode::stalls; }
constexpr Profiling last_of(Profiling) { return Profiling::always; }
constexpr ActivityKind last_of(ActivityKind) { return ActivityKind::allocation; }
constexpr Resource last_of(Resource) { return Resource::thread; }
constexpr MemoryKind last_of(MemoryKind) { return MemoryKind::unknown; }
constexpr schema::Grade last_of(schema::Grade) { return schema::Grade::unavailable; }

template <class Io, class Value>
void visit(Io& io, Value& value);

/// A number of one byte that is at most `last`.
template <class Io, class Value>
void visit_small(Io& io, Value& value, std::remove_const_t<Value> last) {
  auto number = static_cast<std::uint8_t>(value);
  io.number(number);
  if constexpr (Io::reads) {
    if (number > static_cast<std::uint8_t>(last)) io.bytes.fail();
    value = static_cast<Value>(number);
  }
}

template <class Io, class Optional>
void visit_optional(Io& io, Optional& value) {
  bool has = value.has_value();
  visit(io, has);
  if constexpr (Io::reads) {
    if (has) value.emplace();
  }
  if (has) visit(io, *value);
}

/// The bytes that each value takes at least: those of one without texts and elements.
template <class Value>
std::size_t least_bytes() {
  static const std::size_t least = [] {
    ByteWriter bytes;
    Put put{bytes};
    const Value value{};
    visit(put, value);
    return bytes.take().size();
  }();
  return least;
}

template <class Io, class List>
void visit_list(Io& io, List& values) {
  if constexpr (Io::reads) {
    const std::size_t count =
        io.bytes.count(least_bytes<std::remove_cvref_t<decltype(*values.begin())>>());
    if (count > values.max_size()) return io.bytes.fail();
    values.resize(count);
  } else {
    io.number(static_cast<std::uint32_t>(values.size()));
  }
  for (auto& value : values) visit(io, value);
}

template <class Io, class M>
void visit_counter(Io& io, M& name) {
  std::string counter(name);
  io.text(counter);
  if constexpr (Io::reads) {
    const schema::CounterInfo* known = schema::Catalogue::get().find_counter(counter);
    if (known == nullptr) return io.bytes.fail();
    name = known->name;
  }
}

/// A message, or a part of one: its members, in the order of their declaration.
template <class Io, class M>
void visit_members(Io& io, M& record) {
  using Type = std::remove_const_t<M>;
  const auto visit_each = [&](auto&... member) { (visit(io, member), ...); };
  if constexpr (std::is_same_v<Type, schema::WarpPicture>) {
    visit(io, record.mask);
    if (record.mask != 0) visit_each(record.width, record.address, record.pass);
  } else if constexpr (requires { fields_of(&record); }) {
    schema::for_each_field<Type>([&](const auto& field) { visit(io, record.*field.member); });
    if constexpr (std::is_same_v<Type, schema::Finding>) visit(io, record.remedies);
    if constexpr (std::is_same_v<Type, schema::Remedy>) visit(io, record.predicted);
  } else {
    with_members(record, visit_each);
  }
}

template <class Io, class Value>
void visit(Io& io, Value& value) {
  using Type = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<Type, bool>) {
    visit_small(io, value, true);
  } else if constexpr (std::is_arithmetic_v<Type>) {
    io.number(value);
  } else if constexpr (std::is_enum_v<Type>) {
    visit_small(io, value, last_of(value));
  } else if constexpr (std::is_same_v<Type, std::string>) {
    io.text(value);
  } else if constexpr (std::is_same_v<Type, std::string_view>) {
    visit_counter(io, value);
  } else if constexpr (requires { value.has_value(); }) {
    visit_optional(io, value);
  } else if constexpr (requires { std::tuple_size<Type>::value; }) {
    for (auto& one : value) visit(io, one);
  } else if constexpr (requires { value.begin(); }) {
    visit_list(io, value);
  } else {
    visit_members(io, value);
  }
}

template <std::size_t Kind = 0>
std::optional<Message> decode_kind(std::size_t kind, ByteReader& bytes) {
  if constexpr (Kind == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (kind != Kind) return decode_kind<Kind + 1>(kind, bytes);
    std::variant_alternative_t<Kind, Message> message;
    Get get{bytes};
    visit(get, message);
    if (!bytes.is_complete()) return std::nullopt;
    return message;
  }
}

}  // namespace

std::vector<std::uint8_t> encode(const Message& message) {
  ByteWriter bytes;
  bytes.number(protocol_version);
  bytes.number(static_cast<std::uint16_t>(message.index()));
  Put put{bytes};
  std::visit([&](const auto& fields) { visit(put, fields); }, message);
  return bytes.take();
}

std::optional<Message> decode(std::span<const std::uint8_t> frame) {
  ByteReader bytes(frame);
  const auto version = bytes.number<std::uint16_t>();
  const auto kind = bytes.number<std::uint16_t>();
  if (bytes.failed() || version != protocol_version) return std::nullopt;
  return decode_kind(kind, bytes);
}

}  // namespace warpmeter::inject
