// SPDX-License-Identifier: MIT
// Which of an image's codes a device gets (CUDA C++ Programming Guide, Application Compatibility).
#include "collector/cupti/module.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter::cupti {
namespace {

constexpr unsigned char machine_code[] = {1};

kernels::Code both(int arch) { return {arch, "ptx", machine_code}; }
kernels::Code only_ptx(int arch) { return {arch, "ptx", {}}; }
kernels::Code only_cubin(int arch) { return {arch, "", machine_code}; }

struct Case {
  const char* what;
  std::vector<kernels::Code> codes;
  int device;
  int chosen;  ///< 0: none
  bool is_cubin;
};

TEST(CodeChoice, TakesTheNewestCubinOfTheMajorVersionElseTheNewestPtx) {
  const Case cases[] = {
      {"its own cubin", {both(80), both(90)}, 90, 90, true},
      {"an older minor version of its major one", {both(80), both(90)}, 86, 80, true},
      {"the newest of several minor versions", {both(80), both(86), both(90)}, 89, 86, true},
      {"never a newer minor version", {both(86), only_ptx(80)}, 80, 80, false},
      {"PTX on a newer major version", {both(80), both(90)}, 100, 90, false},
      {"three digits: 12.0 is not 1.20", {both(80), both(90), both(120)}, 120, 120, true},
      {"no cubin of another major version", {only_cubin(80)}, 90, 0, false},
      {"nothing that is newer", {both(80), both(90)}, 75, 0, false},
      {"a cubin without PTX", {only_cubin(90)}, 90, 90, true},
      {"nothing of nothing", {}, 90, 0, false},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    const auto choice = choose_code(test.codes, test.device);
    ASSERT_EQ(choice.has_value(), test.chosen != 0);
    if (!choice) continue;
    EXPECT_EQ(choice->code->arch, test.chosen);
    EXPECT_EQ(choice->is_cubin, test.is_cubin);
  }
}

}  // namespace
}  // namespace warpmeter::cupti
