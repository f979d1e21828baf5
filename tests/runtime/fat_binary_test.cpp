// SPDX-License-Identifier: MIT
// Fat binaries whose sizes are false: each is read up to where it is whole, in a few steps, and
// nothing is read that lies outside of it.
#include "collector/runtime/image/fat_binary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "collector/runtime/image/object_file.h"
#include "collector/runtime/image/readable_memory.h"

namespace warpmeter::runtime {
namespace {

constexpr std::string_view ptx = ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }\n";

/// Puts a number into a fat binary: its header has 16 bytes, the first member's the next 64.
template <class Number>
std::string with(std::string binary, std::size_t at, Number number) {
  std::memcpy(&binary[at], &number, sizeof number);
  return binary;
}

std::string whole() { return fat_binary_of(ptx, 90); }

TEST(FatBinary, IsReadAsItWasWritten) {
  const std::string binary = whole();
  const FatBinaries found = fat_binaries_in(bytes_in(binary));
  ASSERT_EQ(found.all.size(), 1u);
  EXPECT_FALSE(found.is_damaged);
  EXPECT_EQ(found.all[0].size(), binary.size());
  EXPECT_EQ(source_of(found.all[0], {}, 90).ptx, ptx);
}

TEST(FatBinary, OfHeaderAndSizeZeroEndsTheSearchWithDamage) {
  const std::string binary = with(with(whole(), 6, std::uint16_t{0}), 8, std::uint64_t{0});
  const FatBinaries found = fat_binaries_in(bytes_in(binary));
  EXPECT_TRUE(found.all.empty());
  EXPECT_TRUE(found.is_damaged);
}

TEST(FatBinary, WhoseHeaderAndSizeWrapIsDamaged) {
  for (const std::uint64_t size :
       {std::uint64_t{0} - 16, std::uint64_t{0} - 1, std::numeric_limits<std::uint64_t>::max() / 2,
        whole().size() - 15}) {
    const std::string binary = with(whole(), 8, size);
    EXPECT_FALSE(fat_binary_in(bytes_in(binary))) << size;
    EXPECT_TRUE(fat_binaries_in(bytes_in(binary)).is_damaged) << size;
  }
}

TEST(FatBinary, WhoseMemberWrapsHasNone) {
  for (const std::uint64_t size : {std::uint64_t{0} - 64, std::uint64_t{0} - 1, whole().size()}) {
    const std::string binary = with(whole(), 16 + 8, size);
    EXPECT_TRUE(entries_of(bytes_in(binary)).empty()) << size;
    const ModuleSource source = source_of(bytes_in(binary), {}, 90);
    EXPECT_EQ(source.ptx, "");
    EXPECT_NE(source.why_no_ptx.find("damaged"), std::string::npos);
  }
  const std::string header_too_long = with(whole(), 16 + 4, std::uint32_t{0xffffffff});
  EXPECT_TRUE(entries_of(bytes_in(header_too_long)).empty());
}

TEST(FatBinary, WhosePackedBytesLeadOutOfTheMemberIsDamaged) {
  for (const std::uint64_t flag : {std::uint64_t{0x2000}, std::uint64_t{0x8000}}) {
    std::string binary = with(whole(), 16 + 40, flag);
    binary = with(binary, 16 + 56, std::uint64_t{100});
    for (const std::uint32_t bytes : {0x7fffffffu, 0xffffffffu, 4096u}) {
      const std::string damaged = with(binary, 16 + 16, bytes);
      EXPECT_TRUE(entries_of(bytes_in(damaged)).empty()) << flag << ' ' << bytes;
      EXPECT_TRUE(fat_binaries_in(bytes_in(damaged)).is_damaged);
    }
  }
}

TEST(FatBinary, ThatClaimsToUnpackToMoreThanMemoryHoldsIsDamaged) {
  std::string binary = with(whole(), 16 + 40, std::uint64_t{0x2000});
  binary = with(binary, 16 + 16, std::uint32_t{16});
  for (const std::uint64_t raw :
       {std::uint64_t{1} << 28, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    EXPECT_TRUE(entries_of(bytes_in(with(binary, 16 + 56, raw))).empty()) << raw;
  }
  // Many members that claim what one may: together they are refused.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += with(binary, 16 + 56, std::uint64_t{1} << 26);
  EXPECT_LT(fat_binaries_in(bytes_in(many)).all.size(), 10u);
  EXPECT_TRUE(fat_binaries_in(bytes_in(many)).is_damaged);
}

TEST(FatBinary, ThatIsCutOffAnywhereIsReadWithoutLeavingIt) {
  const std::string binary = whole();
  for (std::size_t size = 0; size < binary.size(); ++size) {
    const std::vector<char> cut(binary.begin(), binary.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(fat_binaries_in(bytes_in({cut.data(), size})).all.empty()) << size;
  }
}

TEST(FatBinary, InMemoryIsReadNoFurtherThanThereIsMemory) {
  const std::string damaged = with(whole(), 8, std::uint64_t{1} << 40);
  EXPECT_TRUE(is_fat_binary(damaged.data()));
  EXPECT_EQ(source_in_memory(damaged.data(), {}, 90).ptx, "");
  EXPECT_EQ(source_in_memory(whole().c_str(), {}, 90).ptx, ptx);
  EXPECT_EQ(source_in_memory(std::string(ptx).c_str(), {}, 90).ptx, ptx);
  EXPECT_FALSE(is_fat_binary(nullptr));
  EXPECT_TRUE(readable_from(reinterpret_cast<const void*>(16)).empty());
  static const char here[] = "here";
  EXPECT_GE(readable_from(here).size(), sizeof here);
}

TEST(ObjectFile, WithTablesThatLeadOutOfItHasNothingInIt) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  for (const std::uint64_t table : {std::uint64_t{0} - 64, std::uint64_t{1} << 40, sizeof header}) {
    header.e_shoff = table;
    header.e_shnum = 0xffff;
    header.e_shstrndx = 0xfffe;
    const std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    const ObjectFile file{std::string_view(bytes)};
    EXPECT_TRUE(file.is_program());
    EXPECT_EQ(file.section(".nv_fatbin"), "");
    EXPECT_TRUE(file.needed().empty());
    file.for_each_function([](std::string_view name, std::uint64_t, std::uint64_t) {
      ADD_FAILURE() << "there is no function " << name;
    });
  }
}

}  // namespace
}  // namespace warpmeter::runtime
