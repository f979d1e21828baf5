// SPDX-License-Identifier: MIT
// Kernels of one matrix instruction each, as PTX: for the tests, and for recording on a GPU what
// tests/golden/matrix holds (record_matrices.cpp).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace matrix_kernels {

/// The words of "mma.sync.aligned.m16n8k16".
inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '.');) words.push_back(word);
  return words;
}

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};
inline Shape shape_of(const std::string& text) {
  for (const std::string& word : words_of(text)) {
    Shape shape;
    if (std::sscanf(word.c_str(), "m%un%uk%u", &shape.m, &shape.n, &shape.k) == 3) return shape;
  }
  return {};
}

inline std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

inline std::vector<std::string> registers(const char* prefix, unsigned first, unsigned count) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, first + i));
  return names;
}

inline std::string entry(const std::string& body, unsigned parameters) {
  std::vector<std::string> declared;
  std::string read;
  for (unsigned i = 0; i < parameters; ++i) {
    declared.push_back(fmt::format(".param .u64 q{}", i));
    read += fmt::format("  ld.param.u64 %d{0}, [q{0}];\n", i);
  }
  return fmt::format(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k({})
{{
  .reg .b32 %r<100>; .reg .b64 %d<100>; .reg .pred %p<3>;
  .shared .align 128 .b8 tile[16384];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
{}{}  ret;
}}
)",
                     fmt::join(declared, ", "), read, body);
}

/// An operand in registers: how many of 32 bits, and whether two are one of f64.
struct Operand {
  std::string type;
  unsigned words = 0;

  bool is_wide() const { return type == "f64"; }
};

/// A block of one warp a trial: loads the registers of a, b and c (32 lanes a word) from where q0
/// points, multiplies, and stores those of d where q1 points. A word of metadata follows those of c
/// in mma.sp, in the `lanes` of each four that the instruction names.
inline std::string product_kernel(const std::string& text, const std::vector<Operand>& operands,
                                  const std::string& lanes = "") {
  unsigned inputs = lanes.empty() ? 0 : 1, next = 10;
  for (std::size_t i = 0; i < 3; ++i) inputs += operands[i].words;
  std::string body;
  const auto move_on = [&](unsigned pointer, unsigned words) {
    body += fmt::format(
        "  mad.lo.u32 %r2, %r1, {}, %r0;\n  mul.wide.u32 %d9, %r2, 4;\n  add.u64 %d{}, %d{}, "
        "%d9;\n",
        32 * words, pointer, pointer);
  };
  move_on(0, inputs);
  move_on(1, operands[3].words);
  std::vector<std::string> lists;
  unsigned at = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool is_wide = operands[i].is_wide();
    const auto names =
        registers(is_wide ? "%d" : "%r", next, operands[i].words / (is_wide ? 2u : 1u));
    next += operands[i].words;
    lists.push_back(list_of(names));
    if (i == 3) {
      if (text.starts_with("movmatrix")) {
        body += fmt::format("  {} {}, %r10;\n", text, names[0]);
      } else {
        std::string behind;
        if (!lanes.empty()) {
          body += fmt::format("  ld.global.b32 %r3, [%d0+{}];\n", 128 * at);
          behind = ", %r3, " + lanes;
        }
        body += fmt::format("  {} {}, {}, {}, {}{};\n", text, lists[3], lists[0], lists[1],
                            lists[2], behind);
      }
      at = 0;
    }
    const char* const what = i == 3 ? "st" : "ld";
    for (const std::string& name : names) {
      const auto move = [&](const std::string& word) {
        const std::string place = fmt::format("[%d{}+{}]", i == 3 ? 1 : 0, 128 * at++);
        body += i == 3 ? fmt::format("  {}.global.b32 {}, {};\n", what, place, word)
                       : fmt::format("  {}.global.b32 {}, {};\n", what, word, place);
      };
      if (!is_wide) {
        move(name);
        continue;
      }
      if (i == 3) body += fmt::format("  mov.b64 {{%r90, %r91}}, {};\n", name);
      move("%r90");
      move("%r91");
      if (i != 3) body += fmt::format("  mov.b64 {}, {{%r90, %r91}};\n", name);
    }
  }
  return entry(body, 2);
}

/// 0 for a word that is no type.
inline unsigned bits_of(const std::string& type) {
  const std::pair<const char*, unsigned> known[] = {
      {"b1", 1},    {"u4", 4},    {"s4", 4},   {"u8", 8},   {"s8", 8},  {"f16", 16},
      {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32}, {"f64", 64}};
  for (const auto& [name, bits] : known) {
    if (type == name) return bits;
  }
  return 0;
}

/// How many registers wmma has for a matrix of so many numbers.
inline unsigned fragment_registers(const std::string& type, bool is_factor, unsigned elements) {
  if (type == "f16") return is_factor ? 8 : 4;
  return elements * bits_of(type) / (type == "f64" ? 2048 : 1024);
}

/// A block of one warp a trial: loads matrices from where q0, q1 and q2 point, whose lines follow
/// each other, multiplies, and stores the result, by rows, where q3 points.
inline std::string whole_product_kernel(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  std::vector<std::string> types, layouts;
  for (const std::string& word : words) {
    if (word == "row" || word == "col") layouts.push_back(word);
    if (bits_of(word) > 0) types.push_back(word);
  }
  if (types.size() == 2) types = {types[0], "f16", "f16", types[1]};
  const Shape shape = shape_of(text);
  std::string shape_name;
  for (const std::string& word : words) {
    if (shape_of(word).k != 0) shape_name = word;
  }
  const bool is_wide = types[1] == "f64";
  struct Matrix {
    char name;
    std::string type, layout;
    unsigned rows, columns;
  };
  const Matrix matrices[] = {{'a', types[1], layouts[0], shape.m, shape.k},
                             {'b', types[2], layouts[1], shape.k, shape.n},
                             {'c', types[3], "row", shape.m, shape.n},
                             {'d', types[0], "row", shape.m, shape.n}};
  std::string body, lists[4];
  for (unsigned i = 0; i < 4; ++i) {
    const Matrix& matrix = matrices[i];
    const unsigned elements = matrix.rows * matrix.columns;
    body += fmt::format("  mul.wide.u32 %d9, %r1, {0};\n  add.u64 %d{1}, %d{1}, %d9;\n",
                        elements * bits_of(matrix.type) / 8, i);
    lists[i] = list_of(registers(is_wide ? "%d" : "%r", 10 + 10 * i,
                                 fragment_registers(matrix.type, i < 2, elements)));
    const unsigned stride = matrix.layout == "row" ? matrix.columns : matrix.rows;
    if (i == 3) {
      body += fmt::format("  {} {}, {}, {}, {};\n", text, lists[3], lists[0], lists[1], lists[2]);
      body += fmt::format("  wmma.store.d.sync.aligned.row.{}.global.{} [%d3], {}, {};\n",
                          shape_name, matrix.type, lists[3], stride);
    } else {
      body += fmt::format("  wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [%d{}], {};\n",
                          matrix.name, matrix.layout, shape_name, matrix.type, lists[i], i, stride);
    }
  }
  return entry(body, 4);
}

/// A warp that loads a fragment from where q0 points and stores its registers, 32 lanes a word,
/// where q1 points; or, of a store, the other way round. By way of shared memory where the
/// instruction says so, or where it says no space.
inline std::string fragment_kernel(const std::string& text, unsigned words, unsigned stride,
                                   bool is_shared, bool is_generic) {
  const bool is_load = text.starts_with("wmma.load"), is_wide = text.ends_with(".f64");
  const auto names = registers(is_wide ? "%d" : "%r", 10, words / (is_wide ? 2u : 1u));
  const bool by_shared = is_shared || is_generic;
  const auto copy = [](unsigned pointer, bool to_tile) {
    return fmt::format(
        "  mov.u32 %r80, 0;\nNEXT:\n  mad.lo.u32 %r81, %r80, 32, %r0;\n"
        "  mul.wide.u32 %d80, %r81, 4;\n  add.u64 %d80, %d{}, %d80;\n"
        "  mov.u32 %r82, tile;\n  mad.lo.u32 %r82, %r81, 4, %r82;\n  {}"
        "  add.u32 %r80, %r80, 1;\n  setp.lt.u32 %p1, %r80, 128;\n  @%p1 bra NEXT;\n",
        pointer,
        to_tile ? "ld.global.b32 %r83, [%d80];\n  st.shared.b32 [%r82], %r83;\n"
                : "ld.shared.b32 %r83, [%r82];\n  st.global.b32 [%d80], %r83;\n");
  };
  std::string body;
  if (is_load && by_shared) body += copy(0, true) + "  bar.sync 0;\n";
  body +=
      fmt::format("  mul.wide.u32 %d81, %r0, 4;\n  add.u64 %d82, %d{}, %d81;\n", is_load ? 1 : 0);
  std::string move;
  for (std::size_t i = 0, at = 0; i < names.size(); ++i) {
    const auto word = [&](const std::string& name) {
      const std::size_t place = 128 * at++;
      move += is_load ? fmt::format("  st.global.b32 [%d82+{}], {};\n", place, name)
                      : fmt::format("  ld.global.b32 {}, [%d82+{}];\n", name, place);
    };
    if (!is_wide) {
      word(names[i]);
      continue;
    }
    if (is_load) move += fmt::format("  mov.b64 {{%r90, %r91}}, {};\n", names[i]);
    word("%r90");
    word("%r91");
    if (!is_load) move += fmt::format("  mov.b64 {}, {{%r90, %r91}};\n", names[i]);
  }
  body += "  mov.u32 %r84, tile;\n  cvt.u64.u32 %d84, %r84;\n  cvta.shared.u64 %d85, %d84;\n";
  const std::string place = is_shared ? "%r84" : is_generic ? "%d85" : is_load ? "%d0" : "%d1";
  if (is_load) {
    body += fmt::format("  {} {}, [{}], {};\n", text, list_of(names), place, stride) + move;
  } else {
    body += move + fmt::format("  {} [{}], {}, {};\n", text, place, list_of(names), stride);
    if (by_shared) body += "  bar.sync 0;\n" + copy(1, false);
  }
  return entry(body, 2);
}

}  // namespace matrix_kernels
