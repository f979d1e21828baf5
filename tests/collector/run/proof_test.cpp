// SPDX-License-Identifier: MIT
// The doubts that a right answer leaves, said in words and in whether it counts as verified.
#include "collector/run/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Bytes = std::vector<std::byte>;

const Bytes before(4, std::byte{1}), after(4, std::byte{2});

/// out and in, which hold the same before a launch.
struct ProofTest : testing::Test {
  ProofTest() { problem.buffers = {{"out", Element::i32, before}, {"in", Element::i32, before}}; }

  Proof proof(const std::vector<std::size_t>& compared, const Bytes& out, const Bytes& in,
              const std::set<std::string>& changed, const std::string& reference = "naive") const {
    const std::vector<Bytes> left = {out, in};
    std::vector<kernels::Expected> expected;
    for (const std::size_t buffer : compared) expected.push_back({buffer, left[buffer]});
    return proof_of(problem, expected, left, reference, changed);
  }

  kernels::Problem problem;
};

TEST_F(ProofTest, IsWholeWhereBothChangeWhatIsComparedAndNothingElse) {
  const Proof whole = proof({0}, after, before, {"out"});
  EXPECT_FALSE(whole.is_empty);
  EXPECT_THAT(whole.remarks, IsEmpty());
  // A reference that changes it, to what it held before as the variant does, is an answer too.
  EXPECT_FALSE(proof({0}, before, before, {"out"}).is_empty);
}

TEST_F(ProofTest, IsNoneWhereNobodyChangesWhatIsCompared) {
  const Proof none = proof({1}, after, before, {"out"});
  EXPECT_TRUE(none.is_empty);
  EXPECT_THAT(
      none.remarks,
      ElementsAre("is not verified: it was compared in 'in' alone, which neither it nor its "
                  "reference naive changes; name in outputs what the kernels write"));
}

TEST_F(ProofTest, NamesABufferAmongOthersThatNobodyChanges) {
  const Proof part = proof({0, 1}, after, before, {"out"});
  EXPECT_FALSE(part.is_empty);
  EXPECT_THAT(part.remarks,
              ElementsAre("was compared in 'in' too, which neither it nor its reference naive "
                          "changes: that verifies nothing"));
}

TEST_F(ProofTest, NamesABufferThatIsChangedAndNotCompared) {
  const Proof proof_of_out = proof({0}, after, after, {"out"});
  EXPECT_FALSE(proof_of_out.is_empty);
  EXPECT_THAT(
      proof_of_out.remarks,
      ElementsAre("changes 'in' too, which its reference naive does not and which was compared "
                  "with nothing"));
  // A buffer that the reference changes as well was left out of outputs on purpose.
  EXPECT_THAT(proof({0}, after, after, {"out", "in"}).remarks, IsEmpty());
}

TEST_F(ProofTest, OfAFileIsAnAnswerWhateverTheKernelChanges) {
  const Proof idle = proof({0}, before, after, {}, "");
  EXPECT_FALSE(idle.is_empty);
  EXPECT_THAT(
      idle.remarks,
      ElementsAre("does not change 'out', which began with what is expected",
                  "changes 'in' too, which no file is given for and which was compared with "
                  "nothing"));
}

}  // namespace
}  // namespace warpmeter::run
