// SPDX-License-Identifier: MIT
// Whole modules as the compiler writes them: those of the catalogue, and features.cu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collector/model/ptx/flow/declared.h"
#include "collector/model/ptx/flow/slots.h"
#include "collector/model/ptx/row.h"
#include "kernels/images.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::Contains;
using testing::EndsWith;

/// Everything that can be asked of a function is answered, and consistently.
void expect_understood(const Function& function) {
  SCOPED_TRACE(std::string(function.name));
  const auto unknown = check_opcodes(function);
  EXPECT_FALSE(unknown.has_value()) << unknown->message;
  const ControlFlow graph = graph_of(function);
  const DataFlow data = data_flow(function);
  const Slots slots = allocate(data, graph);
  std::size_t total = 0;
  for (const std::uint32_t count : slots.count) total += count;
  EXPECT_LE(total, data.registers().size());
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    for (const RegisterId read : data.reads(i)) {
      for (const RegisterId written : data.writes(i)) {
        if (read == written) continue;
        const bool is_same = data.registers()[read].width == data.registers()[written].width &&
                             slots.slot[read] == slots.slot[written];
        EXPECT_FALSE(is_same) << function.body[i].text << " in line " << function.body[i].line;
      }
    }
  }
}

TEST(PtxKernels, TheCataloguesAreUnderstood) {
  for (const kernels::Image* image : kernels::images::all_in_kernels) {
    for (const kernels::Code& code : image->codes) {
      SCOPED_TRACE(std::string(image->name) + " sm_" + std::to_string(code.arch));
      const auto module = parsed(std::string(code.ptx));
      EXPECT_EQ(module->target, code.arch);
      EXPECT_THAT(module->files, Contains(EndsWith(std::string(image->source_path))));
      for (const Function& function : module->functions) expect_understood(function);
      const auto undeclared = check_names(*module);
      EXPECT_FALSE(undeclared) << undeclared->message;
      for (const Function& function : module->functions) {
        if (!function.is_entry) continue;
        const auto memory =
            std::find_if(function.body.begin(), function.body.end(),
                         [](const Instruction& i) { return i.text.substr(0, 9) == "ld.global"; });
        if (memory != function.body.end()) {
          ASSERT_TRUE(memory->location.has_value());
          EXPECT_THAT(module->files[static_cast<std::size_t>(memory->location->file)],
                      EndsWith(std::string(image->source_path)));
        }
      }
    }
  }
}

class PtxFeatures : public testing::TestWithParam<const char*> {};

TEST_P(PtxFeatures, AreUnderstoodAsBothGenerationsOfTheCompilerWriteThem) {
  const auto module = parsed(data_file(GetParam()));
  std::set<std::string> entries;
  for (const Function& function : module->functions) {
    expect_understood(function);
    if (function.is_entry) entries.emplace(function.name);
  }
  EXPECT_THAT(entries, testing::ElementsAre(
                           "_Z9transposeILi16EfEvPKT0_PS0_i", "_Z9transposeILi32EdEvPKT0_PS0_i",
                           "assembles", "bounded", "calls_through", "cooperates", "indexes_locals",
                           "prints", "recurses", "returns_early", "switches", "vectors"));
  EXPECT_EQ(module->find("bounded")->max_threads, 256u);
  EXPECT_TRUE(module->find("vprintf")->is_declaration);
  EXPECT_FALSE(module->find("_Z9fibonaccii")->is_declaration);
}

TEST_P(PtxFeatures, KeepTheAddressesInConstantData) {
  const auto module = parsed(data_file(GetParam()));
  std::set<std::string> names;
  for (const Variable& variable : module->variables) {
    for (const auto& relocation : variable.relocations) {
      names.emplace(relocation.name);
      EXPECT_EQ(relocation.bytes, 8u);
      EXPECT_EQ(relocation.is_generic,
                relocation.name != "_Z7add_onei" && relocation.name != "_Z5twicei");
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("$str", "$str$1", "_Z5twicei", "_Z7add_onei", "table"));
}

TEST_P(PtxFeatures, BranchInTheInlineAssemblyThatTheyStandIn) {
  const auto module = parsed(data_file(GetParam()));
  const Function& function = *module->find("assembles");
  std::vector<std::string> targets;
  for (const Instruction& instruction : function.body) {
    if (instruction.opcode != Opcode::bra) continue;
    const std::string target(instruction.operands[0].name);
    targets.push_back(target.substr(0, target.find('@')));
    const std::size_t place = function.labels.at(instruction.operands[0].name);
    EXPECT_LT(place - static_cast<std::size_t>(&instruction - function.body.data()), 5u);
  }
  EXPECT_THAT(targets, testing::ElementsAre("L1", "L2", "L1"));
}

INSTANTIATE_TEST_SUITE_P(Sm, PtxFeatures,
                         testing::Values("features_sm_90.ptx", "features_sm_100.ptx"),
                         [](const auto& test) {
                           return std::string(test.param).find("100") == std::string::npos ? "90"
                                                                                           : "100";
                         });

}  // namespace
}  // namespace warpmeter::model::ptx
