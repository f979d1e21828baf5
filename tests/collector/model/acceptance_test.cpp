// SPDX-License-Identifier: MIT
// Which kernels the model can run, and every reason why it cannot run the others.
#include "collector/model/machine/decode/acceptance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <variant>

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

std::vector<Acceptance> accepts_text(std::string text) {
  auto parsed = ptx::parse(std::move(text));
  return accepts(*std::get<std::unique_ptr<ptx::Module>>(parsed));
}

constexpr const char* module_text = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "blur.cu"
.global .texref image;
.func helper()
{
  .reg .f32 %f<5>;
  mma.sp.sync.aligned;
  ret;
}
.visible .entry plain() { ret; }
.visible .entry blur(.param .u64 out)
{
  .reg .f32 %f<5>;
  .reg .b32 %r<5>;
  .loc 1 12 3
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r1, %r2}];
  .loc 1 14 3
  frobnicate.b32 %r1, %r2;
  call.uni helper, ();
  call.uni helper, ();
  ret;
}
.entry declared();
)";

TEST(Acceptance, NamesEveryEntryAndEveryReason) {
  const std::vector<Acceptance> all = accepts_text(module_text);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].entry, "plain");
  EXPECT_TRUE(all[0].is_accepted());
  EXPECT_EQ(all[1].entry, "blur");
  ASSERT_EQ(all[1].refusals.size(), 3u) << "the helper's reason counts once";
  const auto& reasons = all[1].refusals;
  EXPECT_EQ(reasons[0].instruction, "mma.sp.sync.aligned");
  EXPECT_EQ(reasons[0].place.ptx_line, 9);
  EXPECT_EQ(reasons[1].place.ptx_line, 18);
  EXPECT_EQ(reasons[1].place.line, 12);
  EXPECT_EQ(reasons[1].source, "blur.cu:12");
  EXPECT_THAT(reasons[1].what, HasSubstr("texture"));
  EXPECT_THAT(reasons[1].what, HasSubstr("pointer")) << "what to do";
  EXPECT_EQ(reasons[2].source, "blur.cu:14");
  EXPECT_THAT(reasons[2].what, HasSubstr("no instruction of PTX"));
}

/// As nvcc -rdc=true makes of child<<<1, 32>>>(out) in a kernel.
TEST(Acceptance, TakesKernelsThatLaunchKernels) {
  const auto reasons = [](const std::string& launch) {
    const std::vector<Acceptance> all = accepts_text(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(.param .b64 kernel,
    .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.visible .entry _Z5childPi() { ret; }
.visible .entry parent()
{
  .reg .b64 %rd<3>;
  .param .b64 kernel;
  .param .align 4 .b8 grid[12];
  .param .align 4 .b8 block[12];
  .param .b32 shared;
  .param .b64 result;
  mov.u64 %rd1, _Z5childPi;
  st.param.b64 [kernel], %rd1;
)" + launch + "\n  ret;\n}\n");
    std::vector<std::string> whats;
    for (const auto& reason : all.at(1).refusals) whats.push_back(reason.what);
    return whats;
  };
  EXPECT_THAT(reasons("call.uni (result), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, "
                      "shared);"),
              testing::IsEmpty());
  EXPECT_THAT(reasons("call.uni (result), __cudaCDP2GetParameterBufferV2, (kernel);"),
              testing::ElementsAre(HasSubstr("another number of arguments")));
  EXPECT_THAT(reasons("call.uni (result), cudaDeviceSynchronize, ();"),
              testing::ElementsAre(HasSubstr("calls cudaDeviceSynchronize, which the module")));
  EXPECT_THAT(reasons("mov.u64 %rd2, nobody;"), testing::ElementsAre(HasSubstr("names nobody")));
}

TEST(Acceptance, RefusesMoreMemoryThanThereIs) {
  const auto reason = [](const std::string& before, const std::string& body) {
    const std::vector<Acceptance> all =
        accepts_text(".version 8.0\n.target sm_90\n.address_size 64\n" + before +
                     ".visible .entry k()\n{\n .reg .b64 %d;\n" + body + " ret;\n}\n");
    return all.at(0).is_accepted() ? std::string() : all[0].refusals.at(0).what;
  };
  EXPECT_EQ(reason(".global .b8 v[1048576];\n.const .b8 c[65536];\n",
                   " .shared .b8 s[232448];\n .local .b8 l[524288];\n"),
            "");
  EXPECT_THAT(reason(".global .b8 v[4000000000];\n", ""), HasSubstr("bytes of global memory"));
  EXPECT_THAT(reason(".const .b8 c[65537];\n", ""), HasSubstr("65536 bytes of constant memory"));
  EXPECT_THAT(reason("", " .shared .b8 s[5000000000];\n"), HasSubstr("of shared memory"));
  EXPECT_THAT(reason("", " .local .b8 l[524289];\n"), HasSubstr("524288 bytes that a thread has"));
}

TEST(Acceptance, TakesConditionsOfGraphs) {
  const std::vector<Acceptance> all = accepts_text(R"(.version 8.3
.target sm_90
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry k()
{
  .param .b64 handle;
  .param .b32 value;
  call.uni cudaGraphSetConditional, (handle, value);
  ret;
}
)");
  EXPECT_TRUE(all.at(0).is_accepted());
}

TEST(Acceptance, MakesASentenceOfAReason) {
  const std::vector<Acceptance> all = accepts_text(module_text);
  const std::string sentence = to_string(all[1].refusals[1], all[1].entry);
  EXPECT_EQ(
      sentence,
      "the model cannot run kernel 'blur': 'tex.2d.v4.f32.s32' on line 18 of its PTX "
      "(blur.cu:12) numbers the elements of a texture that has more than a line of them; read "
      "through a pointer instead, or measure on a GPU");
}

}  // namespace
}  // namespace warpmeter::model
