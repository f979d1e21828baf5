// SPDX-License-Identifier: MIT
// Each message has one function that visits its fields in order, for writing and for reading alike,
// so that the two cannot disagree.
#include "collector/inject/protocol.h"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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
constexpr ActivityKind last_of(ActivityKind) { return ActivityKind::call; }
constexpr schema::Grade last_of(schema::Grade) { return schema::Grade::unavailable; }

template <class Io, class Value>
void visit(Io& io, Value& value);

template <class Io, class... Values>
void visit_all(Io& io, Values&... values) {
  (visit(io, values), ...);
}

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

template <class Io, class M>
void visit_picture(Io& io, M& picture) {
  io.number(picture.mask);
  if (picture.mask != 0) visit_all(io, picture.width, picture.address, picture.pass);
}

/// The fields of what schema/explanation_fields.h declares.
template <class Io, class M>
void visit_record(Io& io, M& record) {
  schema::for_each_field<std::remove_const_t<M>>(
      [&](const auto& field) { visit(io, record.*field.member); });
}

/// The parts of a message.
template <class Io, class M>
void visit_part(Io& io, M& part) {
  using Type = std::remove_const_t<M>;
  if constexpr (std::is_same_v<Type, Selection>) {
    visit_all(io, part.kernel, part.skip, part.count, part.devices, part.ranges);
  } else if constexpr (std::is_same_v<Type, schema::Device>) {
    visit_all(io, part.backend, part.ordinal, part.name, part.chip, part.compute_capability,
              part.uuid, part.driver, part.multiprocessors, part.memory_bytes, part.l2_bytes);
  } else if constexpr (std::is_same_v<Type, LaunchShape>) {
    visit_all(io, part.device, part.context, part.stream, part.kernel, part.range, part.grid,
              part.block, part.dynamic_shared_bytes, part.static_shared_bytes, part.registers,
              part.local_bytes);
  } else if constexpr (std::is_same_v<Type, Launch::Value>) {
    visit_all(io, part.value, part.reason, part.grade);
  } else if constexpr (std::is_same_v<Type, Activity>) {
    visit_all(io, part.kind, part.name, part.duration_ns, part.amount, part.shape,
              part.correlation);
  } else if constexpr (std::is_same_v<Type, Lines::Line>) {
    visit_all(io, part.file, part.text, part.access, part.line, part.requests, part.transactions,
              part.ideal, part.bytes, part.grade);
  } else if constexpr (std::is_same_v<Type, Stalls::Stall>) {
    visit_all(io, part.file, part.reason, part.line, part.samples, part.idle_samples);
  } else if constexpr (std::is_same_v<Type, schema::WarpPicture>) {
    visit_picture(io, part);
  } else if constexpr (std::is_same_v<Type, schema::Prediction>) {
    visit_counter(io, part.counter);
    visit(io, part.value);
  } else if constexpr (std::is_same_v<Type, schema::Remedy>) {
    visit_record(io, part);
    visit(io, part.predicted);
  } else if constexpr (std::is_same_v<Type, schema::Finding>) {
    visit_record(io, part);
    visit(io, part.remedies);
  } else {
    static_assert(std::is_same_v<Type, schema::Explanation::Missing>);
    visit_all(io, part.kind, part.reason);
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
  } else if constexpr (requires { value.has_value(); }) {
    visit_optional(io, value);
  } else if constexpr (requires { std::tuple_size<Type>::value; }) {
    for (auto& one : value) visit(io, one);
  } else if constexpr (requires { value.begin(); }) {
    visit_list(io, value);
  } else {
    visit_part(io, value);
  }
}

template <class Io, class M>
void visit_fields(Io& io, M& message) {
  using Type = std::remove_const_t<M>;
  if constexpr (std::is_same_v<Type, Hello>) {
    visit_all(io, message.process, message.parent, message.program);
  } else if constexpr (std::is_same_v<Type, Config>) {
    visit_all(io, message.mode, message.cupti_directory, message.counters, message.selection,
              message.lines_of, message.arch, message.devices, message.checks, message.shapes,
              message.source_folders);
  } else if constexpr (std::is_same_v<Type, Device>) {
    visit(io, message.device);
  } else if constexpr (std::is_same_v<Type, Name>) {
    visit_all(io, message.id, message.text);
  } else if constexpr (std::is_same_v<Type, Launch>) {
    visit_all(io, message.shape, message.values, message.failure, message.explanation,
              message.occurrence, message.without_lines, message.could_not_run);
  } else if constexpr (std::is_same_v<Type, Activities>) {
    visit(io, message.activities);
  } else if constexpr (std::is_same_v<Type, Seen> || std::is_same_v<Type, Running>) {
    visit(io, message.kernel);
  } else if constexpr (std::is_same_v<Type, Refused>) {
    visit(io, message.reason);
  } else if constexpr (std::is_same_v<Type, FailedCall>) {
    visit_all(io, message.call, message.is_of_model);
  } else if constexpr (std::is_same_v<Type, Shaped>) {
    visit_all(io, message.array, message.wrong);
  } else if constexpr (std::is_same_v<Type, Unobserved>) {
    visit_all(io, message.program, message.reason);
  } else if constexpr (std::is_same_v<Type, Problem>) {
    visit_all(io, message.is_remark, message.text);
  } else if constexpr (std::is_same_v<Type, Bye>) {
    visit(io, message.lost_records);
  } else if constexpr (std::is_same_v<Type, Lines>) {
    visit(io, message.lines);
  } else if constexpr (std::is_same_v<Type, Stalls>) {
    visit(io, message.stalls);
  } else if constexpr (std::is_same_v<Type, Finding>) {
    visit_all(io, message.kind, message.where, message.message, message.times, message.is_remark);
  } else if constexpr (std::is_same_v<Type, Found>) {
    visit(io, message.finding);
  } else if constexpr (std::is_same_v<Type, Explained>) {
    visit_all(io, message.id, message.was_made, message.missing);
  } else {
    static_assert(std::is_same_v<Type, Checked>);
    visit_all(io, message.launches, message.stopped, message.refused, message.partial,
              message.ordered, message.unnamed, message.cluster_signals);
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
    visit_fields(get, message);
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
  std::visit([&](const auto& fields) { visit_fields(put, fields); }, message);
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
