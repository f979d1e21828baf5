// SPDX-License-Identifier: MIT
// Single instructions and what a GPU answered: cases of data/h200_instructions.txt, and the kernel
// that runs one, a case's 32 operand tuples in the 32 lanes of a warp. The model's test and the
// recorder (record_instructions.cpp) run the same PTX.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <istream>
#include <sstream>
#include <string>
#include <vector>

namespace warpmeter::model {

struct InstructionCase {
  std::string result;                 ///< "b16", "b32", "b64" or "pred"
  std::vector<std::string> operands;  ///< likewise
  std::string body;                   ///< PTX with D for the result, A, B, C and E for operands
  std::vector<std::array<std::uint64_t, 32>> values;  ///< the values of each operand
  std::array<std::uint64_t, 32> expected{};
};

inline constexpr char operand_letters[] = {'A', 'B', 'C', 'E'};

/// Reads "case result | operands | body", and the lines of values that follow it, until the end.
inline std::vector<InstructionCase> read_cases(std::istream& file) {
  std::vector<InstructionCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first == "#") continue;
    if (first == "case") {
      InstructionCase next;
      std::string word;
      words >> next.result >> word;
      while (words >> word && word != "|") next.operands.push_back(word);
      std::getline(words >> std::ws, next.body);
      cases.push_back(next);
      continue;
    }
    std::array<std::uint64_t, 32> values{};
    for (std::uint64_t& value : values) words >> std::hex >> value;
    if (first == "D") {
      cases.back().expected = values;
    } else {
      cases.back().values.push_back(values);
    }
  }
  return cases;
}

/// Entry `instruction(result, operand, …)`, pointers to 32 numbers of 8 bytes each, for one warp.
inline std::string instruction_kernel(const InstructionCase& a_case) {
  std::string parameters = ".param .u64 to", loads, body, store;
  for (std::size_t i = 0; i < a_case.operands.size(); ++i) {
    const char letter = operand_letters[i];
    const std::string& type = a_case.operands[i];
    parameters += fmt::format(", .param .u64 from{}", letter);
    loads += fmt::format(" .reg .{1} %{0};\n ld.param.u64 %p, [from{0}];\n add.s64 %p, %p, %at;\n",
                         letter, type);
    if (type == "pred") {
      loads += fmt::format(" ld.global.u32 %word, [%p];\n setp.ne.u32 %{}, %word, 0;\n", letter);
    } else {
      loads += fmt::format(" ld.global.{} %{}, [%p];\n", type, letter);
    }
  }
  for (const char c : a_case.body) {
    if (c == 'D' || c == 'A' || c == 'B' || c == 'C' || c == 'E') body += '%';
    body += c;
  }
  if (a_case.result == "pred") {
    store = " selp.u32 %word, 1, 0, %D;\n st.global.u32 [%p], %word;\n";
  } else {
    store = fmt::format(" st.global.{} [%p], %D;\n", a_case.result);
  }
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry instruction({})
{{
 .reg .u64 %p, %at, %t64;
 .reg .u32 %word, %lane, %t32;
 .reg .pred %q;
 .reg .b16 %t16, %u16;
 .reg .b32 %v32;
 .reg .b64 %v64;
 .reg .{} %D;
 mov.u32 %lane, %tid.x;
 mul.wide.u32 %at, %lane, 8;
{} {}
 ld.param.u64 %p, [to];
 add.s64 %p, %p, %at;
{} ret;
}}
)",
                     parameters, a_case.result, loads, body, store);
}

}  // namespace warpmeter::model
