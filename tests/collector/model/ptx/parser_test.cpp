// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Variable& variable(const std::vector<Variable>& variables, std::string_view name) {
  for (const Variable& candidate : variables) {
    if (candidate.name == name) return candidate;
  }
  throw std::runtime_error("no variable " + std::string(name));
}

template <class T>
std::vector<T> values(const Variable& variable) {
  std::vector<T> result(variable.initial.size() / sizeof(T));
  std::memcpy(result.data(), variable.initial.data(), result.size() * sizeof(T));
  return result;
}

class PtxParserByHand : public testing::Test {
 protected:
  const std::unique_ptr<Module> module = parsed(data_file("by_hand.ptx"));
  const Function& dispatch = *module->find("dispatch");

  const Instruction& at_line(int line, std::size_t nth = 0) const {
    for (const Instruction& instruction : dispatch.body) {
      if (instruction.line == line && nth-- == 0) return instruction;
    }
    throw std::runtime_error("no instruction in line " + std::to_string(line));
  }
  const Instruction& named(std::string_view text) const {
    for (const Instruction& instruction : dispatch.body) {
      if (instruction.text == text) return instruction;
    }
    throw std::runtime_error("no instruction " + std::string(text));
  }
};

TEST_F(PtxParserByHand, ReadsTheHeader) {
  EXPECT_EQ(module->version, 78);
  EXPECT_EQ(module->target, 90);
  EXPECT_THAT(module->files, ElementsAre("", "by \"hand\".cu"));
}

TEST_F(PtxParserByHand, ReadsVariablesWithTheirLayout) {
  const Variable& tile = variable(module->variables, "tile");
  EXPECT_EQ(tile.space, Space::shared);
  EXPECT_EQ(tile.alignment, 16u);
  EXPECT_EQ(tile.bytes, 0u);
  EXPECT_TRUE(tile.is_extern);
  EXPECT_EQ(variable(module->variables, "quads").bytes, 32u);
  EXPECT_EQ(variable(module->variables, "quads").alignment, 16u);
  EXPECT_EQ(variable(module->variables, "grid").bytes, 12u);
  EXPECT_EQ(variable(module->variables, "sized").bytes, 12u);
  EXPECT_EQ(variable(dispatch.variables, "stack").space, Space::local);
}

TEST_F(PtxParserByHand, ReadsInitialisersOfEveryForm) {
  EXPECT_THAT(values<double>(variable(module->variables, "halves")), ElementsAre(0.5, 0.25));
  EXPECT_THAT(values<float>(variable(module->variables, "quads")),
              ElementsAre(1, 2, 3, -4, 5, 6));  // zeros follow
  EXPECT_THAT(values<std::int16_t>(variable(module->variables, "grid")),
              ElementsAre(-1, 2, 0, 0x7fff, 8, 3));
  EXPECT_THAT(values<std::uint32_t>(variable(module->variables, "sized")), ElementsAre(1, 2, 3));
}

TEST_F(PtxParserByHand, KeepsAddressesInInitialisersAsRelocations) {
  const auto& links = variable(module->variables, "links").relocations;
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].name, "tile");
  EXPECT_TRUE(links[0].is_generic);
  EXPECT_EQ(links[0].addend, 4);
  EXPECT_EQ(links[1].offset, 8u);
  EXPECT_FALSE(links[1].is_generic);
  EXPECT_EQ(links[1].addend, -8);
  const auto& bytes = variable(module->variables, "bytes").relocations;
  ASSERT_EQ(bytes.size(), 4u);
  EXPECT_EQ(bytes[3].bytes, 1u);
  EXPECT_EQ(bytes[3].shift_bits, 24u);
  EXPECT_EQ(bytes[3].offset, 3u);
}

TEST_F(PtxParserByHand, ReadsSignaturesAndDirectives) {
  const Function* helper = module->find("helper");
  ASSERT_NE(helper, nullptr);
  EXPECT_FALSE(helper->is_entry);
  EXPECT_EQ(helper->results.size(), 1u);
  EXPECT_EQ(helper->parameters.size(), 2u);
  EXPECT_EQ(module->find("shortcut"), helper);
  EXPECT_TRUE(module->find("stops")->is_declaration);
  EXPECT_EQ(module->find("nobody"), nullptr);
  EXPECT_TRUE(dispatch.is_entry);
  EXPECT_EQ(dispatch.max_threads, 256u);
  ASSERT_EQ(dispatch.parameters.size(), 2u);
  EXPECT_EQ(dispatch.parameters[0].alignment, 8u);  // 16 is that of what it points at
  EXPECT_EQ(dispatch.parameters[1].bytes, 8u);
}

TEST_F(PtxParserByHand, SplitsInstructionsAndKeepsTheirLines) {
  const Instruction& load = named("ld.shared::cta.u32");
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_THAT(std::vector<Word>(load.words.begin(), load.words.end()),
              ElementsAre(Word::shared_cta, Word::u32));
  EXPECT_EQ(load.line, 53);
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(load.operands[1].address.base, "tile");
  EXPECT_EQ(load.operands[1].address.offset, -4);
  ASSERT_TRUE(load.location.has_value());
  EXPECT_EQ(load.location->line, 7);
}

TEST_F(PtxParserByHand, ReadsOperandsOfEveryForm) {
  const Instruction& compare = named("setp.lt.and.u32");
  ASSERT_EQ(compare.operands[0].kind, Operand::Kind::pair);
  EXPECT_EQ(compare.operands[0].parts[1].name, "p1");
  EXPECT_EQ(compare.operands[2].bits, 3u);
  EXPECT_TRUE(compare.operands[3].negated);
  const Instruction& split = named("mov.b64");
  ASSERT_EQ(split.operands[0].kind, Operand::Kind::vector);
  EXPECT_EQ(split.operands[0].parts[1].name, "_");
  EXPECT_EQ(named("shfl.sync.bfly.b32").operands[4].bits, ~0ull);
  EXPECT_EQ(named("mov.u64").operands[1].name, "links");
  EXPECT_EQ(named("mov.u64").operands[1].address.offset, 16);
  EXPECT_TRUE(named("mov.f32").operands[1].is_f32);
  const Operand& place = named("tex.2d.v4.f32.f32").operands[1];
  ASSERT_EQ(place.kind, Operand::Kind::address);
  ASSERT_EQ(place.parts.size(), 1u);
  ASSERT_EQ(place.parts[0].kind, Operand::Kind::vector);
  ASSERT_EQ(place.parts[0].parts.size(), 2u);
  EXPECT_EQ(place.parts[0].parts[1].name, "f");
  EXPECT_EQ(named("st.global.u32").operands[0].address.offset, -16);
  EXPECT_TRUE(module->find("helper")->body[0].operands[2].kind == Operand::Kind::integer);
  EXPECT_EQ(module->find("helper")->body[0].operands[2].bits, 32u);  // WARP_SZ
}

TEST_F(PtxParserByHand, GivesEveryCallItsThreeParts) {
  const Instruction& call = named("call");
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].parts[0].name, "t");
  EXPECT_EQ(call.operands[1].name, "helper");
  EXPECT_EQ(call.operands[2].parts.size(), 2u);
  const auto bare = parsed(entry("call f;\ncall %d1, (%r1), proto;\nret;"));
  EXPECT_THAT(bare->functions[0].body[0].operands[0].parts, IsEmpty());
  EXPECT_EQ(bare->functions[0].body[0].operands.size(), 3u);
  EXPECT_EQ(bare->functions[0].body[1].operands[3].name, "proto");
}

TEST_F(PtxParserByHand, ReadsTargetLists) {
  EXPECT_THAT(dispatch.target_lists.at("targets"), ElementsAre("zero", "one", "two"));
  EXPECT_EQ(dispatch.labels.count("targets"), 0u);
  EXPECT_EQ(dispatch.body[dispatch.labels.at("one")].text, "call");
}

TEST_F(PtxParserByHand, GivesNamesOfNestedScopesTheirOwnSpelling) {
  EXPECT_EQ(at_line(60).operands[0].name, "t@1");
  const Instruction& add = at_line(61);
  EXPECT_EQ(add.operands[0].name, "r1@1");
  EXPECT_EQ(add.operands[1].name, "t@1");
  EXPECT_EQ(named("cvt.f64.f32").operands[0].name, "t@2");
  EXPECT_EQ(named("ld.u32").operands[0].name, "r5");
  std::vector<std::string> renamed;
  for (const RegisterDeclaration& declaration : dispatch.registers) {
    if (declaration.name.find('@') == std::string_view::npos) continue;
    renamed.push_back(std::string(declaration.name) + " " + std::string(text_of(declaration.type)));
  }
  EXPECT_THAT(renamed, ElementsAre("t@1 u32", "r1@1 u32", "t@2 f64"));
}

TEST(PtxParser, KeepsLabelsOfTwoScopesApart) {
  const auto module =
      parsed(entry("{ @%p1 bra L; mov.u32 %r1, 1; L: mov.u32 %r2, 2; }\n"
                   "{ @%p1 bra L; mov.u32 %r1, 3; L: mov.u32 %r2, 4; bra out; }\nout: ret;"));
  const Function& function = module->functions[0];
  EXPECT_EQ(function.labels.size(), 3u);
  EXPECT_EQ(function.body[function.labels.at(function.body[0].operands[0].name)].line, 8);
  EXPECT_EQ(function.body[function.labels.at(function.body[3].operands[0].name)].line, 9);
  EXPECT_EQ(function.body[function.labels.at("out")].text, "ret");
}

TEST(PtxParser, TakesPartsOfRegistersOffTheirNames) {
  const auto module =
      parsed(entry(".reg .b32 own; { .reg .b32 own; vmad.s32.s32.s32 %r1, -own.h1, %r2.b3, -5; } "
                   "vadd4.u32.u32.u32 "
                   "own.b310, %r1.b7654, own, %r2; mov.u32 own, %tid.x; ret;"));
  const auto& body = module->functions[0].body;
  const auto& product = body[0].operands;
  EXPECT_TRUE(product[1].negated && product[1].selector == "h1");
  EXPECT_NE(product[1].name, "own");
  EXPECT_FALSE(product[2].negated);
  EXPECT_EQ(product[2].name, "%r2");
  EXPECT_EQ(product[2].selector, "b3");
  EXPECT_FALSE(product[3].negated);
  EXPECT_EQ(static_cast<std::int64_t>(product[3].bits), -5);
  EXPECT_EQ(body[1].operands[0].name, "own");
  EXPECT_EQ(body[1].operands[0].selector, "b310");
  EXPECT_EQ(body[1].operands[1].selector, "b7654");
  EXPECT_EQ(body[1].operands[2].selector, "");
  EXPECT_EQ(body[2].operands[1].selector, "");
}

TEST(PtxParser, LetsTheInnermostDeclarationWin) {
  const auto module =
      parsed(entry("{ .reg .b32 x; mov.u32 x, 1; { .reg .b64 x; mov.u64 x, 2; } mov.u32 x, 3; }\n"
                   "{ .reg .b32 %r<2>; mov.u32 %r1, 4; mov.u32 %r5, 5; }\nret;"));
  const auto& body = module->functions[0].body;
  EXPECT_EQ(body[0].operands[0].name, "x");
  EXPECT_EQ(body[1].operands[0].name, "x@2");
  EXPECT_EQ(body[2].operands[0].name, "x");
  EXPECT_EQ(body[3].operands[0].name, "%r1@3");
  EXPECT_EQ(body[4].operands[0].name, "%r5");
}

TEST(PtxParser, ChargesInlinedCodeToTheOutermostCall) {
  const auto module = parsed(with_header(
      ".file 1 \"kernel.cu\"\n.file 2 \"library.h\"\n.entry k() {\n.loc 1 5 1\nbar.sync 0;\n"
      ".loc 2 50 3, function_name $L__info_string0, inlined_at 1 6 2\nmembar.gl;\n"
      ".loc 2 70 4, function_name $L__info_string1, inlined_at 2 50 3\nmembar.cta;\n"
      ".loc 2 50 3\nmembar.sys;\n"
      ".loc 2 90 4, function_name $L__info_string1+8, inlined_at 2 50 3\nret;\n}\n"));
  std::vector<std::pair<int, int>> lines;
  for (const Instruction& instruction : module->functions[0].body) {
    lines.emplace_back(instruction.location->file, instruction.location->line);
  }
  EXPECT_THAT(lines, ElementsAre(std::pair(1, 5), std::pair(1, 6), std::pair(1, 6),
                                 std::pair(2, 50), std::pair(2, 50)));
}

/// LLVM counts the lines of the assembly's text on from that of the source.
TEST(PtxParser, ChargesInlineAssemblyToItsStatement) {
  const auto module = parsed(with_header(
      ".file 1 \"k.py\"\n.entry k() {\n.loc 1 5 7\n\t// begin inline asm\n.loc 1 5 7\n"
      "bar.sync 0;\n.loc 1 9 7\nmembar.gl;\n\n\t// end inline asm\n.loc 1 6 4\nret;\n}\n"));
  std::vector<int> lines;
  for (const Instruction& instruction : module->functions[0].body) {
    lines.push_back(instruction.location->line);
  }
  EXPECT_THAT(lines, ElementsAre(5, 5, 6));
}

/// nvcc writes the two bytes of UTF-8 that "ö" has as octal numbers.
TEST(PtxParser, ReadsNamesOfFilesThatAreNotAscii) {
  const auto module = parsed(
      with_header(".file 1 \"/tmp/gr\\303\\266\\303\\237e/a.cu\"\n.file 2 \"a\\\\303.cu\"\n.file 3 "
                  "\"a\\39b.cu\"\n"));
  EXPECT_EQ(module->files[1], "/tmp/gr\u00f6\u00dfe/a.cu");
  EXPECT_EQ(module->files[2], "a\\303.cu");
  EXPECT_EQ(module->files[3], "a\\39b.cu");
}

TEST(PtxParser, LeavesLocationsOutWhereThereAreNone) {
  EXPECT_FALSE(parsed(entry("ret;"))->functions[0].body[0].location.has_value());
}

TEST(PtxParser, AcceptsTheNulThatNvrtcCounts) {
  EXPECT_EQ(problem(entry("ret;") + std::string(1, '\0')), "parsed");
}

TEST(PtxParser, PrefersADefinitionToItsDeclarations) {
  const auto module = parsed(with_header(".func f;\n.func f () { ret; }\n.func f;\n"));
  EXPECT_FALSE(module->find("f")->is_declaration);
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(PtxParser, SaysWhereAMistakeIsAndWhatWasExpected) {
  const Mistake mistakes[] = {
      {"",
       "1:1: expected '.version', with which every PTX module starts, found the end of the text"},
      {".version 9.0\n.target sm_x", "2:9: 'sm_x' is no target; expected sm_90 or its like"},
      {".version nine", "1:10: expected a version such as 9.0, found 'nine'"},
      {".version 9.0\n.address_size 32", "2:15: only modules with 64-bit addresses are supported"},
      {".version 9.0\n.globl x;", "2:1: unknown directive '.globl'"},
      {".version 9.0\nhello",
       "2:1: expected a function, a variable or another directive, found "
       "'hello'"},
      {".version 9.0\n.entry k {\n  add.u32 %r1 %r2;\n}",
       "3:15: expected ',' or ';' after an operand of 'add.u32' in line 3, found '%r2'"},
      {".version 9.0\n.entry k {\n  ld.global.u32 %r1, [%r2;\n}",
       "3:26: expected ']' after an address, found ';'"},
      {".version 9.0\n.entry k {\n  ret;\n",
       "4:1: expected an instruction or the '}' that ends function 'k', found the end of the text"},
      {".version 9.0\n.entry k {\n .reg .b99 x;\n}",
       "3:7: unknown type or attribute '.b99' in a declaration"},
      {".version 9.0\n.entry k {\n .reg .b32 x, x;\n}",
       "3:15: 'x' is declared twice in this scope"},
      {".version 9.0\n.entry k {\nL: ret;\nL: ret;\n}", "4:1: the label 'L' is declared twice"},
      {".version 9.0\n.entry k .fast { ret; }", "2:10: unknown directive '.fast' of function 'k'"},
      {".version 9.0\n.entry k { ret; }\n}",
       "3:1: expected a function, a variable or another "
       "directive, found '}'"},
      {".version 9.0\n.global .align 3 .b32 x;",
       "2:9: an alignment must be a power of two up to 1048576"},
      {".version 9.0\n.global .b32 x[2] = {1, 2, 3};",
       "2:28: 'x' has more values than the 2 that fit"},
      {".version 9.0\n.global .b32 x[2][2] = {{1, 2, 3}};",
       "2:33: there are more values between these braces than the 2 that fit"},
      {".version 9.0\n.global .b32 x = {{1}};",
       "2:19: braces are nested deeper here than the array has dimensions"},
      {".version 9.0\n.global .b8 x = 1.5;", "2:17: '1.5' does not fit an element of type .b8"},
      {".version 9.0\n.global .b16 x = 0xFF(y);",
       "2:18: the mask '0xFF' must select 2 adjoining bytes, as many as an element has"},
      {".version 9.0\n.global .pred x;", "2:15: only a register can be a predicate"},
  };
  for (const auto& [text, message] : mistakes) EXPECT_EQ(problem(text), message) << text;
}

TEST(PtxParser, RefusesWhatWouldAskForTooMuch) {
  EXPECT_THAT(problem(entry(".reg .b32 %x<4000000000>;")), HasSubstr("at most 16777216 registers"));
  EXPECT_THAT(problem(with_header(".global .b8 x[999999999999999999];")),
              HasSubstr("is too large"));
  EXPECT_THAT(problem(with_header(".global .b8 x[4294967296][4294967296][4294967296];")),
              HasSubstr("is too large"));
  EXPECT_THAT(problem(with_header(".global .b8 x[][4294967296][4294967296];")),
              HasSubstr("is too large"));
  EXPECT_THAT(problem(with_header(".global .b8 x[2][1000000000] = {{1}, {2}};")),
              HasSubstr("skip too many elements"));
  EXPECT_THAT(problem(with_header(".file 4000000000 \"x\"")), HasSubstr("must be below 65536"));
  EXPECT_THAT(problem(entry(std::string(100000, '{'))), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(problem(with_header(".global .b8 x[2] = " + std::string(100000, '{'))),
              HasSubstr("nested deeper"));
  EXPECT_THAT(problem(with_header(".entry k .maxntid 65536, 65536, 2 { ret; }")),
              HasSubstr("below 2^32"));
}

TEST(PtxParser, ShortensNamesThatItQuotes) {
  EXPECT_LT(problem(with_header(std::string(100000, 'x'))).size(), 200u);
}

}  // namespace
}  // namespace warpmeter::model::ptx
