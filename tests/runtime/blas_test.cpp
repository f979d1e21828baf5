// SPDX-License-Identifier: MIT
// A program that is linked with cuBLAS, whose functions are computed on the CPU. It compares its
// own results; the numbers of the library's statuses are those of CUDA's documentation.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

constexpr const char* remark = "cuBLAS's functions are computed on the CPU";

class BlasProgram : public RuntimeProgram {};

TEST_F(BlasProgram, IsRightInEveryTypeAndOrder) {
  for (const std::string name : {"blas", "blas_parts"}) {
    const Outcome outcome = profile(name);
    EXPECT_EQ(outcome.exit_code, 3) << outcome.error;  // it launches no kernel of its own
    EXPECT_EQ(outcome.output.substr(0, outcome.output.find("Type")), expected(name));
    EXPECT_NE(outcome.error.find(remark), std::string::npos) << outcome.error;
    EXPECT_EQ(outcome.error.find(remark), outcome.error.rfind(remark)) << outcome.error;
  }
}

TEST_F(BlasProgram, HasNoFindingOfTheChecks) {
  const Outcome outcome = checked("blas");
  EXPECT_EQ(outcome.output, expected("blas")) << outcome.error;
}

TEST_F(BlasProgram, IsToldWhatItReadsPastTheEnd) {
  const std::string text = "cublasCreate: 0\ncublasSgemm: 0\ncudaDeviceSynchronize: 700\n";
  const Outcome finding = checked("blas", {"past"});
  EXPECT_EQ(finding.exit_code, 6) << finding.error;
  EXPECT_EQ(finding.output, text);
  // Two rows of nine columns are 18 numbers, and there are 16.
  EXPECT_NE(finding.error.find("cublasSgemm accesses an illegal address: its matrix, vector or "
                               "factor goes 8 bytes past the end of"),
            std::string::npos)
      << finding.error;
  for (const std::string size : {"past", "huge"}) {
    const Outcome outcome = profile("blas", {}, {size});
    EXPECT_EQ(outcome.output.substr(0, outcome.output.find("Type")), text) << size;
    EXPECT_NE(outcome.error.find("cublasSgemm accesses an illegal address"), std::string::npos)
        << outcome.error;
  }
}

TEST_F(BlasProgram, IsToldWhichFunctionNobodyAnswers) {
  const Outcome outcome = profile("blas", {}, {"another"});
  EXPECT_EQ(outcome.output, "cublasCreate: 0\ncublasSgelsBatched: 15\n");
  EXPECT_NE(
      outcome.error.find("cublasSgelsBatched failed: this function of cuBLAS is machine code"),
      std::string::npos)
      << outcome.error;
}

}  // namespace
}  // namespace warpmeter::cli
