// SPDX-License-Identifier: MIT
// The linker joins PTX modules that were compiled apart: which text stays, and under which name.
#include "collector/runtime/image/link_ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "collector/model/ptx/module.h"

namespace warpmeter::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string module(const std::string& text, const std::string& version = "8.0",
                   const std::string& target = "sm_90") {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + text;
}

std::string linked(const std::vector<std::string>& modules) {
  const LinkedPtx result = link_ptx(modules);
  EXPECT_EQ(result.failure, "");
  return result.text;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(LinkPtx, HasOneHeaderOfTheNewestVersion) {
  const std::string text = linked({module("", "8.0", "sm_80, debug"), module("", "8.10", "sm_90")});
  EXPECT_EQ(text, ".version 8.10\n.target sm_90\n.address_size 64\n");
}

TEST(LinkPtx, ADefinitionTakesThePlaceOfItsDeclarations) {
  const std::string text =
      linked({module(".extern .global .align 4 .u32 total;\n"
                     ".extern .func twice(.param .b32 a);\n"
                     ".visible .entry k() { ld.global.u32 %r1, [total]; ret; }\n"),
              module(".visible .global .align 4 .u32 total = 5;\n"
                     ".visible .func twice(.param .b32 a) { ret; }\n")});
  EXPECT_THAT(text, Not(HasSubstr(".extern")));
  EXPECT_EQ(count_of(text, ".global .align 4 .u32 total"), 1);
  EXPECT_EQ(count_of(text, ".visible .func twice(.param .b32 a) { ret; }"), 1);
  // The declaration comes before all that may call it.
  EXPECT_LT(text.find(".visible .func twice(.param .b32 a) ;"), text.find(".entry k"));
}

TEST(LinkPtx, WhatNobodyDefinesIsDeclaredOnce) {
  const std::string declared =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";
  EXPECT_EQ(count_of(linked({module(declared), module(declared)}), "vprintf"), 1);
}

TEST(LinkPtx, SharedMemoryOfALaunchIsOneStretchAlignedAsTheStrictestAsks) {
  const std::string text = linked({module(".extern .shared .align 4 .b8 tile[];\n"),
                                   module(".extern .shared .align 16 .b8 tile[];\n")});
  EXPECT_EQ(count_of(text, "tile[]"), 1);
  EXPECT_THAT(text, HasSubstr(".extern .shared .align 16 .b8 tile[];"));
}

TEST(LinkPtx, NamesOfAModulesOwnAreKeptApart) {
  const std::string one = ".global .align 1 .b8 $str[2] = {65, 0};\n.func own() { ret; }\n";
  const std::string two =
      ".global .align 1 .b8 $str[2] = {66, 0};\n.func own() { ret; }\n"
      ".visible .entry k() { mov.u64 %rd1, $str; call own, (); ret; }\n";
  const std::string text = linked({module(one), module(two)});
  EXPECT_THAT(text, HasSubstr("$str[2] = {65, 0};"));
  EXPECT_THAT(text, HasSubstr("$str$file2[2] = {66, 0};"));
  EXPECT_THAT(text, HasSubstr("mov.u64 %rd1, $str$file2; call own$file2, ();"));
}

TEST(LinkPtx, ANameOfAModulesOwnGivesWayToOneThatALaterModuleShows) {
  const std::string text =
      linked({module(".func same() { ret; }\n"), module(".visible .func same() { trap; ret; }\n")});
  EXPECT_THAT(text, HasSubstr(".func same$file2() { ret; }"));
  EXPECT_THAT(text, HasSubstr(".visible .func same() { trap; ret; }"));
}

TEST(LinkPtx, OfWeakDefinitionsOneStays) {
  const std::string weak = ".weak .func twice() { ret; }\n";
  EXPECT_EQ(count_of(linked({module(weak), module(weak)}), "twice() { ret; }"), 1);
  const std::string text =
      linked({module(weak), module(".visible .func twice() { trap; ret; }\n")});
  EXPECT_THAT(text, HasSubstr("twice() { trap; ret; }"));
  EXPECT_THAT(text, Not(HasSubstr("twice() { ret; }")));
}

TEST(LinkPtx, TwoVisibleDefinitionsAreAMistake) {
  const std::string text = module(".visible .func _Z5twicei() { ret; }\n");
  const LinkedPtx result = link_ptx({text, text});
  EXPECT_EQ(result.text, "");
  EXPECT_THAT(result.failure, HasSubstr("twice"));
  EXPECT_THAT(result.failure, HasSubstr("is defined in two of the files"));
}

TEST(LinkPtx, LinesKeepTheirFiles) {
  const std::string text = linked(
      {module(".visible .entry a() {\n.loc 1 7 0\nret; }\n.file 1 \"a.cu\"\n.file 2 \"h.h\"\n"),
       module(
           ".visible .entry b() {\n.loc 2 8 0, function_name $L__info_string0, inlined_at 1 9 0\n"
           "ret; }\n.file 1 \"b.cu\"\n.file 2 \"h.h\"\n"
           ".section .debug_str\n{\n$L__info_string0:\n.b8 102, 0\n}\n"
           ".section .debug_info\n{\n.b8 1\n}\n")});
  EXPECT_THAT(text, HasSubstr(".file 1 \"a.cu\"\n.file 2 \"h.h\"\n.file 3 \"b.cu\"\n"));
  EXPECT_THAT(text, HasSubstr(".loc 1 7 0"));
  EXPECT_THAT(text, HasSubstr(".loc 2 8 0, function_name $L__file_info_string0, inlined_at 3 9 0"));
  EXPECT_THAT(text, HasSubstr("$L__file_info_string0:"));
  EXPECT_THAT(text, Not(HasSubstr(".debug_info")));
}

TEST(LinkPtx, AVariableComesBehindThoseWhoseAddressesItHolds) {
  const std::string text = linked({module(".extern .global .align 4 .u32 x;\n"
                                          ".visible .global .align 8 .u64 p = generic(x);\n"),
                                   module(".visible .global .align 4 .u32 x;\n")});
  EXPECT_LT(text.find(".u32 x;"), text.find(".u64 p"));
}

TEST(LinkPtx, WhatItMakesCanBeRead) {
  const std::string text = linked(
      {module(".extern .func twice(.param .b32 a);\n"
              ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<2>;\n"
              "{\n.param .b32 a;\nst.param.b32 [a+0], 1;\ncall.uni twice, (a);\n}\nret;\n}\n"),
       module(".visible .func twice(.param .b32 a)\n{\nret;\n}\n")});
  const auto parsed = model::ptx::parse(std::string(text));
  const auto* read = std::get_if<std::unique_ptr<model::ptx::Module>>(&parsed);
  ASSERT_NE(read, nullptr) << std::get<model::ptx::Diagnostic>(parsed).message;
  EXPECT_NE((*read)->find("k"), nullptr);
}

}  // namespace
}  // namespace warpmeter::runtime
