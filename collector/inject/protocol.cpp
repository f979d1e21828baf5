// SPDX-License-Identifier: MIT
// Each message has one function that visits its fields in order, for writing and for reading alike,
// so that the two cannot disagree.
#include "collector/inject/protocol.h"

#include <utility>

#include "collector/inject/bytes.h"
#include "schema/catalogue.h"

namespace warpmeter::inject {
namespace {

/// Writes a field.
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
  void texts(const std::vector<std::string>& values) { bytes.texts(values); }
};

/// Reads a field.
struct Get {
  static constexpr bool reads = true;
  ByteReader& bytes;
  template <class Number>
  void number(Number& value) {
    value = bytes.number<Number>();
  }
  void text(std::string& value) { value = bytes.text(); }
  void texts(std::vector<std::string>& values) { values = bytes.texts(); }
};

template <class Io, class Enumeration>
void enumerator(Io& io, Enumeration& value, std::remove_const_t<Enumeration> last) {
  auto number = static_cast<std::uint8_t>(value);
  io.number(number);
  if constexpr (Io::reads) {
    if (number > static_cast<std::uint8_t>(last)) io.bytes.fail();
    value = static_cast<std::remove_const_t<Enumeration>>(number);
  }
}

template <class Io, class Flag>
void flag(Io& io, Flag& value) {
  std::uint8_t number = value ? 1 : 0;
  io.number(number);
  if constexpr (Io::reads) {
    if (number > 1) io.bytes.fail();
    value = number == 1;
  }
}

/// `visit` is called for the value if there is one.
template <class Io, class Optional, class Visit>
void optional(Io& io, Optional& value, Visit visit) {
  bool has = value.has_value();
  flag(io, has);
  if constexpr (Io::reads) {
    if (has) value.emplace();
  }
  if (has) visit(*value);
}

template <class Io, class List, class Visit>
void list(Io& io, List& values, std::size_t least_bytes, Visit visit) {
  if constexpr (Io::reads) {
    const std::size_t count = io.bytes.count(least_bytes);
    if (count > values.max_size()) return io.bytes.fail();
    values.resize(count);
  } else {
    io.number(static_cast<std::uint32_t>(values.size()));
  }
  for (auto& value : values) visit(value);
}

template <class Io, class M>
void visit_selection(Io& io, M& selection) {
  io.text(selection.kernel);
  io.number(selection.skip);
  io.number(selection.count);
  list(io, selection.devices, sizeof(std::uint32_t), [&](auto& device) { io.number(device); });
  io.texts(selection.ranges);
}

template <class Io, class M>
void visit_device(Io& io, M& device) {
  io.text(device.backend);
  io.number(device.ordinal);
  io.text(device.name);
  io.text(device.chip);
  io.number(device.compute_capability);
  io.text(device.uuid);
  io.text(device.driver);
  for (auto* value : {&device.multiprocessors, &device.memory_bytes, &device.l2_bytes}) {
    optional(io, *value, [&](auto& number) { io.number(number); });
  }
}

template <class Io, class M>
void visit_shape(Io& io, M& shape) {
  for (auto* value : {&shape.device, &shape.context, &shape.stream, &shape.kernel, &shape.range}) {
    io.number(*value);
  }
  for (auto& extent : shape.grid) io.number(extent);
  for (auto& extent : shape.block) io.number(extent);
  io.number(shape.dynamic_shared_bytes);
  for (auto* value : {&shape.static_shared_bytes, &shape.registers, &shape.local_bytes}) {
    optional(io, *value, [&](auto& number) { io.number(number); });
  }
}

template <class Io, class M>
void visit_picture(Io& io, M& picture) {
  io.number(picture.mask);
  if (picture.mask == 0) return;
  io.number(picture.width);
  for (auto& address : picture.address) io.number(address);
  for (auto& pass : picture.pass) io.number(pass);
}

template <class Io, class M>
void visit_remedy(Io& io, M& remedy) {
  for (auto* text : {&remedy.name, &remedy.change, &remedy.words}) io.text(*text);
  io.number(remedy.transactions);
  io.number(remedy.other_transactions);
  list(io, remedy.predicted, sizeof(std::uint32_t) + sizeof(std::uint64_t), [&](auto& one) {
    std::string counter(one.counter);
    io.text(counter);
    if constexpr (Io::reads) {
      const schema::CounterInfo* known = schema::Catalogue::get().find_counter(counter);
      if (known == nullptr) return io.bytes.fail();
      one.counter = known->name;
    }
    io.number(one.value);
  });
  for (auto* value : {&remedy.shared_bytes, &remedy.blocks}) {
    optional(io, *value, [&](auto& number) { io.number(number); });
  }
  list(io, remedy.also_amounts, 1, [&](auto& amount) { io.number(amount); });
  flag(io, remedy.is_advised);
  visit_picture(io, remedy.picture);
}

template <class Io, class M>
void visit_found(Io& io, M& finding) {
  for (auto* text : {&finding.kind, &finding.file, &finding.text, &finding.object, &finding.access,
                     &finding.evidence, &finding.share_of, &finding.grade_reason}) {
    io.text(*text);
  }
  io.number(finding.line);
  list(io, finding.also_lines, sizeof(int), [&](auto& line) { io.number(line); });
  for (auto* value :
       {&finding.requests, &finding.transactions, &finding.ideal, &finding.other_transactions}) {
    io.number(*value);
  }
  io.number(finding.share);
  enumerator(io, finding.grade, schema::Grade::unavailable);
  list(io, finding.remedies, 40, [&](auto& remedy) { visit_remedy(io, remedy); });
  visit_picture(io, finding.picture);
}

template <class Io, class M>
void visit_fields(Io& io, M& message) {
  using Type = std::remove_const_t<M>;
  if constexpr (std::is_same_v<Type, Hello>) {
    io.number(message.process);
    io.number(message.parent);
    io.text(message.program);
  } else if constexpr (std::is_same_v<Type, Config>) {
    enumerator(io, message.mode, Mode::stalls);
    io.text(message.cupti_directory);
    io.texts(message.counters);
    visit_selection(io, message.selection);
    io.text(message.lines_of);
    io.number(message.arch);
    io.number(message.devices);
    flag(io, message.checks);
    io.texts(message.shapes);
    io.texts(message.source_folders);
  } else if constexpr (std::is_same_v<Type, Device>) {
    visit_device(io, message.device);
  } else if constexpr (std::is_same_v<Type, Name>) {
    io.number(message.id);
    io.text(message.text);
  } else if constexpr (std::is_same_v<Type, Launch>) {
    visit_shape(io, message.shape);
    list(io, message.values, sizeof(double) + sizeof(std::uint32_t) + 1, [&](auto& value) {
      io.number(value.value);
      io.number(value.reason);
      enumerator(io, value.grade, schema::Grade::unavailable);
    });
    io.number(message.failure);
    io.number(message.explanation);
    io.number(message.occurrence);
    io.number(message.without_lines);
    flag(io, message.could_not_run);
  } else if constexpr (std::is_same_v<Type, Activities>) {
    list(io, message.activities, 15, [&](auto& activity) {
      enumerator(io, activity.kind, ActivityKind::call);
      io.number(activity.name);
      optional(io, activity.duration_ns, [&](auto& duration) { io.number(duration); });
      io.number(activity.amount);
      optional(io, activity.shape, [&](auto& shape) {
        visit_shape(io, shape);
        io.number(activity.correlation);
      });
    });
  } else if constexpr (std::is_same_v<Type, Seen> || std::is_same_v<Type, Running>) {
    io.number(message.kernel);
  } else if constexpr (std::is_same_v<Type, Refused>) {
    io.number(message.reason);
  } else if constexpr (std::is_same_v<Type, FailedCall>) {
    io.text(message.call);
    flag(io, message.is_of_model);
  } else if constexpr (std::is_same_v<Type, Shaped>) {
    io.text(message.array);
    io.text(message.wrong);
  } else if constexpr (std::is_same_v<Type, Unobserved>) {
    io.text(message.program);
    io.text(message.reason);
  } else if constexpr (std::is_same_v<Type, Problem>) {
    flag(io, message.is_remark);
    io.text(message.text);
  } else if constexpr (std::is_same_v<Type, Bye>) {
    io.number(message.lost_records);
  } else if constexpr (std::is_same_v<Type, Lines>) {
    list(io, message.lines, 38, [&](auto& line) {
      for (auto* name : {&line.file, &line.text, &line.access}) io.number(*name);
      io.number(line.line);
      for (auto* value : {&line.requests, &line.transactions, &line.ideal}) io.number(*value);
      optional(io, line.bytes, [&](auto& bytes) { io.number(bytes); });
      enumerator(io, line.grade, schema::Grade::unavailable);
    });
  } else if constexpr (std::is_same_v<Type, Stalls>) {
    list(io, message.stalls, 28, [&](auto& stall) {
      for (auto* name : {&stall.file, &stall.reason}) io.number(*name);
      io.number(stall.line);
      for (auto* value : {&stall.samples, &stall.idle_samples}) io.number(*value);
    });
  } else if constexpr (std::is_same_v<Type, Finding>) {
    io.text(message.kind);
    io.text(message.where);
    io.text(message.message);
    io.number(message.times);
    flag(io, message.is_remark);
  } else if constexpr (std::is_same_v<Type, Found>) {
    visit_found(io, message.finding);
  } else if constexpr (std::is_same_v<Type, Explained>) {
    io.number(message.id);
    flag(io, message.was_made);
    list(io, message.missing, 2 * sizeof(std::uint32_t), [&](auto& missing) {
      io.text(missing.kind);
      io.text(missing.reason);
    });
  } else {
    static_assert(std::is_same_v<Type, Checked>);
    for (auto* value : {&message.launches, &message.stopped, &message.refused, &message.partial,
                        &message.ordered, &message.unnamed, &message.cluster_signals}) {
      io.number(*value);
    }
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
