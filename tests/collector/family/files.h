// SPDX-License-Identifier: MIT
// A family file and what it names, in a folder that goes with the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/family/family.h"

namespace warpmeter::family {

/// Two kernels that take (out, in, n) and a variable, as nvcc writes them.
inline constexpr const char* two_kernels = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .f32 factor;
.visible .entry plain(
  .param .u64 plain_out, .param .u64 plain_in, .param .u32 plain_n
)
{
  .loc 1 3 5
  // the whole of it
  ret;
}
.visible .entry scaled(
  .param .u64 scaled_out, .param .u64 scaled_in, .param .u32 scaled_n
)
{
  .reg .b32 %r<3>;
  .loc 1 7 9
  mov.u32 %r1, 1;
  ret;
}
.file 1 "k.cu"
)";

class FamilyFiles : public testing::Test {
 protected:
  FamilyFiles() { write("k.ptx", two_kernels); }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }

  FamilySpec spec(const std::string& yaml) const {
    write("f.yaml", yaml);
    return read_family(path("f.yaml"));
  }

  std::unique_ptr<FileFamily> family(const std::string& yaml) const {
    return std::make_unique<FileFamily>(spec(yaml), 90);
  }

  /// The refusal of the family when it is loaded, the folder cut away; "" when it is not.
  std::string refusal(const std::string& yaml) const {
    try {
      family(yaml);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      const std::string words = error.what(), folder = path("");
      return words.starts_with(folder) ? words.substr(folder.size()) : words;
    }
    return "";
  }

 private:
  const TemporaryFolder folder_;
};

}  // namespace warpmeter::family
