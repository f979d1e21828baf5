// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/warp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/collector/model/reference/conversion.h"
#include "tests/collector/model/reference/floats.h"
#include "tests/collector/model/reference/integers.h"
#include "tests/collector/model/reference/line.h"

namespace warpmeter::model::reference {
namespace {

using Sources = std::array<std::uint64_t, 4>;

std::uint64_t value_of(const std::string& operand, const Lane& lane) {
  if (operand[0] == '!') return lane.registers.at(operand.substr(1)) ^ 1;
  if (operand.starts_with("-%")) return value_of(operand.substr(1), lane);  // vmad negates itself
  if (const std::size_t dot = operand.find('.'); dot != std::string::npos) {
    return value_of(operand.substr(0, dot), lane);  // and takes the part of the register
  }
  if (operand[0] == '%') return lane.registers.at(operand);
  return std::stoull(operand, nullptr, 0);
}
void write(Lane& lane, const std::string& name, std::uint64_t bits) {
  const std::string whole = name.substr(0, name.find('.'));
  if (whole != "_") lane.registers.at(whole) = low(bits, register_bits(whole));
}

/// The bytes that "%ms+8" means.
std::uint8_t* place_of(const std::string& address, const Lane& lane) {
  const std::size_t plus = address.find('+');
  return lane.memory.at(address.substr(0, plus)) + std::stoul(address.substr(plus + 1));
}
std::uint64_t load(const std::uint8_t* place, int bits) {
  std::uint64_t value = 0;
  std::memcpy(&value, place, static_cast<std::size_t>(bits / 8));
  return value;
}
void store(std::uint8_t* place, std::uint64_t value, int bits) {
  std::memcpy(place, &value, static_cast<std::size_t>(bits / 8));
}

void load_or_store(const Line& line, Lane& lane) {
  const bool is_load = line.words[0] == "ld";
  const Words& registers = line.operands[is_load ? 0 : 1];
  std::uint8_t* place = place_of(line.operands[is_load ? 1 : 0][0], lane);
  const Type type = line.type();
  for (const std::string& name : registers) {
    if (is_load) {
      const Type extended = type.kind == 's' ? type : Type{'u', type.bits};
      write(lane, name, low(static_cast<UnsignedWide>(number(load(place, type.bits), extended))));
    } else {
      store(place, value_of(name, lane), type.bits);
    }
    place += type.bits / 8;
  }
}

/// The last letter of an address's base names its memory.
bool is_global(const std::string& address) { return address[address.find('+') - 1] == 'g'; }

std::uint64_t changed(const Line& line, Type type, std::uint64_t old, std::uint64_t operand,
                      bool in_global) {
  if (type.is_float() && !line.has("exch")) {
    const std::string name = line.has("add") ? "add" : line.has("min") ? "min" : "max";
    Line as_arithmetic{"", {name, line.words.back()}, {}};
    if (in_global && type.bits == 32)
      as_arithmetic.words.insert(as_arithmetic.words.end() - 1, "ftz");
    return float_value(as_arithmetic, type, {old, operand, 0, 0});
  }
  const Wide a = number(old, type), b = number(operand, type);
  if (line.has("add")) return low(static_cast<UnsignedWide>(a + b));
  if (line.has("min")) return std::min(a, b) == a ? old : operand;
  if (line.has("max")) return std::max(a, b) == a ? old : operand;
  if (line.has("and")) return old & operand;
  if (line.has("or")) return old | operand;
  if (line.has("xor")) return old ^ operand;
  if (line.has("inc")) return a >= b ? 0 : old + 1;
  if (line.has("dec")) return a == 0 || a > b ? operand : old - 1;
  if (line.has("exch")) return operand;
  throw std::invalid_argument("no atomic operation");
}

void change(const Line& line, Lane& lane) {
  const std::size_t at = line.words[0] == "atom" ? 1 : 0;
  const Type type = line.type();
  const std::string& address = line.operands[at][0];
  std::uint8_t* const place = place_of(address, lane);
  const int bits = type.bits * type.parts;
  const std::uint64_t old = load(place, bits);
  const std::uint64_t operand = low(value_of(line.operands[at + 1][0], lane), bits);
  std::uint64_t now = 0;
  if (line.has("cas")) {
    now = old == operand ? value_of(line.operands[at + 2][0], lane) : old;
  } else {
    for (int i = 0; i < type.parts; ++i) {
      const int shift = i * type.bits;
      now |= low(changed(line, type.part(), low(old >> shift, type.bits),
                         low(operand >> shift, type.bits), is_global(address)),
                 type.bits)
             << shift;
    }
  }
  store(place, now, bits);
  if (at == 1) write(lane, line.operands[0][0], old);
}

/// setp and set of one number.
bool comparison(const Line& line, Type type, std::uint64_t a, std::uint64_t b) {
  const std::string& how = line.words[1];
  if (!type.is_float()) return compares(how, number(a, type), number(b, type));
  if (line.has("ftz")) {
    a = flushed(a, type);
    b = flushed(b, type);
  }
  return compares(how, widened(a, type), widened(b, type));
}
bool combined(const Line& line, bool holds, std::uint64_t other) {
  if (line.has("and")) return holds && other != 0;
  if (line.has("or")) return holds || other != 0;
  if (line.has("xor")) return holds != (other != 0);
  return holds;
}

/// setp p|q: the comparison and its opposite, of a pair of numbers the comparisons of the two.
void set_predicates(const Line& line, const Sources& in, Lane& lane) {
  const Type type = line.type();
  const Words& to = line.operands[0];
  const bool holds = comparison(line, type.part(), low(in[0], type.bits), low(in[1], type.bits));
  const bool other = type.parts == 2
                         ? comparison(line, type.part(), low(in[0] >> 16, 16), low(in[1] >> 16, 16))
                         : !holds;
  write(lane, to[0], combined(line, holds, in[2]) ? 1 : 0);
  if (to.size() == 2) write(lane, to[1], combined(line, other, in[2]) ? 1 : 0);
}

/// set: all ones or 1.0 where the comparison holds.
std::uint64_t set_value(const Line& line, const Sources& in) {
  const Type type = line.type(), to = type_of(line.words[line.words.size() - 2]);
  const auto yes = [&](int bits) -> std::uint64_t {
    if (!to.is_float()) return low(~std::uint64_t{0}, bits);
    return to.bits == 32 ? 0x3f800000 : to.kind == 'h' ? 0x3f80 : 0x3c00;
  };
  std::uint64_t result = 0;
  for (int i = 0; i < type.parts; ++i) {
    const int shift = i * type.bits;
    const bool holds = combined(line,
                                comparison(line, type.part(), low(in[0] >> shift, type.bits),
                                           low(in[1] >> shift, type.bits)),
                                in[2]);
    if (holds) result |= yes(type.parts == 2 ? type.bits : to.bits) << shift;
  }
  return result;
}

/// mov between a number and its parts.
void move(const Line& line, Lane& lane) {
  const Words &to = line.operands[0], &from = line.operands[1];
  const int bits = line.type().bits,
            part = bits / static_cast<int>(std::max(to.size(), from.size()));
  std::uint64_t whole = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    whole |= value_of(from[i], lane) << static_cast<int>(i) * part;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    write(lane, to[i], to.size() == 1 ? whole : low(whole >> static_cast<int>(i) * part, part));
  }
}

/// testp.
bool is_class(const Line& line, std::uint64_t bits) {
  const Type type = line.type();
  const double value = widened(bits, type);
  const std::string& name = line.words[1];
  if (name == "finite") return std::isfinite(value);
  if (name == "infinite") return std::isinf(value);
  if (name == "number") return !std::isnan(value);
  if (name == "notanumber") return std::isnan(value);
  const bool is_subnormal =
      value != 0 && std::abs(value) < (type.bits == 32 ? 0x1p-126 : 0x1p-1022);
  return name == "subnormal" ? is_subnormal : std::isfinite(value) && !is_subnormal;
}

/// An instruction of the arithmetic on each number of the registers.
std::uint64_t arithmetic(const Line& line, Type type, const Sources& in, Lane& lane) {
  std::uint64_t result = 0;
  for (int i = 0; i < type.parts; ++i) {
    Sources part = in;
    if (type.parts == 2) {
      for (std::uint64_t& bits : part) bits = low(bits >> i * type.bits, type.bits);
    }
    const std::uint64_t value = type.is_float()
                                    ? float_value(line, type.part(), part)
                                    : integer_value(line, type.part(), part, lane.carry);
    result |= (type.parts == 2 ? low(value, type.bits) : value) << i * type.bits;
  }
  return result;
}

void execute(const Line& line, Lane& lane) {
  if (!line.guard.empty() && value_of(line.guard, lane) == 0) return;
  const std::string& name = line.words[0];
  if (name == "ld" || name == "st") return load_or_store(line, lane);
  if (name == "atom" || name == "red") return change(line, lane);
  if (name == "mov") return move(line, lane);
  Sources in{};
  for (std::size_t i = 1; i < line.operands.size() && i <= in.size(); ++i) {
    in[i - 1] = value_of(line.operands[i][0], lane);
  }
  if (name == "setp") return set_predicates(line, in, lane);
  const auto type_word = std::find_if(line.words.rbegin(), line.words.rend(), is_type);
  const Type type = type_of(*type_word);
  std::uint64_t result = 0;
  if (name == "selp") {
    result = in[2] != 0 ? in[0] : in[1];
  } else if (name == "slct") {
    const std::uint64_t c = line.has("ftz") ? flushed(in[2], type) : in[2];
    const bool is_not_negative = type.is_float() ? widened(c, type) >= 0 : number(c, type) >= 0;
    result = is_not_negative ? in[0] : in[1];
  } else if (name == "set") {
    result = set_value(line, in);
  } else if (name == "testp") {
    result = is_class(line, in[0]) ? 1 : 0;
  } else if (name == "cvt") {
    result = converted(line, in);
  } else {
    result = arithmetic(line, type, in, lane);
  }
  write(lane, line.operands[0][0], result);
}

using Lanes = std::array<Lane, 32>;

template <class Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}
std::uint32_t lanes_with(const std::string& predicate, const Lanes& lanes, std::uint32_t mask) {
  std::uint32_t yes = 0;
  for_each_lane(mask, [&](unsigned l) {
    if (value_of(predicate, lanes[l]) != 0) yes |= 1u << l;
  });
  return yes;
}

void shuffle(const Line& line, Lanes& lanes, std::uint32_t mask) {
  std::array<std::uint64_t, 32> values{};
  for_each_lane(mask, [&](unsigned l) { values[l] = value_of(line.operands[1][0], lanes[l]); });
  std::array<int, 32> from{};
  for_each_lane(mask, [&](unsigned l) {
    const int lane = static_cast<int>(l);
    const int by = static_cast<int>(value_of(line.operands[2][0], lanes[l]) & 31);
    const int c = static_cast<int>(value_of(line.operands[3][0], lanes[l]));
    const int segment = c >> 8 & 31, clamp = c & 31;
    const int least = lane & segment, most = (lane & segment) | (clamp & ~segment);
    from[l] = line.has("up")     ? (lane - by >= most ? lane - by : -1)
              : line.has("down") ? (lane + by <= most ? lane + by : -1)
              : line.has("bfly")
                  ? ((lane ^ by) <= most ? lane ^ by : -1)
                  : ((least | (by & ~segment)) <= most ? least | (by & ~segment) : -1);
  });
  for_each_lane(mask, [&](unsigned l) {
    const Words& to = line.operands[0];
    write(lanes[l], to[0], values[from[l] < 0 ? l : static_cast<unsigned>(from[l])]);
    if (to.size() == 2) write(lanes[l], to[1], from[l] < 0 ? 0 : 1);
  });
}

std::uint64_t reduced(const Line& line, const Lanes& lanes, std::uint32_t mask) {
  const Type type = line.type();
  std::uint64_t result = 0;
  bool is_first = true;
  for_each_lane(mask, [&](unsigned l) {
    const std::uint64_t value = value_of(line.operands[1][0], lanes[l]);
    result = is_first ? value : low(changed(line, type, result, value, false), type.bits);
    is_first = false;
  });
  return result;
}

/// Instructions by which lanes talk to each other; all lanes of the mask are named. False for any
/// other.
bool exchange(const Line& line, Lanes& lanes, std::uint32_t mask) {
  const std::string& name = line.words[0];
  const auto all_get = [&](std::uint64_t value, std::size_t part = 0) {
    for_each_lane(mask, [&](unsigned l) { write(lanes[l], line.operands[0][part], value); });
  };
  if (name == "shfl") {
    shuffle(line, lanes, mask);
  } else if (name == "vote" || (name == "bar" && line.has("red"))) {
    const std::uint32_t yes = lanes_with(line.operands[name == "vote" ? 1 : 2][0], lanes, mask);
    const bool all = yes == mask, any = yes != 0;
    all_get(line.has("ballot")                   ? yes
            : line.has("popc")                   ? static_cast<unsigned>(std::popcount(yes))
            : line.has("all") || line.has("and") ? all
            : line.has("uni")                    ? all || !any
                                                 : any);
  } else if (name == "match") {
    std::array<std::uint64_t, 32> values{};
    for_each_lane(mask, [&](unsigned l) { values[l] = value_of(line.operands[1][0], lanes[l]); });
    for_each_lane(mask, [&](unsigned l) {
      std::uint32_t same = 0;
      for_each_lane(mask, [&](unsigned o) { same |= values[o] == values[l] ? 1u << o : 0; });
      const bool gives = line.has("any") || same == mask;
      write(lanes[l], line.operands[0][0], gives ? same : 0);
      if (line.operands[0].size() == 2) write(lanes[l], line.operands[0][1], gives ? 1 : 0);
    });
  } else if (name == "redux") {
    all_get(reduced(line, lanes, mask));
  } else if (name == "activemask") {
    all_get(mask);
  } else if (name == "elect") {
    const auto chosen = static_cast<unsigned>(std::countr_zero(mask));
    all_get(chosen);
    all_get(0, 1);
    write(lanes[chosen], line.operands[0][1], 1);
  } else {
    return name == "bar" || name == "barrier" || name == "membar" || name == "fence";
  }
  return true;
}

/// The lanes that come to the end of the block.
std::uint32_t run_lanes(const Block& block, Lanes& lanes, std::uint32_t mask) {
  for (const Node& node : block) {
    if (mask == 0) break;
    if (node.kind == Node::Kind::line) {
      const Line& line = parse_line(node.text);
      if (exchange(line, lanes, mask)) continue;
      for_each_lane(mask, [&](unsigned l) { execute(line, lanes[l]); });
    } else if (node.kind == Node::Kind::leave) {
      mask &= ~lanes_with(node.text, lanes, mask);
    } else if (node.kind == Node::Kind::branch) {
      const std::uint32_t yes = lanes_with(node.text, lanes, mask);
      mask = run_lanes(node.first, lanes, yes) | run_lanes(node.second, lanes, mask & ~yes);
    } else {
      for (std::uint32_t left = mask; left != 0;) {
        left = run_lanes(node.first, lanes, left);
        left = run_lanes(node.second, lanes, lanes_with(node.text, lanes, left));
      }
    }
  }
  return mask;
}

}  // namespace

void Warp::run(const Block& block, std::uint32_t mask) { run_lanes(block, lanes, mask); }

}  // namespace warpmeter::model::reference
