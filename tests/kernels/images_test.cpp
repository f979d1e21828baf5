// SPDX-License-Identifier: MIT
// The embedded parts of the build: PTX and a cubin for every architecture, the source, and nothing
// about the machine that it was built on.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "collector/family/catalogue.h"
#include "tests/paths.h"

namespace warpmeter::kernels {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::set<int> configured_architectures() {
  std::set<int> architectures;
  std::istringstream list(WARPMETER_ARCHITECTURES);
  for (int arch = 0; list >> arch;) architectures.insert(arch);
  return architectures;
}

class EveryImage : public testing::TestWithParam<const Family*> {
 protected:
  const Family& family() const { return *GetParam(); }
  const Image& image() const { return *GetParam()->variants.front().image; }
};

TEST_P(EveryImage, IsNamedAfterItsFile) {
  EXPECT_EQ(image().name, family().name);
  EXPECT_EQ(image().source_path, "kernels/" + std::string(family().name) + ".cu");
}

TEST_P(EveryImage, HasCodeForEachArchitectureInAscendingOrder) {
  std::vector<int> found;
  for (const Code& code : image().codes) found.push_back(code.arch);
  const std::set<int> configured = configured_architectures();
  EXPECT_EQ(found, std::vector<int>(configured.begin(), configured.end()));
}

TEST_P(EveryImage, HoldsPtxForTheArchitectureItNames) {
  for (const Code& code : image().codes) {
    EXPECT_THAT(std::string(code.ptx), HasSubstr(".target sm_" + std::to_string(code.arch) + "\n"));
  }
}

TEST_P(EveryImage, EndsItsPtxWithANulThatIsNotCounted) {
  for (const Code& code : image().codes) {
    EXPECT_EQ(code.ptx.find('\0'), std::string_view::npos);
    EXPECT_EQ(code.ptx.data()[code.ptx.size()], '\0');
  }
}

TEST_P(EveryImage, HoldsACubinForTheArchitectureItNames) {
  for (const Code& code : image().codes) {
    ASSERT_GT(code.cubin.size(), sizeof(Elf64_Ehdr));
    Elf64_Ehdr header;
    std::memcpy(&header, code.cubin.data(), sizeof(header));
    EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
    EXPECT_EQ(header.e_machine, EM_CUDA);
    EXPECT_LE(header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize,
              code.cubin.size());
  }
}

TEST_P(EveryImage, DefinesTheEntryOfEveryVariant) {
  for (const Code& code : image().codes) {
    const std::string_view cubin(reinterpret_cast<const char*>(code.cubin.data()),
                                 code.cubin.size());
    for (const Variant& variant : family().variants) {
      if (!variant.library.empty()) continue;
      const std::string entry(variant.entry);
      EXPECT_NE(code.ptx.find(".entry " + entry + "("), std::string_view::npos)
          << entry << " in the PTX for sm_" << code.arch;
      EXPECT_NE(cubin.find(".text." + entry + '\0'), std::string_view::npos)
          << entry << " in the cubin for sm_" << code.arch;
    }
  }
}

TEST_P(EveryImage, LeavesNoEntryWithoutAVariant) {
  std::set<std::string> declared, found;
  for (const Variant& variant : family().variants) {
    if (variant.library.empty()) declared.emplace(variant.entry);
  }
  const std::string_view ptx = image().codes.front().ptx, keyword = ".entry ";
  for (std::size_t at = ptx.find(keyword); at != ptx.npos; at = ptx.find(keyword, at)) {
    at += keyword.size();
    found.emplace(ptx.substr(at, ptx.find('(', at) - at));
  }
  EXPECT_EQ(found, declared);
}

TEST_P(EveryImage, MapsInstructionsToSourceLines) {
  for (const Code& code : image().codes) {
    EXPECT_NE(code.ptx.find("\t.loc\t1 "), std::string_view::npos);
    EXPECT_NE(code.ptx.find(".file\t1 \"" + std::string(image().source_path) + '"'),
              std::string_view::npos);
  }
}

TEST_P(EveryImage, NamesNoPathOfTheBuildMachine) {
  for (const Code& code : image().codes) {
    EXPECT_EQ(code.ptx.find("\"/"), std::string_view::npos);
    const std::string_view cubin(reinterpret_cast<const char*>(code.cubin.data()),
                                 code.cubin.size());
    EXPECT_EQ(cubin.find(source_dir()), std::string_view::npos);
    EXPECT_EQ(cubin.find(binary_dir()), std::string_view::npos);
  }
}

TEST_P(EveryImage, HoldsItsSource) {
  std::ifstream file(source_dir() + "/" + std::string(image().source_path));
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(source.empty());
  EXPECT_EQ(image().source, source);
  EXPECT_THAT(source, StartsWith("// "));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryImage,
                         testing::ValuesIn(family::catalogue().begin(), family::catalogue().end()),
                         [](const auto& instance) { return std::string(instance.param->name); });

}  // namespace
}  // namespace warpmeter::kernels
