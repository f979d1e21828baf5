// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "collector/model/ptx/flow/one_value.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// The decider of the branch behind the body: the number of an instruction; -1: the branch.
int decider(const std::string& body, const std::string& guard = "@%p1") {
  const auto module = parsed(
      with_header(".visible .entry k(.param .u32 n) {\n.reg .pred %p<10>;\n.reg .b32 %r<10>;\n"
                  "mov.u32 %r1, %tid.x;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\nL:\n"
                  "add.u32 %r3, %r3, 1;\n" +
                  body + guard + " bra L;\nret;\n}\n"));
  const Function& function = module->functions[0];
  const std::vector<std::size_t> all = deciding_comparisons(function, data_flow(function));
  const std::size_t branch = function.body.size() - 2;
  return all[branch] == branch ? -1 : static_cast<int>(all[branch]);
}

const std::string differs = "setp.lt.u32 %p2, %r1, 5;\n", is_same = "setp.lt.u32 %p3, %r3, %r2;\n";

TEST(PtxDeciders, OfConditionsThatAreJoinedTheOneThatDiffersDecides) {
  EXPECT_EQ(decider(differs + is_same + "and.pred %p1, %p2, %p3;\n"), 4);
  EXPECT_EQ(decider(is_same + differs + "or.pred %p1, %p3, %p2;\n"), 5);
  EXPECT_EQ(decider(differs + is_same + "not.pred %p4, %p2;\nand.pred %p1, %p3, %p4;\n", "@!%p1"),
            4);
}

TEST(PtxDeciders, ElseTheBranchItself) {
  EXPECT_EQ(decider("setp.lt.u32 %p1, %r1, 5;\n"), -1);  // nothing is joined
  EXPECT_EQ(decider(differs + "setp.gt.u32 %p3, %r1, 2;\nand.pred %p1, %p2, %p3;\n"), -1);
  EXPECT_EQ(decider(is_same + "setp.gt.u32 %p2, %r3, 2;\nand.pred %p1, %p2, %p3;\n"), -1);
  EXPECT_EQ(decider(differs + is_same + "and.pred %p1, %p2, %p3;\n@%p3 setp.eq.u32 %p2, %r1, 1;\n"),
            -1);  // one of two
}

}  // namespace
}  // namespace warpmeter::model::ptx
