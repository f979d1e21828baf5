// SPDX-License-Identifier: MIT
// A source that is saved while it is compiled: all variants are of one version of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/host_cores.h"
#include "collector/model/input/toolkit.h"
#include "tests/collector/family/files.h"

namespace warpmeter::family {
namespace {

struct Versions : FamilyFiles {
  Versions() { setenv("XDG_CACHE_HOME", path("cache").c_str(), 1); }
  ~Versions() override { unsetenv("XDG_CACHE_HOME"); }

  void save(int version) const {
    write("k.cu", fmt::format("__global__ void k(int* out) {{ out[0] = N + {}; }}\n", version));
  }

  /// Each value of N is a compilation of its own, and not all of them begin at once.
  const unsigned all = 2 * usable_cores() + 2;
};

TEST_F(Versions, OfASourceAreNotMixed) {
  save(1000000);
  std::string values;
  for (unsigned i = 1; i <= all; ++i) values += fmt::format("{}{}", i == 1 ? "" : ", ", i);
  const FamilySpec read = spec(
      "file: k.cu\narguments: [out: 'i32[1]']\nvariants:\n"
      "  v: { kernel: k, parameters: { N: [" +
      values + "] }, grid: 1, block: 1 }\n");
  std::atomic<bool> is_saved = false;
  const FileFamily family(read, 90, [&](std::size_t, std::size_t) {
    if (!is_saved.exchange(true)) save(2000000);
  });
  ASSERT_EQ(family.family().variants.size(), all);
  for (unsigned i = 1; i <= all; ++i) {
    const kernels::Variant& variant = family.family().variants[i - 1];
    ASSERT_EQ(variant.failure, "");
    const std::string number = std::to_string(2000000 + i);
    EXPECT_NE(variant.image->codes.front().ptx.find(number), std::string_view::npos) << i;
    EXPECT_NE(variant.image->source.find("2000000"), std::string_view::npos);
  }
}

/// An nvcc before which the source is saved once.
TEST_F(Versions, AreKeptAsWhatTheyAre) {
  const auto nvcc = model::toolkit_program("nvcc");
  ASSERT_TRUE(nvcc);
  const FamilySpec read = [&] {
    save(2000000);
    std::filesystem::rename(path("k.cu"), path("next"));
    save(1000000);
    return spec(
        "file: k.cu\ncompiler: nvcc\narguments: [out: 'i32[1]']\nvariants:\n"
        "  v: { kernel: k, parameters: { N: 1 }, grid: 1, block: 1 }\n");
  }();
  write("bin/nvcc", fmt::format("#!/bin/sh\n[ -e {0}/next ] && mv {0}/next {0}/k.cu\nexec {1} "
                                "\"$@\"\n",
                                path("."), nvcc->string()));
  std::filesystem::permissions(path("bin/nvcc"), std::filesystem::perms::owner_all);
  setenv("CUDA_HOME", path("").c_str(), 1);
  const auto ptx = [&] {
    const FileFamily family(read, 90);
    EXPECT_EQ(family.family().variants.front().failure, "");
    return std::string(family.family().variants.front().image->codes.front().ptx);
  };
  EXPECT_NE(ptx().find("2000001"), std::string::npos);
  save(1000000);
  EXPECT_NE(ptx().find("1000001"), std::string::npos);
  unsetenv("CUDA_HOME");
}

TEST_F(Versions, ThatNeverEndAreSaid) {
  save(1);
  const FamilySpec read = spec(
      "file: k.cu\narguments: [out: 'i32[1]']\nvariants:\n"
      "  v: { kernel: k, parameters: { N: 1 }, grid: 1, block: 1 }\n");
  int version = 1;
  try {
    const FileFamily family(read, 90, [&](std::size_t, std::size_t) { save(++version); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file);
    EXPECT_NE(std::string(error.what()).find("f.yaml:1:7: "), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace warpmeter::family
