// SPDX-License-Identifier: MIT
// Approximate instructions on many operands, and one hash of what they give: the rows of
// tests/golden/special_functions.csv. The model's test and the recorder
// (record_special_functions.cpp) run the same PTX.
//
// A row's operands come in chunks. For an instruction on f32 a chunk holds the 65,536 numbers
// with the same upper half, the chunk's number; for other operands, hashes make them. The hash is
// the sum over all operands of a mixed result and the operand's place.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::model {

/// The operands of a chunk.
enum class SpecialOperands { f32, pair_of_f32, upper_half, f64, f16 };

struct SpecialFunction {
  std::string_view instruction;
  SpecialOperands operands;
};
inline constexpr SpecialFunction special_functions[] = {
    {"ex2.approx.f32", SpecialOperands::f32},
    {"ex2.approx.ftz.f32", SpecialOperands::f32},
    {"lg2.approx.f32", SpecialOperands::f32},
    {"lg2.approx.ftz.f32", SpecialOperands::f32},
    {"sin.approx.f32", SpecialOperands::f32},
    {"sin.approx.ftz.f32", SpecialOperands::f32},
    {"cos.approx.f32", SpecialOperands::f32},
    {"cos.approx.ftz.f32", SpecialOperands::f32},
    {"rcp.approx.f32", SpecialOperands::f32},
    {"rcp.approx.ftz.f32", SpecialOperands::f32},
    {"rsqrt.approx.f32", SpecialOperands::f32},
    {"rsqrt.approx.ftz.f32", SpecialOperands::f32},
    {"sqrt.approx.f32", SpecialOperands::f32},
    {"sqrt.approx.ftz.f32", SpecialOperands::f32},
    {"tanh.approx.f32", SpecialOperands::f32},
    {"div.approx.f32", SpecialOperands::pair_of_f32},
    {"div.approx.ftz.f32", SpecialOperands::pair_of_f32},
    {"div.full.f32", SpecialOperands::pair_of_f32},
    {"div.full.ftz.f32", SpecialOperands::pair_of_f32},
    {"rcp.approx.ftz.f64", SpecialOperands::upper_half},
    {"rsqrt.approx.ftz.f64", SpecialOperands::upper_half},
    {"rsqrt.approx.f64", SpecialOperands::f64},
    {"ex2.approx.f16", SpecialOperands::f16},
    {"tanh.approx.f16", SpecialOperands::f16},
    {"ex2.approx.ftz.bf16", SpecialOperands::f16},
    {"tanh.approx.bf16", SpecialOperands::f16},
};

/// The chunks of a row: numbers around those where functions have their seams, and then 16 at a
/// time one of each sign and seven bits of exponent.
inline constexpr std::uint32_t special_rows = 17;
inline std::vector<std::uint32_t> chunks_of_row(SpecialOperands operands, std::uint32_t row) {
  if (operands == SpecialOperands::f16) {
    return row == 0 ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{};
  }
  if (row == 0) {
    return {0x0000, 0x0001, 0x007f, 0x0080, 0x3f7f, 0x3f80, 0x42fe, 0x7e80, 0x7f7f, 0x7f80,
            0x7fff, 0x8000, 0x8080, 0xbf7f, 0xbf80, 0xc2fc, 0xc316, 0xff7f, 0xff80, 0xffff};
  }
  std::vector<std::uint32_t> chunks;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t upper = (row - 1) * 16 + i;
    chunks.push_back(upper << 8 | (upper * 73 + 29) % 256);
  }
  return chunks;
}

inline std::uint32_t operands_of_chunk(SpecialOperands operands) {
  const bool are_hashes =
      operands == SpecialOperands::pair_of_f32 || operands == SpecialOperands::f64;
  return are_hashes ? 16384 : 65536;
}

/// Mixes a word of 32 bits in place (the last steps of MurmurHash3).
inline std::string mixing(std::string_view word) {
  const auto step = [&](int shift) {
    return fmt::format("  shr.u32 %mixed, {0}, {1};\n  xor.b32 {0}, {0}, %mixed;\n", word, shift);
  };
  const auto times = [&](const char* factor) {
    return fmt::format("  mul.lo.u32 {0}, {0}, {1};\n", word, factor);
  };
  return step(16) + times("0x85ebca6b") + step(13) + times("0xc2b2ae35") + step(16);
}

/// %hash: the chunk's number and the operand's, mixed (SplitMix64).
inline std::string hash_of_place() {
  std::string code =
      "  mul.wide.u32 %hash, %chunk, 16384;\n  cvt.u64.u32 %part, %i;\n"
      "  add.u64 %hash, %hash, %part;\n  add.u64 %hash, %hash, 0x9e3779b97f4a7c15;\n";
  const auto step = [&](int shift) {
    code += fmt::format("  shr.u64 %part, %hash, {};\n  xor.b64 %hash, %hash, %part;\n", shift);
  };
  step(30);
  code += "  mul.lo.u64 %hash, %hash, 0xbf58476d1ce4e5b9;\n";
  step(27);
  code += "  mul.lo.u64 %hash, %hash, 0x94d049bb133111eb;\n";
  step(31);
  return code;
}

/// From the chunk's number and the operand's, %chunk and %i, to the result's word %y.
inline std::string special_body(const SpecialFunction& function) {
  const std::string_view name = function.instruction;
  const std::string whole = "  shl.b32 %x, %chunk, 16;\n  or.b32 %x, %x, %i;\n";
  switch (function.operands) {
    case SpecialOperands::f32:
      return fmt::format("{}  mov.b32 %a, %x;\n  {} %c, %a;\n  mov.b32 %y, %c;\n", whole, name);
    case SpecialOperands::pair_of_f32:
      // In every second chunk both are near 1.
      return hash_of_place() +
             fmt::format(
                 "  mov.b64 {{%x, %y}}, %hash;\n"
                 "  @%near and.b32 %x, %x, 0x80ffffff;\n  @%near add.u32 %x, %x, 0x3b800000;\n"
                 "  @%near and.b32 %y, %y, 0x80ffffff;\n  @%near add.u32 %y, %y, 0x3b800000;\n"
                 "  mov.b32 %a, %x;\n  mov.b32 %b, %y;\n  {} %c, %a, %b;\n  mov.b32 %y, %c;\n",
                 name);
    case SpecialOperands::upper_half:
      // The lower half does not count, and is 0 in the result.
      return whole + "  mov.b32 %y, %x;\n" + mixing("%y") +
             fmt::format(
                 "  mov.b64 %e, {{%y, %x}};\n  {} %f, %e;\n  mov.b64 {{%x, %y}}, %f;\n"
                 "  add.u32 %y, %y, %x;\n",
                 name);
    case SpecialOperands::f64:
      return hash_of_place() +
             fmt::format(
                 "  @%near and.b64 %hash, %hash, 0x7fffffffffffffff;\n  mov.b64 %e, %hash;\n"
                 "  {} %f, %e;\n  mov.b64 {{%x, %y}}, %f;\n",
                 name) +
             mixing("%x") + "  add.u32 %y, %y, %x;\n";
    case SpecialOperands::f16:
      break;
  }
  return fmt::format("  cvt.u16.u32 %h, %i;\n  {} %h, %h;\n  cvt.u32.u16 %y, %h;\n", name);
}

/// Entry `hashes(sum, chunks)`: a block of 256 threads for each chunk; adds its hash to the sum.
inline std::string special_function_kernel(const SpecialFunction& function) {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry hashes(.param .u64 sum, .param .u64 chunks)
{{
  .reg .u64 %to, %from, %at, %hash, %part;
  .reg .u32 %block, %chunk, %i, %x, %y, %mixed, %place, %total;
  .reg .f32 %a, %b, %c;
  .reg .f64 %e, %f;
  .reg .b16 %h;
  .reg .pred %near, %more;
  ld.param.u64 %to, [sum];
  ld.param.u64 %from, [chunks];
  mov.u32 %block, %ctaid.x;
  mul.wide.u32 %at, %block, 4;
  add.u64 %from, %from, %at;
  ld.global.u32 %chunk, [%from];
  and.b32 %x, %chunk, 1;
  setp.ne.u32 %near, %x, 0;
  mov.u32 %i, %tid.x;
  mov.u32 %total, 0;
again:
{}  mul.lo.u32 %place, %i, 0x9e3779b9;
  add.u32 %y, %y, %place;
{}  add.u32 %total, %total, %y;
  add.u32 %i, %i, 256;
  setp.lt.u32 %more, %i, {};
  @%more bra again;
  red.global.add.u32 [%to], %total;
  ret;
}}
)",
                     special_body(function), mixing("%y"), operands_of_chunk(function.operands));
}

}  // namespace warpmeter::model
