// SPDX-License-Identifier: MIT
// The swizzle mode of a tensor map whose boxes are read with conflicts: what explain predicts of
// another one is what the kernel counts that was rewritten so (programs/swizzled_boxes.cu).
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

/// Passes for places that are `width` bytes wide: those of the busiest column of a line of 128
/// bytes, each place once.
std::size_t passes(const std::vector<unsigned>& places, unsigned width) {
  std::map<unsigned, std::set<unsigned>> columns;
  for (const unsigned place : places) columns[place % 128 / width].insert(place);
  std::size_t most = 0;
  for (const auto& [column, different] : columns) most = std::max(most, different.size());
  return most;
}

/// A byte of a tile of 32 rows of 128 bytes, in boxes side by side.
unsigned place_of(unsigned row, unsigned column, unsigned mode, unsigned boxes = 1) {
  const unsigned width = 128 / boxes;
  const unsigned byte = column / width * (4096 / boxes) + row * width + column % width;
  const unsigned swizzled_lines[] = {1, 2, 4, 8};  // so many lines of 128 bytes repeat
  return byte ^ byte / 128 % swizzled_lines[mode] * 16;
}

constexpr std::size_t blocks = 4;

/// ldmatrix: each of four matrices has eight rows. Eight chunks of 16 bytes a row.
std::size_t wavefronts_of_matrices(unsigned mode, unsigned boxes) {
  std::size_t sum = 0;
  for (unsigned chunk = 0; chunk < 8; ++chunk) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      std::vector<unsigned> places;
      for (unsigned row = 0; row < 8; ++row) {
        places.push_back(place_of(8 * matrix + row, 16 * chunk, mode, boxes));
      }
      sum += passes(places, 16);
    }
  }
  return blocks * sum;
}

/// Lane l reads row l.
std::size_t wavefronts_of_columns(unsigned mode) {
  std::size_t sum = 0;
  for (unsigned column = 0; column < 32; ++column) {
    std::vector<unsigned> places;
    for (unsigned row = 0; row < 32; ++row) places.push_back(place_of(row, 4 * column, mode));
    sum += passes(places, 4);
  }
  return blocks * sum;
}

/// Loads of 16 bytes: eight lanes at a time.
std::size_t wavefronts_of_diagonals(unsigned mode) {
  std::size_t sum = 0;
  for (unsigned step = 0; step < 8; ++step) {
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      std::vector<unsigned> places;
      for (unsigned lane = 8 * quarter; lane < 8 * quarter + 8; ++lane) {
        places.push_back(place_of(lane, (lane + step) % 8 * 16, mode));
      }
      sum += passes(places, 16);
    }
  }
  return blocks * sum;
}

class AdvisedBoxes : public RuntimeProgram {
 protected:
  void SetUp() override {
    RuntimeProgram::SetUp();
    const Outcome outcome = profile("swizzled_boxes", {"-m", "@shared,@copies"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    printed_ = outcome.output;
  }
  std::string counted(const std::string& kernel, const std::string& counter) const {
    return value_of("SELECT CAST(value AS INTEGER) FROM results WHERE variant = '" + kernel +
                    "' AND metric = '" + counter + "'");
  }
  std::string predicted(const std::string& kernel, const std::string& change,
                        const std::string& counter) const {
    return value_of(
        "SELECT predicted FROM predictions JOIN launches USING (launch_id) WHERE "
        "variant = '" +
        kernel + "' AND name = '" + change + "' AND counter = '" + counter +
        "' AND finding_rank = 1");
  }
  std::string of_finding(const std::string& kernel, const std::string& column) const {
    return value_of(
        "SELECT " + column +
        " FROM findings JOIN launches USING (launch_id) WHERE rank = 1 AND variant = '" + kernel +
        "'");
  }
  std::string advised(const std::string& kernel, const std::string& column) const {
    return value_of("SELECT " + column +
                    " FROM remedies JOIN launches USING (launch_id) WHERE finding_rank = 1 AND "
                    "is_advised AND variant = '" +
                    kernel + "'");
  }
  std::string printed_;
};

TEST_F(AdvisedBoxes, AreReadWithTheSwizzleThatExplainAdvises) {
  EXPECT_EQ(wavefronts_of_matrices(0, 1), 4 * 8 * 4 * 8U);
  EXPECT_EQ(wavefronts_of_matrices(3, 1), 4 * 8 * 4U);
  const std::string matrices = "shared_matrix_load_wavefronts", loads = "shared_load_wavefronts";
  struct Case {
    std::string kernel, change, rewritten, counter;
    std::size_t before, after;
  };
  const Case cases[] = {
      {"matrices", "box swizzle 128B", "matrices_by_128", matrices, wavefronts_of_matrices(0, 1),
       wavefronts_of_matrices(3, 1)},
      {"matrices", "box swizzle 64B", "matrices_by_64", matrices, wavefronts_of_matrices(0, 1),
       wavefronts_of_matrices(2, 2)},
      {"columns", "box swizzle 128B", "columns_by_128", loads, wavefronts_of_columns(0),
       wavefronts_of_columns(3)},
      {"diagonals_by_128", "box swizzle none", "diagonals", loads, wavefronts_of_diagonals(3),
       wavefronts_of_diagonals(0)},
  };
  for (const Case& c : cases) {
    EXPECT_LT(c.after, c.before);
    EXPECT_EQ(counted(c.kernel, c.counter), std::to_string(c.before)) << c.kernel;
    EXPECT_EQ(predicted(c.kernel, c.change, c.counter), std::to_string(c.after)) << c.kernel;
    EXPECT_EQ(counted(c.rewritten, c.counter), std::to_string(c.after)) << c.rewritten;
  }
  // Two boxes of 64 bytes a row, in place of one.
  EXPECT_EQ(counted("matrices", "bulk_load_requests"), "4");
  EXPECT_EQ(predicted("matrices", "box swizzle 64B", "bulk_load_requests"), "8");
  EXPECT_EQ(counted("matrices_by_64", "bulk_load_requests"), "8");
}

TEST_F(AdvisedBoxes, NameTheModeAndWhatEachAccessHasToDo) {
  EXPECT_EQ(of_finding("matrices", "kind || ' ' || object"), "bank_conflict tile");
  EXPECT_THAT(of_finding("matrices", "evidence"),
              testing::HasSubstr("boxes of a tensor map with no swizzle"));
  EXPECT_THAT(of_finding("diagonals_by_128", "evidence"),
              testing::HasSubstr("boxes of a tensor map with CU_TENSOR_MAP_SWIZZLE_128B"));
  // Modes that cost the same: the one that cuts no box is advised.
  EXPECT_EQ(advised("matrices", "name || ': ' || change"),
            "box swizzle 128B: CU_TENSOR_MAP_SWIZZLE_128B");
  EXPECT_THAT(advised("matrices", "words"), testing::HasSubstr("a ^ (a >> 7 & 7) << 4"));
  EXPECT_THAT(value_of("SELECT words FROM remedies JOIN launches USING (launch_id) WHERE variant = "
                       "'matrices' AND name = 'box swizzle 64B'"),
              testing::HasSubstr("the swizzle of the tensor map, each box cut into 2 of 64 bytes a "
                                 "row; in every access byte a of shared memory becomes a ^ (a >> 7 "
                                 "& 3) << 4"));
  for (const char* kernel : {"matrices_by_128", "matrices_by_64", "diagonals"}) {
    EXPECT_EQ(value_of("SELECT count(*) FROM findings JOIN launches USING (launch_id) WHERE kind = "
                       "'bank_conflict' AND variant = '" +
                       std::string(kernel) + "'"),
              "0")
        << kernel;
  }
}

/// The XOR that is advised leads to the same elements.
TEST_F(AdvisedBoxes, HoldTheSameWhenTheyAreReadAsAdvised) {
  std::istringstream lines(printed_);
  std::map<std::string, std::set<std::string>> sums;
  std::size_t kernels = 0;
  for (std::string line; std::getline(lines, line) && line.find(": ") != std::string::npos;) {
    EXPECT_THAT(line, testing::HasSubstr("cudaSuccess, "));
    sums[line.substr(0, line.find_first_of(" :"))].insert(line.substr(line.rfind(' ')));
    ++kernels;
  }
  EXPECT_EQ(kernels, 7U);
  ASSERT_EQ(sums.size(), 3U);
  for (const auto& [kind, of_kind] : sums) EXPECT_EQ(of_kind.size(), 1U) << kind;
}

}  // namespace
}  // namespace warpmeter::cli
