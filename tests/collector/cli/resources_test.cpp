// SPDX-License-Identifier: MIT
// Resources of kernels as metrics. ptxas -v prints registers, frames, shared memory and spills of
// the same assembly, and the section's header the size of the code.
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <regex>
#include <sstream>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* heading = R"(.version 8.0
.target sm_90
.address_size 64
)";

/// 48 values that all live at once: more than 24 registers hold. With an array, a computed index
/// keeps 64 bytes in local memory besides.
std::string crowded(const std::string& name, bool has_array) {
  constexpr int values = 48;
  std::ostringstream text;
  text << ".visible .entry " << name << "(.param .u64 p, .param .u32 at)\n{\n"
       << " .reg .f32 %f<200>; .reg .b32 %r<4>; .reg .b64 %rd<8>;\n";
  if (has_array) text << " .local .align 16 .b8 own[64];\n";
  text << " ld.param.u64 %rd1, [p];\n ld.param.u32 %r1, [at];\n mov.u32 %r2, %tid.x;\n"
       << " mul.wide.u32 %rd2, %r2, 4;\n add.u64 %rd3, %rd1, %rd2;\n";
  for (int i = 0; i < values; ++i) {
    text << " ld.global.f32 %f" << i << ", [%rd3+" << 128 * i << "];\n";
  }
  if (has_array) {
    text << " mov.u64 %rd4, own;\n and.b32 %r1, %r1, 15;\n mul.wide.u32 %rd5, %r1, 4;\n"
         << " add.u64 %rd6, %rd4, %rd5;\n";
    for (int i = 0; i < 16; ++i) text << " st.local.f32 [own+" << 4 * i << "], %f" << i << ";\n";
    text << " st.local.f32 [%rd6], %f20;\n";
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < values; ++i) {
      text << " fma.rn.f32 %f" << i << ", %f" << i << ", %f" << (i * 7 + 3) % values << ", %f"
           << (i + 11) % values << ";\n";
    }
  }
  if (has_array) text << " ld.local.f32 %f100, [own+8];\n add.f32 %f0, %f0, %f100;\n";
  for (int i = 0; i < values; ++i) {
    text << " st.global.f32 [%rd3+" << 128 * i << "], %f" << i << ";\n";
  }
  text << " ret;\n}\n";
  return text.str();
}

constexpr const char* lean = R"(.visible .entry lean(.param .u64 p, .param .u32 at)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 tile[256];
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, %tid.x;
 shl.b32 %r2, %r1, 2;
 mov.u32 %r3, tile;
 add.u32 %r3, %r3, %r2;
 st.shared.u32 [%r3], %r1;
 bar.sync 0;
 ld.shared.u32 %r2, [tile+4];
 st.global.u32 [%rd1], %r2;
 ret;
}
)";

/// The sizes of an ELF file's sections.
std::map<std::string, std::uint64_t> section_bytes(const std::string& file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::map<std::string, std::uint64_t> all;
  for (const Elf64_Shdr& section : sections) {
    all[file.data() + sections[header.e_shstrndx].sh_offset + section.sh_name] = section.sh_size;
  }
  return all;
}

class ResourceMetrics : public Workspace {
 protected:
  void SetUp() override {
    write("k.ptx", heading + crowded("crowded", false) + crowded("with_array", true) + lean);
    const std::string command = std::string(WARPMETER_PTXAS) +
                                " -v -lineinfo -maxrregcount 24 -arch=sm_90 -o '" +
                                file("k.cubin").string() + "' '" + file("k.ptx").string() +
                                "' 2> '" + file("said").string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << contents("said");
  }

  /// ptxas's words on a kernel.
  std::string said_of(const std::string& kernel) const {
    const std::string said = contents("said");
    const std::size_t begin = said.find("Function properties for " + kernel);
    const std::size_t end = said.find("Function properties for", begin + 1);
    return said.substr(begin, end == std::string::npos ? end : end - begin);
  }
  /// The number before these words, "0" where ptxas says nothing of them.
  static std::string before(const std::string& words, const std::string& said) {
    std::smatch found;
    return std::regex_search(said, found, std::regex("(\\d+) " + words)) ? found[1].str() : "0";
  }

  Outcome model(const std::string& kernel, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {
        "model", "k.ptx",     "-k",    kernel,  "--grid", "1",          "--block", "32",
        "--arg", "f32[4096]", "--arg", "u32=1", "-m",     "@resources", "--db",    "warpmeter.db"};
    words.insert(words.end(), more.begin(), more.end());
    return warpmeter(words);
  }
  std::string figure(const std::string& metric) const {
    return value_of("SELECT format('%g', value) || ' ' || grade FROM results WHERE metric = '" +
                    metric + "' AND launch_id = (SELECT max(launch_id) FROM launches)");
  }
};

TEST_F(ResourceMetrics, AreWhatPtxasSays) {
  const auto code = section_bytes(contents("k.cubin"));
  for (const std::string kernel : {"crowded", "with_array", "lean"}) {
    SCOPED_TRACE(kernel);
    const Outcome outcome = model(kernel, {"--shared", "64"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    const std::string said = said_of(kernel);
    const std::string grade = kernel == "with_array" ? " modelled" : " exact";
    EXPECT_EQ(figure("registers_per_thread"),
              before("registers", std::regex_replace(said, std::regex("Used "), "")) + " exact");
    EXPECT_EQ(figure("local_bytes_per_thread"), before("bytes stack frame", said) + " exact");
    EXPECT_EQ(figure("spill_stores"), before("bytes spill stores", said) + grade);
    EXPECT_EQ(figure("spill_loads"), before("bytes spill loads", said) + grade);
    EXPECT_EQ(figure("static_shared_bytes"), before("bytes smem", said) + " exact");
    EXPECT_EQ(figure("dynamic_shared_bytes"), "64 exact");
    EXPECT_EQ(figure("theoretical_occupancy"), "50 exact");  // 32 blocks of one warp, of 64
    EXPECT_EQ(figure("code_bytes"), std::to_string(code.at(".text." + kernel)) + " exact");
  }
  EXPECT_NE(before("bytes spill stores", said_of("crowded")), "0");
  EXPECT_NE(before("bytes spill stores", said_of("with_array")), "0");
}

TEST_F(ResourceMetrics, GatesFailOnWhatIsSpilled) {
  ASSERT_EQ(model("lean").exit_code, 0);
  EXPECT_EQ(warpmeter({"check", "--gate", "spill_stores <= 0"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"check", "--gate", "static_shared_bytes == 256"}).exit_code, 0);
  ASSERT_EQ(model("crowded").exit_code, 0);
  const Outcome broken = warpmeter({"check", "--gate", "spill_stores <= 0"});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_THAT(broken.output, HasSubstr("spill_stores <= 0"));
  EXPECT_EQ(warpmeter({"check", "--gate", "registers_per_thread <= 24"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"check", "--gate", "code_bytes < 128"}).exit_code, 1);
}

/// Each resource in a gate that holds by ptxas's number, and in one that misses it by one.
TEST_F(ResourceMetrics, AreHeldToGatesEachOfThem) {
  const auto code = section_bytes(contents("k.cubin"));
  for (const std::string kernel : {"crowded", "lean"}) {
    ASSERT_EQ(model(kernel, {"--shared", "64"}).exit_code, 0);
    const std::string said = said_of(kernel);
    const std::pair<const char*, std::uint64_t> expected[] = {
        {"local_bytes_per_thread", std::stoull(before("bytes stack frame", said))},
        {"spill_loads", std::stoull(before("bytes spill loads", said))},
        {"static_shared_bytes", std::stoull(before("bytes smem", said))},
        {"dynamic_shared_bytes", 64},
        {"theoretical_occupancy", 50},
        {"code_bytes", code.at(".text." + kernel)}};
    for (const auto& [metric, value] : expected) {
      const std::string holds = metric + std::string(" <= ") + std::to_string(value);
      const std::string misses = metric + std::string(" >= ") + std::to_string(value + 1);
      EXPECT_EQ(warpmeter({"check", "--gate", holds}).exit_code, 0) << kernel << ' ' << holds;
      const Outcome broken = warpmeter({"check", "--gate", misses});
      EXPECT_EQ(broken.exit_code, 1) << kernel << ' ' << misses << broken.error;
      EXPECT_THAT(broken.output, AllOf(HasSubstr(metric), HasSubstr("broken")));
    }
  }
}

TEST_F(ResourceMetrics, AreListedForBothBackends) {
  const std::string listed = warpmeter({"list", "metrics", "--format", "csv"}).output;
  for (const char* metric :
       {"registers_per_thread,registers", "local_bytes_per_thread,bytes", "spill_loads,bytes",
        "spill_stores,bytes", "static_shared_bytes,bytes", "dynamic_shared_bytes,bytes",
        "theoretical_occupancy,%", "code_bytes,bytes"}) {
    EXPECT_THAT(listed, HasSubstr(std::string("\n") + metric + ",metric,no,cupti model,"));
  }
}

TEST_F(ResourceMetrics, AreAskedForAlone) {
  const Outcome run = warpmeter({"run", "vector_add", "-n", "1000", "-b", "model", "-m",
                                 "registers_per_thread,spill_stores"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(value_of("SELECT count(*) > 0 AND count(*) = count(value) AND min(grade) = 'exact' "
                     "FROM results WHERE metric IN ('registers_per_thread', 'spill_stores')"),
            "1");
  EXPECT_EQ(value_of("SELECT count(*) FROM t_value"), "0");
}

}  // namespace
}  // namespace warpmeter::cli
