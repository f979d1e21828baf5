// SPDX-License-Identifier: MIT
// These tests read machine code: instructions as nvdisasm prints them, jump tables, and cubins that
// are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "collector/family/catalogue.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/sass/audit.h"
#include "collector/model/counts/sass/instruction.h"
#include "collector/model/counts/sass/machine_code.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"
#include "tests/csv.h"
#include "tests/device/model/cases.h"
#include "tests/paths.h"

namespace warpmeter::model::sass {
namespace {

/// A line of data/sm_90_machine_code.txt: "offset low high text", all numbers in base 16.
struct Listed {
  std::uint64_t offset = 0;
  Word word;
  std::string guard, opcode, operands;

  bool is(std::string_view name) const {
    return opcode == name || opcode.starts_with(std::string(name) + ".");
  }
  bool has(std::string_view modifier) const {
    return (opcode + ".").find("." + std::string(modifier) + ".") != std::string::npos;
  }
};

std::vector<Listed> listed() {
  std::ifstream file(source_dir() + "/tests/collector/model/data/sm_90_machine_code.txt");
  std::vector<Listed> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    Listed next;
    text >> std::hex >> next.offset >> next.word.low >> next.word.high >> next.opcode;
    if (next.opcode[0] == '@') {
      next.guard = next.opcode;
      text >> next.opcode;
    }
    std::getline(text, next.operands);
    all.push_back(std::move(next));
  }
  return all;
}

struct Meaning {
  const char* opcode;
  AccessKind kind;
  AddressSpace space;
};
constexpr Meaning meanings[] = {
    {"LDG", AccessKind::load, AddressSpace::global},
    {"LDGSTS", AccessKind::load, AddressSpace::global},
    {"STG", AccessKind::store, AddressSpace::global},
    {"LDS", AccessKind::load, AddressSpace::shared},
    {"LDSM", AccessKind::load, AddressSpace::shared},
    {"STS", AccessKind::store, AddressSpace::shared},
    {"LD", AccessKind::load, AddressSpace::generic},
    {"ST", AccessKind::store, AddressSpace::generic},
    {"ATOM", AccessKind::atomic, AddressSpace::generic},
    {"ATOMG", AccessKind::atomic, AddressSpace::global},
    {"ATOMS", AccessKind::atomic, AddressSpace::shared},
    {"RED", AccessKind::reduction, AddressSpace::global},
    {"REDG", AccessKind::reduction, AddressSpace::global},
};

unsigned width_of(const Listed& line) {
  if (line.has("U8") || line.has("S8")) return 1;
  if (line.has("U16") || line.has("S16")) return 2;
  if (line.has("64")) return 8;
  return line.has("128") ? 16 : 4;
}

/// The listing has none of these: STL [R1], R0, LDL R0, [R1] and BSYNC B0.
TEST(MachineCode, KnowsAccessesToLocalMemoryAndWhereLanesMeet) {
  EXPECT_TRUE(decode({0x0000000000007941, 0}, 0, 90).is_sync);
  EXPECT_FALSE(decode({0x0000000000007945, 0}, 0, 90).is_sync) << "BSSY";
  EXPECT_TRUE(decode({0x0000000001007387, 0}, 0, 90).is_local);
  EXPECT_TRUE(decode({0x0000000001007983, 0}, 0, 90).is_local);
  EXPECT_FALSE(decode({0x0000000001007388, 0}, 0, 90).is_local) << "STS";
}

TEST(MachineCode, ReadsAccessesAsTheDisassemblerDoes) {
  int accesses = 0;
  for (const Listed& line : listed()) {
    SCOPED_TRACE(line.opcode + line.operands);
    const Instruction read = decode(line.word, line.offset, 90);
    EXPECT_EQ(read.never_runs, line.guard == "@!PT");
    EXPECT_EQ(read.is_guarded, !line.guard.empty());
    const Meaning* meaning = nullptr;
    for (const Meaning& known : meanings) {
      if (line.is(known.opcode)) meaning = &known;
    }
    ASSERT_EQ(read.access.has_value(), meaning != nullptr);
    if (meaning == nullptr) continue;
    ++accesses;
    EXPECT_EQ(*read.access, meaning->kind);
    EXPECT_EQ(read.space, meaning->space);
    EXPECT_EQ(read.carrier == Carrier::copy, line.is("LDGSTS"));
    const bool is_plain =
        (meaning->kind == AccessKind::load || meaning->kind == AccessKind::store) &&
        !line.is("LDSM") && !line.is("LDGSTS");
    if (is_plain) {
      EXPECT_EQ(read.width, width_of(line));
    }
    if (meaning->kind == AccessKind::atomic) {
      EXPECT_EQ(read.is_compare_and_swap, line.has("CAS") || line.has("CAST"));
      EXPECT_EQ(read.counts_lanes, line.has("POPC"));
    }
  }
  EXPECT_GT(accesses, 100);
}

TEST(MachineCode, ReadsJumpsAsTheDisassemblerDoes) {
  int branches = 0;
  for (const Listed& line : listed()) {
    SCOPED_TRACE(line.opcode + line.operands);
    const Instruction read = decode(line.word, line.offset, 90);
    EXPECT_EQ(read.is_break, line.is("BREAK"));
    EXPECT_EQ(read.elects_lane, line.is("VOTE") || line.is("VOTEU") || line.is("REDUX"));
    if (line.opcode == "BRA") {
      ASSERT_EQ(read.jump, Jump::branch);
      const std::size_t target = line.operands.rfind("0x");
      EXPECT_EQ(read.target, std::stoll(line.operands.substr(target), nullptr, 16));
      ++branches;
    } else if (line.is("BRX")) {
      EXPECT_EQ(read.jump, Jump::indirect);
    } else if (line.is("EXIT") || line.is("RET")) {
      EXPECT_EQ(read.jump, Jump::end);
    } else if (!line.is("CALL")) {
      EXPECT_EQ(read.jump, Jump::none);
    }
  }
  EXPECT_GT(branches, 5);
}

TEST(MachineCode, ReadsBranchesOnAPredicateOfTheWholeWarp) {
  // BRA.U of sm_100: around a loop (!UP0, forwards), at its end (UP1, backwards), and for all.
  const Instruction forwards = decode({0x0000000508bc7547, 0x000fea000b800000}, 0x160, 100);
  EXPECT_EQ(forwards.jump, Jump::branch);
  EXPECT_EQ(forwards.target, 0x860);
  EXPECT_TRUE(forwards.is_guarded);
  const Instruction backwards = decode({0xfffffffd015c7547, 0x000fec000b83ffff}, 0x4b0, 100);
  EXPECT_EQ(backwards.target, 0x230);
  EXPECT_TRUE(backwards.is_guarded);
  EXPECT_FALSE(decode({0x0000000507bc7547, 0x000fea000b800000}, 0x160, 100).is_guarded);
}

const agreement::Case& case_of(std::string_view entry) {
  for (const agreement::Case& known : agreement::cases()) {
    if (known.entry == entry) return known;
  }
  throw std::runtime_error("no such case");
}

Bytes cubin_of_case(const agreement::Case& which) {
  return std::as_bytes(which.image->codes.back().cubin);
}

/// A program that was decoded, and audited against a cubin.
struct Audited {
  explicit Audited(const agreement::Case& which) {
    module = std::move(std::get<std::unique_ptr<ptx::Module>>(
        ptx::parse(std::string(which.image->codes.back().ptx))));
    program = std::get<Program>(model::decode(*module, which.entry));
  }
  std::unique_ptr<ptx::Module> module;
  Program program;
};

TEST(MachineCode, FollowsJumpTables) {
  const agreement::Case& which = case_of("switch_of_block");
  const auto read = read_machine_code(cubin_of_case(which), which.entry);
  ASSERT_TRUE(std::holds_alternative<MachineCode>(read));
  const MachineCode& code = std::get<MachineCode>(read);
  EXPECT_FALSE(code.jumps_anywhere);
  EXPECT_TRUE(code.meets_elsewhere);
  // Six loads stand in the source, and nothing is behind an unknown jump.
  EXPECT_GE(code.accesses.size(), 7u);
}

// tests/golden/h200_resources.csv: cuFuncGetAttribute on an NVIDIA H200, of the built-in kernels'
// cubins.
TEST(MachineCode, TakesTheRegistersThatTheDriverOfAnH200Says) {
  std::ifstream file(source_dir() + "/tests/golden/h200_resources.csv");
  std::map<std::string, std::map<std::string, std::string>> recorded;
  for (auto& row : csv_rows(file)) recorded[row.at("kernel")] = row;
  std::size_t compared = 0;
  for (const kernels::Family* family : family::catalogue()) {
    const auto& codes = family->variants.front().image->codes;
    const auto code = std::find_if(codes.begin(), codes.end(),
                                   [](const kernels::Code& each) { return each.arch == 90; });
    if (code == codes.end()) continue;
    for (const kernels::Variant& variant : family->variants) {
      SCOPED_TRACE(variant.entry);
      const auto row = recorded.find(std::string(variant.entry));
      if (row == recorded.end()) continue;  // no kernel of ours, or not recorded yet
      const auto read = read_machine_code(std::as_bytes(code->cubin), variant.entry);
      ASSERT_TRUE(std::holds_alternative<MachineCode>(read));
      const Resources& resources = std::get<MachineCode>(read).resources;
      EXPECT_EQ(resources.registers, std::stoll(row->second.at("registers")));
      EXPECT_EQ(resources.local_bytes, std::stoll(row->second.at("local_bytes")));
      recorded.erase(row);
      ++compared;
    }
  }
  EXPECT_GT(compared, 20u);
  EXPECT_TRUE(recorded.empty()) << recorded.begin()->first << " is no kernel of the catalogue";
}

TEST(MachineCode, HasLocalMemoryForArraysThatAreIndexed) {
  const auto bytes = [](const char* entry) {
    const agreement::Case& which = case_of(entry);
    return std::get<MachineCode>(read_machine_code(cubin_of_case(which), which.entry))
        .resources.local_bytes;
  };
  EXPECT_EQ(bytes("histogram_of_own"), 24);
  EXPECT_EQ(bytes("copy_u32"), 0);
}

TEST(Audit, ExplainsEveryAccessOfOurKernels) {
  std::size_t sites = 0, doubted = 0;
  for (const agreement::Case& which : agreement::cases()) {
    SCOPED_TRACE(which.entry);
    Audited audited(which);
    EXPECT_EQ(audit(audited.program, *audited.module, cubin_of_case(which)), "");
    for (const SiteInfo& site : audited.program.sites) {
      ++sites;
      doubted += !site.doubt.empty();
    }
  }
  EXPECT_GT(sites, 1000u);
  EXPECT_LE(doubted, sites / 50) << doubted << " of " << sites;
}

TEST(Audit, IsMissedWhereWarpsPart) {
  Program program;
  program.sites.resize(1);
  LaunchOutcome outcome;
  outcome.counts.resize(1);
  outcome.parted = {0, 0};
  const auto grade = [&] { return grade_of(program, 0, AddressSpace::global, outcome).grade; };
  EXPECT_EQ(grade(), schema::Grade::ptx);
  program.why_unaudited.clear();
  EXPECT_EQ(grade(), schema::Grade::exact);
  outcome.parted[1] = 1;
  EXPECT_EQ(grade(), schema::Grade::exact) << "elsewhere";
  program.sites[0].together = {1};
  EXPECT_EQ(grade(), schema::Grade::ptx);
}

TEST(Audit, RefusesACubinOfOtherPtx) {
  const agreement::Case& which = case_of("copy_u32");
  Audited audited(case_of("tile_row"));
  audited.program.kernel = which.entry;
  EXPECT_NE(audit(audited.program, *audited.module, cubin_of_case(which)), "");
}

TEST(Audit, RefusesACubinOfAnotherArchitecture) {
  const agreement::Case& which = case_of("copy_u32");
  Audited audited(which);
  audited.program.arch = 86;
  EXPECT_EQ(audit(audited.program, *audited.module, cubin_of_case(which)),
            "is machine code of sm_90, and the PTX is of sm_86; assemble it with ptxas -arch=sm_86 "
            "-lineinfo");
  EXPECT_FALSE(audited.program.is_audited());
}

TEST(Audit, KnowsThatNoCounterOfLoadsSeesMatricesAndCopies) {
  for (const char* entry : {"load_matrices", "staged_pipeline"}) {
    const agreement::Case& which = case_of(entry);
    Audited audited(which);
    ASSERT_EQ(audit(audited.program, *audited.module, cubin_of_case(which)), "");
    EXPECT_TRUE(audited.program.strays.empty()) << entry;
  }
}

TEST(Audit, ReadsDamagedCubinsWithoutHarm) {
  const agreement::Case& which = case_of("switch_of_block");
  const Bytes whole = cubin_of_case(which);
  std::mt19937 random(7);
  int refused = 0;
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<std::byte> damaged(whole.begin(), whole.end());
    if (turn % 4 == 0) damaged.resize(random() % whole.size());
    for (unsigned k = 0; k < 8 && !damaged.empty(); ++k) {
      // The headers of the sections lie at the end, that of the file at the beginning.
      const std::size_t range = turn % 2 == 0 ? damaged.size() : 64;
      damaged[(turn % 3 == 0 ? damaged.size() - 1 - random() % range : random() % range)] =
          static_cast<std::byte>(random());
    }
    refused += std::holds_alternative<std::string>(read_machine_code(damaged, which.entry));
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace warpmeter::model::sass
