// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/early_joins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::vector<std::size_t>> joins(const std::string& body) {
  const auto module = parsed(entry(body));
  return early_joins(graph_of(module->functions[0]));
}

TEST(PtxEarlyJoins, AreWhereTheSecondWayIntoABodyComes) {
  // if (a || b) X
  EXPECT_THAT(joins("@%p1 bra X;\n@!%p2 bra Y;\nX: mov.u32 %r1, 1;\nY: bar.sync 0;\nret;"),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), IsEmpty()));
}

TEST(PtxEarlyJoins, AreNotWhereAllLanesMeet) {
  EXPECT_THAT(joins("@%p1 bra X;\nmov.u32 %r1, 1;\nbra Y;\nX: mov.u32 %r1, 2;\nY: bar.sync 0;\n"
                    "ret;"),
              Each(IsEmpty()));
  EXPECT_THAT(joins("@%p1 bra X;\nmov.u32 %r1, 1;\n@%p2 bra Z;\nmov.u32 %r1, 3;\nZ: bra Y;\n"
                    "X: mov.u32 %r1, 2;\nY: bar.sync 0;\nret;"),
              Each(IsEmpty()));
}

TEST(PtxEarlyJoins, DoNotGoRoundALoop) {
  // for (;;) { if (a) X; Y; if (b) break; }
  EXPECT_THAT(joins("L: @%p1 bra Y;\nmov.u32 %r1, 1;\nY: mov.u32 %r2, 1;\n@%p2 bra L;\n"
                    "bar.sync 0;\nret;"),
              Each(IsEmpty()));
  // … and of if (a || b) X in it, X alone is one.
  EXPECT_THAT(joins("L: @%p1 bra X;\n@!%p3 bra Y;\nX: mov.u32 %r1, 1;\nY: mov.u32 %r2, 1;\n"
                    "@%p2 bra L;\nbar.sync 0;\nret;"),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0), IsEmpty(), IsEmpty()));
}

TEST(PtxEarlyJoins, AreBehindALoopThatOthersLeaveFurther) {
  // do { if (a) goto out; } while (b); X; out:
  EXPECT_THAT(joins("L: @%p1 bra OUT;\nmov.u32 %r1, 1;\n@%p2 bra L;\nmov.u32 %r2, 1;\n"
                    "OUT: bar.sync 0;\nret;"),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(2), IsEmpty()));
  // for (;;) { if (a) { X; return; } if (b) break; } Y
  EXPECT_THAT(joins("L: @%p1 bra X;\nmov.u32 %r1, 1;\n@%p2 bra L;\nmov.u32 %r2, 1;\nret;\n"
                    "X: mov.u32 %r3, 1;\nret;"),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(2), ElementsAre(0)));
}

TEST(PtxEarlyJoins, MayBeOfAnyBranchWhereThereAreTooManyWays) {
  // A thousand branches to each of a thousand places, forwards: no compiler writes that.
  std::string body;
  constexpr int places = 3000;
  for (int i = 0; i < places; ++i) {
    body +=
        "L" + std::to_string(i) + ": @%p1 bra L" + std::to_string(std::min(i + 2, places)) + ";\n";
  }
  body += "L" + std::to_string(places) + ": bar.sync 0;\nret;";
  EXPECT_THAT(joins(body).front(), ElementsAre(nowhere));
}

}  // namespace
}  // namespace warpmeter::model::ptx
