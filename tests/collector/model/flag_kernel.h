// SPDX-License-Identifier: MIT
// The machine code of a kernel that gets the address of a flag, which others may set.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "collector/model/input/kernel_file.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// Compiles the kernel `kernel`. Its `code` has the flag's address in %rd1, another one in %rd2, a
/// number in %r9. `functions`: what else the module has. `is_linked`: functions stay apart from the
/// kernels, as with nvcc -rdc=true.
inline std::vector<std::byte> cubin_of(const std::string& target, const std::string& code,
                                       const std::string& functions, bool is_linked = false) {
  const std::string text = fmt::format(R"(.version 8.6
.target {}
.address_size 64
{}
.visible .entry kernel(.param .u64 flag, .param .u64 out, .param .u32 n) {{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  .shared .align 4 .b8 word[4];
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r9, [n];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r8, 0;
{}
  st.global.u32 [%rd2], %r8;
  ret;
}}
)",
                                       target, functions, code);
  auto parsed = ptx::parse(text);
  if (!std::holds_alternative<std::unique_ptr<ptx::Module>>(parsed)) {
    ADD_FAILURE() << "this is no PTX:\n" << text;
    return {};
  }
  std::get<std::unique_ptr<ptx::Module>>(parsed)->is_linked = is_linked;
  const Assembled assembled = assemble(*std::get<std::unique_ptr<ptx::Module>>(parsed));
  EXPECT_EQ(assembled.failure, "") << text;
  return assembled.cubin;
}

}  // namespace warpmeter::model
