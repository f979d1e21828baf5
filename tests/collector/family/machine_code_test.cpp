// SPDX-License-Identifier: MIT
// Files that are machine code alone: what of their kernels can be known, and on what they run.
#include "collector/family/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "collector/family/launch_state.h"
#include "collector/family/listing.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/decode.h"
#include "tests/collector/family/cubins.h"
#include "tests/collector/family/files.h"

namespace warpmeter::family {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* two_instances = R"(
family: f
file: k.cubin
sizes: [32, 64]
arguments: [out: 'f32[n]', in: 'f32[n] = iota', i32: n]
outputs: [out]
variants:
  tiled: { kernel: 'tiled<T>', parameters: { T: [16, 32] }, grid: 1, block: 16 }
)";

class MachineCodeFiles : public FamilyFiles {
 protected:
  MachineCodeFiles() { EXPECT_TRUE(assemble(kernels_ptx("sm_90"), path("k.cubin"))); }

  std::map<std::string, Found> listed(const std::string& name = "k.cubin") const {
    std::map<std::string, Found> all;
    for (const Found& found : kernels_in(path(name), {})) all[found.kernel] = found;
    return all;
  }

  /// The refusal of the file, without the folder.
  std::string refused(const std::string& name) const {
    try {
      read_machine_code(path(name));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file);
      return std::string(error.what()).substr(path("").size());
    }
    return "";
  }

  std::string types(const std::string& entry) const {
    const MachineCode code = read_machine_code(path("k.cubin"));
    const model::ptx::Function* function = code.file.module->find(entry);
    if (function == nullptr) return "there is none";
    std::string text;
    for (const model::Parameter& parameter : model::parameters_of(*function)) {
      text += parameter.type + " ";
    }
    return text;
  }
};

TEST_F(MachineCodeFiles, SayTheSizesOfParametersAndTheMangledNameTheirTypes) {
  EXPECT_EQ(types("_Z5tiledILi16EEvPfPKfi"), "u64 u64 u32 ");
  EXPECT_EQ(types("plain"), "b64 b64 b8[40] b16 b32 ");
  EXPECT_EQ(types("_ZN2ns4noneEv"), "");
}

TEST_F(MachineCodeFiles, SayWhatALaunchTakes) {
  const MachineCode code = read_machine_code(path("k.cubin"));
  const auto& kernels = code.declared.kernels;
  const auto tiled = std::find_if(kernels.begin(), kernels.end(), [](const auto& kernel) {
    return kernel.name == "_Z5tiledILi16EEvPfPKfi";
  });
  ASSERT_NE(tiled, kernels.end());
  EXPECT_EQ(tiled->static_shared_bytes, 64U) << "without what the system keeps";
  EXPECT_EQ(tiled->max_threads, 128U);
  EXPECT_GT(tiled->resources.registers.value_or(0), 3);
  EXPECT_EQ(tiled->resources.local_bytes, 0);
}

TEST_F(MachineCodeFiles, AreListedWithACommandToStartFrom) {
  const auto all = listed();
  ASSERT_EQ(all.size(), 4U);
  const Found& tiled = all.at("tiled<16>");
  EXPECT_EQ(tiled.signature, "tiled<16>(float*, float const*, int)");
  EXPECT_EQ(tiled.target, "sm_90");
  EXPECT_THAT(tiled.facts,
              testing::MatchesRegex("parameters of 8, 8 and 4 bytes; [0-9]+ registers a thread; 64 "
                                    "bytes of static shared memory a block; at most 128 threads a "
                                    "block"));
  EXPECT_THAT(tiled.arguments, ElementsAre("f32[1<<20]=zeros", "f32[1<<20]=random", "i32=1024"));
  EXPECT_EQ(tiled.block, 128U);
  const Found& plain = all.at("plain");
  EXPECT_EQ(plain.signature, "plain(b64, b64, b8[40], b16, b32)");
  EXPECT_EQ(plain.block, 256U);
  EXPECT_THAT(plain.arguments,
              ElementsAre("f32[1<<20]=zeros", "f32[1<<20]=zeros", "bytes=0x" + std::string(80, '0'),
                          "i16=1024", "i32=1024"));
  EXPECT_THAT(all.at("ns::none").arguments, IsEmpty());
  EXPECT_THAT(all.at("ns::none").facts, testing::StartsWith("no parameters; "));
}

TEST_F(MachineCodeFiles, HaveArgumentsCheckedAgainstTheirParameters) {
  const auto with = [&](const std::string& kernel, const std::string& arguments) {
    return refusal("family: f\nfile: k.cubin\narguments: " + arguments +
                   "\nvariants:\n  v: { kernel: '" + kernel + "', grid: 1, block: 16 }\n");
  };
  EXPECT_EQ(with("tiled<16>", "['out:f32[4]', 'in:f32[4]', 'i32=5']"), "");
  EXPECT_THAT(with("tiled<16>", "['out:f32[4]', 'in:f32[4]', 'f32=5']"),
              HasSubstr("parameter 3 of tiled<16>(float*, float const*, int) is u32, and 'f32=5' "
                        "does not fit: the parameter is a whole number"));
  EXPECT_THAT(with("tiled<16>", "['out:f32[4]', 'in:f32[4]', 'i64=5']"),
              HasSubstr("the parameter has 4 bytes, not 8"));
  EXPECT_THAT(with("tiled<16>", "['out:f32[4]']"),
              HasSubstr("tiled<16>(float*, float const*, int) takes 3 arguments and 1 was given"));
  const std::string structure = ", 'bytes=0x" + std::string(80, '0') + "'";
  EXPECT_EQ(with("plain", "['i32[4]', 'f64=1.5'" + structure + ", 'f16=1', 'i32=5']"), "");
  EXPECT_THAT(with("plain", "['i32[4]', 'f32=1.5'" + structure + ", 'f16=1', 'i32=5']"),
              HasSubstr("parameter 2 of plain(b64, b64, b8[40], b16, b32) is b64, and 'f32=1.5' "
                        "does not fit: the parameter has 8 bytes, not 4"));
  EXPECT_THAT(with("plain", "['i32[4]', 'f64=1.5', 'bytes=0x00', 'f16=1', 'i32=5']"),
              HasSubstr("the parameter has 40 bytes, not 1"));
  EXPECT_THAT(with("tiled<64>", "['out:f32[4]']"), HasSubstr("holds no kernel 'tiled<64>'"));
}

TEST_F(MachineCodeFiles, SetTheirVariablesByTheirBytes) {
  // Before it is linked a variable is a symbol of another kind.
  ASSERT_TRUE(assemble(kernels_ptx("sm_90"), path("apart.cubin"), "sm_90", "-c"));
  std::string file;
  const auto with = [&](const std::string& set) {
    return refusal("family: f\nfile: " + file + "\nset: " + set +
                   "\nvariants:\n  v: { kernel: 'ns::none', grid: 1, block: 16 }\n");
  };
  for (const char* name : {"apart.cubin", "k.cubin"}) {
    file = name;
    EXPECT_EQ(with("{ 'factor:f32': 2.5, 'table:f32': [1, 2, 3, 4] }"), "") << name;
  }
  EXPECT_THAT(with("{ factor: 2.5 }"), HasSubstr("'factor' is known as 4 bytes alone"));
  EXPECT_THAT(with("{ 'table:f32': [1, 2, 3] }"), HasSubstr("'table' is 16 bytes"));
  EXPECT_THAT(with("{ 'tabel:f32': 1 }"), HasSubstr("did you mean table?"));
}

TEST_F(MachineCodeFiles, HaveTheirTemplatesFoundByTheirArguments) {
  const auto loaded = family(two_instances);
  const kernels::Family& made = loaded->family();
  ASSERT_EQ(made.variants.size(), 2U);
  EXPECT_EQ(made.variants[0].name, "tiled[T=16]");
  EXPECT_EQ(made.variants[0].entry, "_Z5tiledILi16EEvPfPKfi");
  EXPECT_EQ(made.variants[1].entry, "_Z5tiledILi32EEvPfPKfi");
  const kernels::Image& image = *made.variants[0].image;
  EXPECT_EQ(image.codes.front().arch, 90);
  EXPECT_TRUE(image.codes.front().ptx.empty());
  EXPECT_FALSE(image.codes.front().cubin.empty());
  EXPECT_TRUE(image.source.empty()) << "machine code is no source to show";
}

TEST_F(MachineCodeFiles, AreNoSourceThatOptionsChange) {
  const std::string yaml = two_instances;
  EXPECT_THAT(refusal(yaml + "define: [A=1]\n"),
              HasSubstr("is compiled already, and include, "
                        "define, std, compiler and flags change nothing"));
  EXPECT_THAT(refusal(yaml + "cubin: k.cubin\n"), HasSubstr("is machine code itself"));
}

TEST_F(MachineCodeFiles, RunAgainWhenTheirBytesChange) {
  const auto state = [&] {
    const auto loaded = family(two_instances);
    return launch_state(*loaded, loaded->family().variants.front(), 32);
  };
  const std::string before = state();
  EXPECT_EQ(state(), before);
  std::string changed = kernels_ptx("sm_90");
  changed.replace(changed.find("and.b32 %r2, %r2, 15"), 20, "and.b32 %r2, %r2, 7 ");
  ASSERT_TRUE(assemble(changed, path("k.cubin")));
  EXPECT_NE(state(), before);
}

TEST_F(MachineCodeFiles, SayWhatTheyAreFor) {
  struct For {
    const char* target;
    int device;
    bool runs;
  };
  for (const For& one : {For{"sm_90", 90, true},
                         {"sm_80", 86, true},
                         {"sm_86", 80, false},
                         {"sm_80", 90, false},
                         {"sm_90", 80, false},
                         {"sm_100", 103, true},
                         {"sm_100f", 103, true},
                         {"sm_100a", 103, false},
                         {"sm_90a", 90, true}}) {
    EXPECT_EQ(why_not_on(one.device, "k.cubin", one.target).empty(), one.runs)
        << one.target << " on " << one.device;
  }
  EXPECT_EQ(why_not_on(90, "k.cubin", "sm_80"),
            "k.cubin is for sm_80 and this device is an sm_90: machine code of sm_80 runs on 8.x "
            "from 8.0 on; compile it for this device (nvcc -cubin -arch=sm_90), or give the .ptx "
            "or the .cu that it was made of");
  EXPECT_THAT(why_not_on(103, "k.cubin", "sm_100a"), HasSubstr("sm_100a runs on 10.0 alone"));
  for (const char* target : {"sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120"}) {
    ASSERT_TRUE(assemble(kernels_ptx(target), path("other.cubin"), target));
    EXPECT_EQ(target_of(path("other.cubin")), target);
    EXPECT_EQ(listed("other.cubin").at("tiled<16>").facts.substr(0, 30),
              "parameters of 8, 8 and 4 bytes");
    EXPECT_THAT(listed("other.cubin").at("tiled<16>").facts, HasSubstr("; 64 bytes of static"));
  }
}

TEST_F(MachineCodeFiles, TakeLargeParametersToo) {
  ASSERT_TRUE(
      assemble(".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry big(.param "
               ".align 4 .b8 s[20000], .param .u64 out)\n{\n ret;\n}\n",
               path("big.cubin")));
  EXPECT_EQ(listed("big.cubin").at("big").signature, "big(b8[20000], b64)");
}

TEST_F(MachineCodeFiles, TellOverloadsApart) {
  ASSERT_TRUE(
      assemble(".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry "
               "_Z1fPi(.param .u64 p) { ret; }\n.visible .entry _Z1fh(.param .u8 c) { ret; "
               "}\n",
               path("two.cubin")));
  const auto all = listed("two.cubin");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all.at("f(int*)").arguments, ElementsAre("i32[1<<20]=zeros"));
  EXPECT_THAT(all.at("f(unsigned char)").arguments, ElementsAre("u8=1"));
  EXPECT_THAT(all.at("f(unsigned char)").facts, testing::StartsWith("a parameter of 1 byte; "));
  const MachineCode code = read_machine_code(path("two.cubin"));
  EXPECT_EQ(model::find_entry(code.file, "f(int*)"), "_Z1fPi");
}

TEST_F(MachineCodeFiles, ThatAreNoneAreRefusedWithWhatTheyAre) {
  write("text.cubin", "__global__ void k() {}  // as long as the header of an ELF file has to be");
  write("empty.cubin", "");
  write("fat.cubin", "\x50\xed\x55\xba and what else a bundle holds");
  std::string whole = model::source_text(path("k.cubin"));
  write("short.cubin", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refused("text.cubin"), HasSubstr("text.cubin is no cubin (an ELF file of 64 bits)"));
  EXPECT_THAT(refused("empty.cubin"), HasSubstr("is empty"));
  EXPECT_THAT(refused("fat.cubin"), HasSubstr("is a fatbin"));
  EXPECT_THAT(refused("short.cubin"), HasSubstr("is a damaged cubin"));
  // The parameters' section under another name.
  const std::string section = ".nv.info._Z5tiledILi16EEvPfPKfi";
  whole.replace(whole.find(section) + 1, 1, "x");
  write("without.cubin", whole);
  EXPECT_THAT(refused("without.cubin"),
              HasSubstr("does not say what parameters _Z5tiledILi16EEvPfPKfi takes"));
}

}  // namespace
}  // namespace warpmeter::family
