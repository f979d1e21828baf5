// SPDX-License-Identifier: MIT
#include "tests/collector/model/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {

using reference::Block;
using reference::Node;

namespace {

constexpr unsigned most_depth = 3;

bool has(const std::string& name, std::string_view word) {
  return ("." + name + ".").find(fmt::format(".{}.", word)) != std::string::npos;
}
unsigned number_after(const std::string& text, std::size_t at) {
  return static_cast<unsigned>(std::stoul(text.substr(at)));
}

/// The memory that all lanes change has a place for each operation whose order does not matter.
unsigned place_of_operation(const std::string& name) {
  constexpr std::string_view operations[] = {"add", "min", "max", "and", "or", "xor"};
  unsigned place = 0;
  while (!has(name, operations[place])) ++place;
  return 4 * place + (has(name, "s32") || has(name, "s64") ? 2 : 0) +
         (name.ends_with("64") ? 1 : 0);
}
bool is_in_any_order(const std::string& name) {
  return name.starts_with("red") && !has(name, "inc") && !has(name, "dec");
}

Node line_node(std::string text) { return {Node::Kind::line, std::move(text), {}, {}}; }

}  // namespace

std::uint64_t Generator::integer() {
  const auto near = [&](std::uint64_t value) { return value + below(3) - 1; };
  switch (below(4)) {
    case 0:
      return near(std::uint64_t{1} << below(64));
    case 1:
      return near(0);
    case 2:
      return near(~std::uint64_t{0} >> below(64));
    default:
      return random_() >> below(64);
  }
}

double Generator::real(bool is_double) {
  static const double special[] = {0,     -0.0,   1,        -1,      0.5,      1.5,       2.5,
                                   1e-45, 1e-40,  0x1p-126, 3.4e38,  INFINITY, -INFINITY, NAN,
                                   1e300, 0x1p31, 0x1p63,   -0x1p31, 65535.5,  127.5,     -128.5};
  if (below(2) == 0) return special[below(std::size(special))];
  const int range = is_double && below(4) == 0 ? 1000 : 60;
  const double fraction = static_cast<double>(random_() >> 11) * 0x1p-53 - 0.5;
  return std::ldexp(fraction, static_cast<int>(below(2 * static_cast<unsigned>(range))) - range);
}

std::uint64_t Generator::narrow(bool is_bf16) {
  static const std::uint64_t of_f16[] = {0x0000, 0x0001, 0x03ff, 0x0400, 0x3bff, 0x3c00,
                                         0x3c01, 0x3e00, 0x7bff, 0x7c00, 0x7e00, 0x5bf8};
  static const std::uint64_t of_bf16[] = {0x0000, 0x0001, 0x007f, 0x0080, 0x3f7f, 0x3f80,
                                          0x3f81, 0x3fc0, 0x7f7f, 0x7f80, 0x7fc0, 0x437f};
  const std::uint64_t sign = below(2) << 15;
  const std::uint64_t index = below(std::size(of_f16));
  switch (below(3)) {
    case 0:
      return sign | (is_bf16 ? of_bf16 : of_f16)[index];
    case 1:  // near one, so that sums and products do not always overflow
      return sign | ((is_bf16 ? 0x3f00 : 0x3800) + below(is_bf16 ? 0x200 : 0x1000));
    default:
      return random_() & 0xffff;
  }
}

std::uint64_t Generator::bits(char kind) {
  switch (kind) {
    case 'h':
      return integer() & 0xffff;
    case 'r':
      return integer() & 0xffffffff;
    case 'p':
      return below(2);
    case 'f':
      return std::bit_cast<std::uint32_t>(static_cast<float>(real(false)));
    case 'g':
      return std::bit_cast<std::uint64_t>(real(true));
    case 'x':
    case 'y':
      return narrow(kind == 'y');
    case 'v':
    case 'w': {
      const std::uint64_t upper = narrow(kind == 'w');
      return upper << 16 | narrow(kind == 'w');
    }
    default:
      return integer();
  }
}

std::string Generator::any(char kind) { return fmt::format("%{}{}", kind, below(each_kind)); }

/// Lanes that are not all here keep to their own memory, or change the common one by operations of
/// which the order does not matter.
std::string Generator::memory(const Form& form, Where where) {
  const std::string& name = form.name;
  const unsigned width = number_after(name, name.find_last_not_of("0123456789x") + 1) / 8 *
                         (name.ends_with("x2") ? 2 : 1);
  const std::size_t vector = name.find(".v");
  const unsigned bytes = width * (vector == std::string::npos ? 1 : number_after(name, vector + 2));
  const bool is_access = name.starts_with("ld") || name.starts_with("st");
  const bool is_float =
      name.find("f16") != std::string::npos || has(name, "f32") || has(name, "f64");
  const bool is_common = below(2) == 0 && !is_float &&
                         (where.depth == 0 ? !name.starts_with("st") : is_in_any_order(name));
  const bool is_global = has(name, "global"), is_shared = has(name, "shared");
  if (is_common && !has(name, "local")) {
    const unsigned at = where.depth > 0
                            ? 8 * place_of_operation(name)
                            : bytes * static_cast<unsigned>(below(common_bytes / bytes));
    const std::string_view base = is_global ? "cg" : is_shared ? "cs" : below(2) == 0 ? "dg" : "ds";
    return fmt::format("[%{}+{}]", base, at);
  }
  const std::uint64_t chosen = below(is_access ? 3 : 2);
  const std::string_view base = is_global            ? "mg"
                                : is_shared          ? "ms"
                                : has(name, "local") ? "ml"
                                : chosen == 0        ? "ag"
                                : chosen == 1        ? "as"
                                                     : "al";
  return fmt::format("[%{}+{}]", base, bytes * below(lane_bytes / bytes));
}

std::string Generator::operand(const Form& form, const std::string& token, char size, Where where) {
  if (token[0] == '!') return "!" + operand(form, token.substr(1), size, where);
  if (token == "p|p" || token == "r|p") {
    const std::uint64_t first = below(each_kind);
    return fmt::format("%{}{}|%p{}", token[0], first,
                       (first + 1 + below(each_kind - 1)) % each_kind);
  }
  if (token[0] == '-') return "-" + operand(form, token.substr(1), size, where);
  if (const std::size_t dot = token.find('.'); dot != std::string::npos) {
    return operand(form, token.substr(0, dot), size, where) + token.substr(dot);
  }
  if (token.size() > 1) {
    const std::uint64_t first = below(each_kind);
    std::string text = "{";
    for (std::size_t i = 0; i < token.size(); ++i) {
      text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", token[0], (first + i) % each_kind);
    }
    return text + "}";
  }
  switch (token[0]) {
    case 'i':
      if (below(3) != 0) return any(size);
      return fmt::format("{:#x}", size == 'r' ? integer() & 0xffffffff : integer());
    case 'o':
      return below(2) == 0 ? any('r') : fmt::format("{}", below(70));
    case 't':
      return fmt::format("{}", below(256));
    case 's': {
      static const std::vector<unsigned> bounds = {0x1f, 0, 0x181f, 0x1c1f, 0x1000, 0x100f, 0x0f0f};
      return below(3) == 0 ? any('r') : fmt::format("{}", one_of(bounds));
    }
    case 'K':
      return fmt::format("%k{}", where.depth);
    case 'M':
      return memory(form, where);
    case '0':
      return token;
    default:
      return any(token[0]);
  }
}

std::string Generator::line(const Form& form, Where where) {
  const bool for_all = !form.operands.empty() && form.operands.back() == "K";
  const bool may_be_guarded =
      !for_all && !form.name.starts_with("bar") && form.name != "activemask.b32";
  std::string text;
  if (may_be_guarded && below(4) == 0) {
    text = fmt::format("@{}{} ", below(2) == 0 ? "!" : "", any('p'));
  }
  text += form.name;
  char size = 'r';
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const std::string& token = form.operands[i];
    text += i == 0 ? " " : ", ";
    text += operand(form, token, size, where);
    if (token.find_first_of("hrd") == 0) size = token[0];
  }
  return text + ";";
}

/// The lanes that are here are named by %k0, %k1, … by depth: those that go into a branch are told
/// before it, and again in front of each round of a loop.
void Generator::add_branch(Block& block, unsigned lines, Where where) {
  const unsigned depth = where.depth;
  const std::string predicate = (below(2) == 0 ? "!" : "") + any('p');
  block.push_back(
      line_node(fmt::format("vote.sync.ballot.b32 %k{}, {}, %k{};", depth + 1, predicate, depth)));
  Node node{Node::Kind::branch, predicate, this->block(lines, {depth + 1, false}), {}};
  if (below(3) != 0) {
    node.second = this->block(lines, {depth + 1, false});
    node.second.insert(node.second.begin(),
                       line_node(fmt::format("xor.b32 %k{0}, %k{0}, %k{1};", depth + 1, depth)));
  }
  block.push_back(std::move(node));
}

void Generator::add_loop(Block& block, unsigned lines, Where where) {
  const unsigned depth = where.depth;
  block.push_back(line_node(fmt::format("and.b32 %n{}, {}, 3;", depth, any('r'))));
  block.push_back(line_node(fmt::format("mov.b32 %k{}, %k{};", depth + 1, depth)));
  Node node{Node::Kind::loop, fmt::format("%q{}", depth), {}, {}};
  node.first = {
      line_node(fmt::format("setp.ne.u32 %q{0}, %n{0}, 0;", depth)),
      line_node(fmt::format("vote.sync.ballot.b32 %k{0}, %q{1}, %k{0};", depth + 1, depth))};
  node.second = this->block(lines, {depth + 1, true});
  node.second.push_back(line_node(fmt::format("sub.u32 %n{0}, %n{0}, 1;", depth)));
  block.push_back(std::move(node));
}

void Generator::add_leave(Block& block, Where where) {
  const std::string predicate = any('p');
  block.push_back(
      line_node(fmt::format("vote.sync.ballot.b32 %k{0}, !{1}, %k{0};", where.depth, predicate)));
  block.push_back({Node::Kind::leave, predicate, {}, {}});
}

Block Generator::block(unsigned lines, Where where) {
  Block block;
  for (unsigned i = 0; i < lines; ++i) {
    const std::uint64_t what = below(100);
    if (what < 4 && where.depth < most_depth) {
      add_branch(block, 1 + static_cast<unsigned>(below(6)), where);
    } else if (what < 7 && where.depth < most_depth) {
      add_loop(block, 1 + static_cast<unsigned>(below(6)), where);
    } else if (what < 13 && where.in_loop) {
      add_leave(block, where);
    } else if (what < 20) {
      block.push_back(line_node(line(one_of(group_forms()), where)));
    } else if (what < 26 && where.depth == 0) {
      block.push_back(line_node(line(one_of(warp_forms()), where)));
    } else {
      block.push_back(line_node(line(one_of(lane_forms()), where)));
    }
  }
  return block;
}

namespace {

/// The code of a kernel before and after its program.
struct Around {
  std::string load, store, store_common;
};

Around around() {
  Around made;
  auto& [load, store, common] = made;
  const auto type_of = [](char kind) -> std::string_view {
    return std::string_view("hxy").find(kind) != std::string_view::npos ? "b16"
           : kind == 'd'                                                ? "b64"
           : kind == 'f'                                                ? "f32"
           : kind == 'g'                                                ? "f64"
                                                                        : "b32";
  };
  for (unsigned i = 0; i < registers_of_lane; ++i) {
    const char kind = register_kinds[i / each_kind];
    const std::string name = fmt::format("%{}{}", kind, i % each_kind);
    if (kind == 'p') {
      load += fmt::format("ld.global.u32 %t, [%in+{}]; setp.ne.u32 {}, %t, 0;\n", 8 * i, name);
      store += fmt::format("selp.u32 %t, 1, 0, {}; st.global.u32 [%out+{}], %t;\n", name, 8 * i);
    } else {
      load += fmt::format("ld.global.{} {}, [%in+{}];\n", type_of(kind), name, 8 * i);
      store += fmt::format("st.global.{} [%out+{}], {};\n", type_of(kind), 8 * i, name);
    }
  }
  for (unsigned i = 0; i < 2 * lane_bytes / 8; ++i) {
    const bool is_shared = i < lane_bytes / 8;
    store += fmt::format("ld.{}.u64 %in, [%{}+{}]; st.global.u64 [%out+{}], %in;\n",
                         is_shared ? "shared" : "local", is_shared ? "ms" : "ml",
                         8 * i % lane_bytes, 8 * (registers_of_lane + i));
  }
  for (unsigned i = 0; i < common_bytes; i += 8) {
    common += fmt::format("ld.shared.u64 %in, [%cs+{0}]; st.global.u64 [%out+{0}], %in;\n", i);
  }
  return made;
}

/// Registers, memory, and where a lane finds its part of them.
const std::string declarations =
    R"(.reg .b16 %h<6>, %x<6>, %y<6>; .reg .b32 %r<6>, %v<6>, %w<6>, %k<5>, %n<4>;
.reg .b64 %d<6>; .reg .f32 %f<6>; .reg .f64 %g<6>; .reg .pred %p<6>, %q<4>;
.reg .b32 %t, %lane, %ms, %cs; .reg .b64 %in, %out, %mg, %cg, %ml, %as, %ag, %al, %ds, %dg;
.shared .align 64 .b8 of_lanes[2048]; .shared .align 64 .b8 of_all[192];
.local .align 64 .b8 frame[64];
)";

}  // namespace

std::string kernel_of(const Block& program) {
  const auto [load, store, common] = around();
  int label = 0;
  return module_with(
      ".param .u64 to, .param .u64 from, .param .u64 own, .param .u64 common",
      declarations + fmt::format(R"(mov.u32 %lane, %tid.x;
mov.u32 %cs, of_all;
cvt.u64.u32 %ds, %cs;
cvta.shared.u64 %ds, %ds;
mov.u32 %ms, of_lanes;
mad.lo.u32 %ms, %lane, {lane_bytes}, %ms;
cvt.u64.u32 %as, %ms;
cvta.shared.u64 %as, %as;
mov.u64 %ml, frame;
cvta.local.u64 %al, %ml;
ld.param.u64 %mg, [own];
mad.wide.u32 %mg, %lane, {lane_bytes}, %mg;
mov.u64 %ag, %mg;
ld.param.u64 %cg, [common];
mov.u64 %dg, %cg;
mov.u32 %k0, 0xffffffff;
ld.param.u64 %in, [from];
mad.wide.u32 %in, %lane, {in_bytes}, %in;
{load}
{body}
ld.param.u64 %out, [to];
mad.wide.u32 %out, %lane, {out_bytes}, %out;
{store}
ld.param.u64 %out, [to];
add.u64 %out, %out, {all_bytes};
{store_common}
ret;)",
                                 fmt::arg("lane_bytes", lane_bytes),
                                 fmt::arg("in_bytes", 8 * registers_of_lane),
                                 fmt::arg("load", load), fmt::arg("body", ptx_of(program, label)),
                                 fmt::arg("out_bytes", 8 * words_of_lane), fmt::arg("store", store),
                                 fmt::arg("all_bytes", 32 * 8 * words_of_lane),
                                 fmt::arg("store_common", common)),
      "", "sm_90, debug");  // its products and sums stay apart, as in the reference
}

std::string kernel_of_each(const std::vector<std::string>& lines) {
  const Around made = around();
  std::string zeros, choice, bodies;
  for (unsigned i = 0; i < lane_bytes; i += 8) {
    zeros += fmt::format("st.shared.u64 [%ms+{0}], 0; st.local.u64 [%ml+{0}], 0;\n", i);
  }
  for (unsigned i = 0; i < common_bytes; i += 8) {
    zeros += fmt::format("st.shared.u64 [%cs+{}], 0;\n", i);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    choice += fmt::format("setp.eq.u32 %q0, %which, {0}; @%q0 bra LINE{0};\n", i);
    bodies += fmt::format("LINE{}: {}\nbra DONE;\n", i, lines[i]);
  }
  return module_with(
      ".param .u64 to, .param .u64 from, .param .u64 own, .param .u64 common",
      declarations +
          fmt::format(
              R"(.reg .b32 %which; .reg .b64 %all;
mov.u32 %lane, %tid.x;
mov.u32 %which, 0;
mov.u32 %cs, of_all;
cvt.u64.u32 %ds, %cs;
cvta.shared.u64 %ds, %ds;
mov.u32 %ms, of_lanes;
mad.lo.u32 %ms, %lane, {lane_bytes}, %ms;
cvt.u64.u32 %as, %ms;
cvta.shared.u64 %as, %as;
mov.u64 %ml, frame;
cvta.local.u64 %al, %ml;
NEXT:
{zeros}
ld.param.u64 %mg, [own];
mad.wide.u32 %mg, %lane, {lane_bytes}, %mg;
mad.wide.u32 %mg, %which, {all_lane_bytes}, %mg;
mov.u64 %ag, %mg;
ld.param.u64 %cg, [common];
mad.wide.u32 %cg, %which, {common_bytes}, %cg;
mov.u64 %dg, %cg;
mov.u32 %k0, 0xffffffff;
add.cc.u32 %t, 0, 0;
ld.param.u64 %in, [from];
mad.wide.u32 %in, %lane, {in_bytes}, %in;
mad.wide.u32 %in, %which, {all_in_bytes}, %in;
{load}
{choice}
DONE:
ld.param.u64 %out, [to];
mad.wide.u32 %all, %which, {all_out_bytes}, %out;
mad.wide.u32 %out, %lane, {out_bytes}, %all;
{store}
add.u64 %out, %all, {all_words_bytes};
{store_common}
add.u32 %which, %which, 1;
setp.lt.u32 %q0, %which, {count};
@%q0 bra NEXT;
ret;
{bodies})",
              fmt::arg("lane_bytes", lane_bytes), fmt::arg("zeros", zeros),
              fmt::arg("all_lane_bytes", 32 * lane_bytes), fmt::arg("common_bytes", common_bytes),
              fmt::arg("in_bytes", 8 * registers_of_lane),
              fmt::arg("all_in_bytes", 32 * 8 * registers_of_lane), fmt::arg("load", made.load),
              fmt::arg("choice", choice), fmt::arg("all_out_bytes", 8 * words_of_program),
              fmt::arg("out_bytes", 8 * words_of_lane), fmt::arg("store", made.store),
              fmt::arg("all_words_bytes", 32 * 8 * words_of_lane),
              fmt::arg("store_common", made.store_common), fmt::arg("count", lines.size()),
              fmt::arg("bodies", bodies)));
}

}  // namespace warpmeter::model
