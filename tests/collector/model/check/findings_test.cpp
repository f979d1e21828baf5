// SPDX-License-Identifier: MIT
// Which findings are remarks goes by whose code it is: the toolkit's, or a person's.
#include "collector/model/check/findings.h"

#include <gtest/gtest.h>

#include <utility>

namespace warpmeter::model::check {
namespace {

/// Code of one file in a kernel of another.
Finding found(Defect defect, const char* code_file, const char* kernel_file) {
  Program program;
  program.files = {"", kernel_file, code_file};
  Place place;
  place.file = 1;
  place.line = place.own_line = 10;
  place.code_file = 2;
  place.code_line = 20;
  program.places = {place};
  Findings findings(program);
  findings.add(defect, 0, Span::none, [] { return std::string("found"); });
  return findings.list().front();
}

constexpr const char* cub = "/opt/cuda/include/cccl/cub/block/block_reduce.cuh";
constexpr const char* groups = "/usr/local/cuda-12.4/include/cooperative_groups/details/sync.h";
constexpr const char* own = "/home/me/app/kernels.cu";
// Where people keep what is for CUDA.
constexpr const char* own_headers[] = {"/home/me/app/include/cuda/tiles.cuh",
                                       "/home/me/app/cub/tiles.cuh", "thrust.cuh"};

TEST(CheckFindings, AreRemarksWhereTheToolkitsOwnKernelsUseTheirOwn) {
  for (const Defect defect : {Defect::unset, Defect::unset_shared, Defect::partly_unset,
                              Defect::race, Defect::block_race}) {
    EXPECT_TRUE(found(defect, cub, cub).is_remark()) << to_string(defect);
  }
  for (const Defect defect : {Defect::uninitialised, Defect::out_of_bounds, Defect::misaligned,
                              Defect::global_race, Defect::barrier, Defect::absent_lanes}) {
    EXPECT_FALSE(found(defect, cub, cub).is_remark()) << to_string(defect);
  }
}

TEST(CheckFindings, AreMistakesOfAPersonsKernelButForWhatInlinedCodeMayLeaveUnset) {
  for (const char* code : {cub, groups}) {
    EXPECT_TRUE(found(Defect::unset_shared, code, own).is_remark()) << code;
    EXPECT_TRUE(found(Defect::partly_unset, code, own).is_remark()) << code;
    EXPECT_FALSE(found(Defect::unset, code, own).is_remark()) << code;
    EXPECT_FALSE(found(Defect::race, code, own).is_remark()) << code;
    EXPECT_FALSE(found(Defect::block_race, code, own).is_remark()) << code;
  }
}

TEST(CheckFindings, AreMistakesInAPersonsHeadersWhateverTheirFolderIsCalled) {
  for (const char* code : own_headers) {
    for (const Defect defect : {Defect::unset, Defect::unset_shared, Defect::partly_unset,
                                Defect::race, Defect::block_race}) {
      EXPECT_FALSE(found(defect, code, own).is_remark()) << code << ": " << to_string(defect);
      EXPECT_FALSE(found(defect, code, code).is_remark()) << code << ": " << to_string(defect);
    }
  }
}

TEST(CheckFindings, HaveTheOtherLineOfTheirMessageUnlessItIsTheirOwn) {
  Program program;
  program.files = {"", own};
  for (const int line : {10, 14, 0}) {
    Place place;
    place.file = 1;
    place.line = place.own_line = line;
    program.places.push_back(place);
  }
  for (const auto& [other, line] : {std::pair(1u, 14), std::pair(0u, 0), std::pair(2u, 0)}) {
    Findings findings(program);
    const auto add = [&](Span span, std::uint32_t instruction) {
      findings.add(Defect::race, 0, span, [&] { return Described{"found", instruction}; });
    };
    add(Span::warp, other);
    EXPECT_EQ(findings.list().front().other_line, line);
    EXPECT_EQ(findings.list().front().other_file, line == 0 ? "" : own);
    add(Span::grid, 0);  // the message of the widest span counts
    EXPECT_EQ(findings.list().front().other_line, 0);
  }
}

TEST(CheckFindings, NameThePersonsLineInAKernelOfTheToolkit) {
  const Finding finding = found(Defect::race, own, cub);
  EXPECT_FALSE(finding.is_remark());
  EXPECT_EQ(finding.file, own);
  EXPECT_EQ(finding.place.line, 20);
}

}  // namespace
}  // namespace warpmeter::model::check
