// SPDX-License-Identifier: MIT
#include "collector/family/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "collector/family/configurations.h"

namespace warpmeter::family {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Family : public testing::Test {
 protected:
  Family()
      : path_(std::filesystem::temp_directory_path() /
              ("warpmeter_family." + std::to_string(getpid()) + ".yaml")) {}
  ~Family() override { std::filesystem::remove(path_); }

  FamilySpec read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_family(path_.string());
  }

  /// The refusal of the file, its path cut away.
  std::string refusal(const std::string& text, const std::string& source = "") {
    try {
      const FamilySpec spec = read(text);
      sizes_of(spec);
      configurations(spec, source);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      const std::string words = error.what();
      EXPECT_TRUE(words.starts_with(path_.string() + ":")) << words;
      return words.substr(std::min(words.size(), path_.string().size() + 1));
    }
    return "";
  }

  std::filesystem::path path_;
};

constexpr const char* whole = R"(
family: transpose
file: transpose.cu
sizes: [1024, 4096]
arguments:
  - out: f32[n*n]
  - in: f32[n*n] = iota
  - i32: n
  - height: i32 = n
  - "@in"
  - null
  - lut: float4[16] = lut.npy
set: { table: [1, 2, 3], ns::scale: 1.5 }
variants:
  padded: { kernel: 'tiled<TILE, PAD>', parameters: { TILE: [16, 32], PAD: [0, 1] }, where: TILE + PAD != 17,
            grid: [ceil(n/TILE), ceil(n/TILE)], block: [TILE, 8],
            expect: { 'gld_efficiency == 100': "rows" } }
reference: none
tolerance: { relative: 1e-6, nan: equal }
)";

TEST_F(Family, IsReadWithThePlaceOfEachPart) {
  const FamilySpec spec = read(whole);
  EXPECT_EQ(spec.name, "transpose");
  std::vector<std::string> arguments;
  for (const Text& argument : spec.arguments) arguments.push_back(argument.text);
  const std::string lut = (path_.parent_path() / "lut.npy").string();
  EXPECT_THAT(arguments, ElementsAre("out:f32[n*n]", "in:f32[n*n]=iota", "i32=n", "height:i32=n",
                                     "@in", "null", "lut:float4[16]=" + lut));
  EXPECT_EQ(spec.arguments[0].line, 6);
  EXPECT_EQ(spec.arguments[0].column, 10);
  EXPECT_EQ(spec.settings[0].text, "table=1,2,3");
  EXPECT_EQ(spec.settings[1].text, "ns::scale=1.5");
  EXPECT_TRUE(spec.reference.empty());
  EXPECT_EQ(spec.relative, 1e-6);
  EXPECT_TRUE(spec.nan_equals_nan);
}

TEST_F(Family, NamesResultsOfTheCpuForTheFamilyAndForAVariant) {
  const FamilySpec spec = read(R"(
file: k.cu
sizes: [16]
largest: 1<<10
expect_at: [16, 32]
reference: { out: 'cpu:transpose(in, n, n)' }
variants:
  v: { kernel: k, grid: 1, block: 32 }
  copy: { kernel: k, grid: 1, block: 32, reference: { out: 'cpu:copy(in)' } }
  alone: { kernel: k, grid: 1, block: 32, reference: none }
)");
  EXPECT_TRUE(spec.reference.empty());
  ASSERT_EQ(spec.results.size(), 1U);
  EXPECT_EQ(spec.results[0].first, "out");
  EXPECT_EQ(spec.results[0].second.text, "cpu:transpose(in, n, n)");
  EXPECT_EQ(spec.largest.text, "1<<10");
  EXPECT_EQ(spec.expected_at.size(), 2U);
  EXPECT_FALSE(spec.variants[0].reference.has_value());
  EXPECT_EQ(spec.variants[1].results.at(0).second.text, "cpu:copy(in)");
  EXPECT_TRUE(spec.variants[2].reference.has_value());
  EXPECT_TRUE(spec.variants[2].results.empty());
}

TEST_F(Family, ParametersMakeTheirCrossProductWithoutWhatWhereLeavesOut) {
  const FamilySpec spec = read(whole);
  std::vector<std::string> names, kernels;
  for (const Configuration& configuration : configurations(spec, "")) {
    names.push_back(configuration.name);
    kernels.push_back(configuration.kernel);
  }
  EXPECT_THAT(names, ElementsAre("padded[TILE=16,PAD=0]", "padded[TILE=32,PAD=0]",
                                 "padded[TILE=32,PAD=1]"));
  EXPECT_THAT(kernels, ElementsAre("tiled<16, 0>", "tiled<32, 0>", "tiled<32, 1>"));
}

TEST_F(Family, AParameterThatTheSourceNamesIsADefine) {
  const FamilySpec spec = read(
      "file: k.cu\nvariants:\n  v: {kernel: k, grid: 1, block: 32, parameters: {UNROLL: [1, "
      "2]}}\n");
  const std::vector<Configuration> all = configurations(spec, "for (i = 0; i < UNROLL; ++i)");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[1].defines, ElementsAre("UNROLL=2"));
  EXPECT_EQ(all[1].kernel, "k");
}

TEST_F(Family, OperationsAreOneOperandWhereverTheyStand) {
  const FamilySpec spec = read(
      "file: k.cu\nvariants:\n  v: {kernel: k<K*2>, grid: 1, block: 32, parameters: {K: 3-2, "
      "UNROLL: 1+1}}\n");
  const std::vector<Configuration> all = configurations(spec, "for (i = 0; i < UNROLL * 2; ++i)");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kernel, "k<(3-2)*2>");
  EXPECT_THAT(all[0].defines, ElementsAre("UNROLL=(1+1)"));
  EXPECT_EQ(all[0].name, "v[K=3-2,UNROLL=1+1]");
}

TEST_F(Family, SizesBesidesTheRecordedOneVaryTheVariants) {
  const FamilySpec spec = read(
      "file: k.cu\nsizes: {m: [16, 32], n: [64, 128], k: 8}\narguments: ['f32[m*n*k]']\n"
      "variants:\n  v: {kernel: k, grid: m, block: 32}\n");
  EXPECT_EQ(size_name(spec), "n");
  EXPECT_THAT(sizes_of(spec), ElementsAre(64, 128));
  const std::vector<Configuration> all = configurations(spec, "");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "v(m=16)");
  EXPECT_EQ(all[1].name, "v(m=32)");
  EXPECT_EQ(all[1].symbols.at("k"), 8);
}

TEST_F(Family, JsonIsReadAsTheYamlThatItIs) {
  const FamilySpec spec =
      read(R"({"file": "k.cu", "variants": {"v": {"kernel": "k", "grid": [1], "block": [32]}}})");
  EXPECT_EQ(spec.variants.at(0).kernel.text, "k");
}

TEST_F(Family, MistakesAreSaidWithLineAndColumn) {
  const std::string tail = "variants:\n  v: {kernel: k, grid: 1, block: 32}\n";
  EXPECT_THAT(refusal("fiel: k.cu\n" + tail), HasSubstr("1:1: 'fiel' is none of"));
  EXPECT_THAT(refusal("fiel: k.cu\n" + tail), HasSubstr("did you mean file"));
  EXPECT_THAT(refusal("family: a\n" + tail), HasSubstr("says no file"));
  EXPECT_THAT(refusal("file: k.cu\n"), HasSubstr("has no variants"));
  EXPECT_THAT(refusal("file: k.cu\nfile: l.cu\n" + tail),
              HasSubstr("2:1: 'file' stands here a second time"));
  EXPECT_THAT(refusal("file: k.cu\nvariants:\n  v: {kernel: k, block: 32}\n"),
              HasSubstr("3:3: v has no grid"));
  EXPECT_THAT(refusal("file: k.cu\nvariants:\n  v: {gird: 1, grid: 1, block: 32}\n"),
              HasSubstr("3:7: 'gird' is none of"));
  EXPECT_THAT(refusal("file: k.cu\nsizes: [0]\n" + tail),
              HasSubstr("2:9: '0' gives 0, which is not from 1"));
  EXPECT_THAT(refusal("file: k.cu\narguments: {out: f32}\n" + tail),
              HasSubstr("2:12: arguments have to be a list"));
  EXPECT_THAT(refusal("file: k.cu\ntolerance: {relative: -1}\n" + tail),
              HasSubstr("2:23: relative has to be a number from 0"));
  EXPECT_THAT(refusal("file: [k.cu\n" + tail), HasSubstr("; mend it as YAML or JSON"));
  EXPECT_THAT(refusal(""), HasSubstr("1:1: is no table of names and values: known are family,"));
  EXPECT_THAT(refusal("file: k.cu\nset: {a: 1, a: 2}\n" + tail),
              HasSubstr("2:13: 'a' stands here a second time"));
  EXPECT_THAT(refusal("file: k.cu\nvariants:\n  a/b: {grid: 1, block: 32}\n"),
              HasSubstr("3:3: 'a/b' is no name for a variant"));
}

TEST_F(Family, FlagsAreOfDeviceCodeOnly) {
  const auto with = [this](const std::string& flags) {
    return refusal("file: k.cu\nflags: " + flags + "\nvariants:\n  v: {grid: 1, block: 32}\n");
  };
  for (const char* flags :
       {"--use_fast_math", "[-O3, -G, -lineinfo]", "[-maxrregcount=32, --maxrregcount, 64]",
        "['-Xptxas=-O2,-dlcm=ca,-v', -Xptxas, -warn-spills]", "[-DN=32, -D, N, -UM, -std=c++20]",
        "[-ftz=true, -fmad=false, --prec-div=true, -prec-sqrt=false, -rdc=true, -restrict]",
        "[--extra-device-vectorization, --expt-relaxed-constexpr, --expt-extended-lambda]",
        "[-diag-suppress, '177,550']"}) {
    EXPECT_EQ(with(flags), "") << flags;
  }
  for (const char* flags : {"-ccbin=./evil",
                            "[-ccbin, ./evil]",
                            "--compiler-bindir=.",
                            "[-Xcompiler, -fplugin=a.so]",
                            "[-include, /etc/passwd]",
                            "--pre-include=/etc/passwd",
                            "[-optf, a]",
                            "'@a'",
                            "-I/etc",
                            "-Xptxas=--options-file",
                            "'-Xptxas=-v,-o,/tmp/a'",
                            "[-Xptxas, -c, a]",
                            "-Xlinker=a",
                            "a.cu",
                            "--keep",
                            "-dryrun",
                            "-G=1",
                            "'-maxrregcount=$(id)'",
                            "[-maxrregcount, -dryrun]",
                            "-std=-keep",
                            "[-O, --keep]",
                            "-ldir=.",
                            "-run",
                            "--"}) {
    EXPECT_THAT(with(flags), HasSubstr("2:8: flags '")) << flags;
    EXPECT_THAT(with(flags), HasSubstr("is none of those that a file may ask for: -O,")) << flags;
  }
  EXPECT_THAT(with("[-D, 'A B']"), HasSubstr("2:8: flags takes NAME or NAME=VALUE, not 'A B'"));
}

TEST_F(Family, AFileIsOneDocument) {
  const std::string one = "file: k.cu\nvariants:\n  v: {kernel: k, grid: 1, block: 32}\n";
  EXPECT_EQ(refusal("---\n" + one + "...\n"), "");
  EXPECT_THAT(refusal(one + "---\n" + one), HasSubstr("5:1: a second document begins here"));
}

TEST_F(Family, SizesStandOnceAndAreNotCalledSize) {
  const auto with = [this](const std::string& lines) {
    return refusal("file: k.cu\n" + lines + "\nvariants:\n  v: {kernel: k, grid: 1, block: 32}\n");
  };
  EXPECT_THAT(with("size: [64, 128]"), HasSubstr("2:7: size says in words what a size is"));
  EXPECT_THAT(with("size: 64"), HasSubstr("did you mean sizes?"));
  EXPECT_THAT(with("size: side"), HasSubstr("2:7: size says what a size is, and there are no"));
  EXPECT_EQ(with("size: side\nsizes: 64"), "");
  EXPECT_THAT(with("sizes: [64, 128, 64]"),
              HasSubstr("2:18: '64' stands here a second time: n has each size once"));
  EXPECT_THAT(with("sizes: {n: 1, m: [64, 1<<6]}"),
              HasSubstr("2:23: '1<<6' stands here a second time, first as '64': m has each"));
}

TEST_F(Family, DefinesAreAListOrATable) {
  const auto defines = [this](const std::string& value) {
    const FamilySpec spec = read("file: k.cu\ndefine: " + value +
                                 "\nvariants:\n  v: {grid: 1, block: 32, define: " + value + "}\n");
    std::vector<std::string> own;
    for (const Text& define : spec.variants.at(0).defines) own.push_back(define.text);
    EXPECT_EQ(spec.options.defines, own) << value;
    return own;
  };
  EXPECT_THAT(defines("[A=1, B]"), ElementsAre("A=1", "B"));
  EXPECT_THAT(defines("{A: 1+1, B: }"), ElementsAre("A=1+1", "B"));
  EXPECT_THAT(defines("[A: 1, B]"), ElementsAre("A=1", "B"));
  EXPECT_THAT(defines("A=1"), ElementsAre("A=1"));
  const std::string tail = "\nvariants:\n  v: {grid: 1, block: 32}\n";
  EXPECT_THAT(refusal("file: k.cu\ndefine: {A: [1]}" + tail),
              HasSubstr("2:13: A has to be one value"));
  EXPECT_THAT(refusal("file: k.cu\ndefine: {A-B: 1}" + tail), HasSubstr("2:10: define takes NAME"));
  EXPECT_THAT(refusal("file: k.cu\ndefine: [A=1, A: 2]" + tail),
              HasSubstr("2:15: 'A' stands here a second time"));
}

TEST_F(Family, AParameterThatNothingUsesIsAMistake) {
  EXPECT_THAT(
      refusal("file: k.cu\nvariants:\n"
              "  v: {kernel: k<TILE>, parameters: {TILE: 1, PAD: [0, 1]}, grid: 1, block: 32}\n"),
      HasSubstr("3:46: nothing uses the parameter 'PAD'"));
}

/// A family of one variant of a kernel `tiled` with parameters.
std::string tiled_with(const std::string& kernel, const std::string& parameters,
                       const std::string& block = "32") {
  return "file: k.cu\nvariants:\n  v: {kernel: '" + kernel + "', parameters: {" + parameters +
         "}, grid: 1, block: " + block + "}\n";
}

TEST_F(Family, AParameterOfATemplateIsNoMacro) {
  const std::string source =
      "template <int TILE> __global__ void tiled(int* out) {}\n"
      "constexpr int steps = UNROLL;\n";
  const std::string misspelt = "nothing uses the parameter 'TILE': did you mean it by 'TIEL' in";
  EXPECT_THAT(refusal(tiled_with("tiled<TIEL>", "TILE: 16"), source),
              AllOf(HasSubstr("3:43: "), HasSubstr(misspelt)));
  EXPECT_THAT(refusal(tiled_with("tiled<TIEL>", "TILE: 16", "TILE"), source), HasSubstr(misspelt));
  EXPECT_THAT(refusal(tiled_with("tiled<16>", "TILE: 16"), source),
              HasSubstr("TILE is no macro but a template's own parameter: name it in the kernel's "
                        "template arguments ('tiled<TILE>')"));
  EXPECT_THAT(refusal(tiled_with("tiled<16>", "UNROL: 16"), source),
              HasSubstr("did you mean UNROLL?"));
  // The block alone uses it, and the macro would break the template.
  const FamilySpec spec = read(tiled_with("tiled<16>", "TILE: 16", "TILE"));
  EXPECT_THAT(configurations(spec, source).at(0).defines, ElementsAre());
  // A name that the preprocessor knows may be a macro.
  const FamilySpec macro = read(tiled_with("tiled", "TILE: 16"));
  EXPECT_THAT(configurations(macro, "#ifndef TILE\n" + source + "#endif\n").at(0).defines,
              ElementsAre("TILE=16"));
}

TEST_F(Family, AParameterThatTheSourceDeclaresItselfIsNoMacro) {
  const std::string source =
      "__global__ void tiled(int* out) {}\n"
      "__global__ void other(const float* TILE) {}\n";
  // The block alone uses it, and the macro would break the other kernel.
  const FamilySpec spec = read(tiled_with("tiled", "TILE: 16", "TILE"));
  EXPECT_THAT(configurations(spec, source).at(0).defines, ElementsAre());
  EXPECT_THAT(configurations(spec, source + "int n = 2 * UNROLL;").at(0).defines, ElementsAre());
  EXPECT_THAT(configurations(spec, "__shared__ int s[TILE];").at(0).defines,
              ElementsAre("TILE=16"));
  EXPECT_THAT(refusal(tiled_with("tiled", "TILE: 16"), source),
              HasSubstr("k.cu declares its own TILE, which no macro replaces"));
}

TEST_F(Family, ATemplateArgumentThatIsNearAParameterIsDoubted) {
  const auto doubt = [this](const std::string& kernel, const std::string& source) {
    return configurations(read(tiled_with(kernel, "TILE: 16", "TILE")), source).at(0).doubt;
  };
  const std::string source = "template <int T> __global__ void tiled(int* out) {}\n";
  EXPECT_EQ(doubt("tiled<TIEL>", source),
            "the template argument 'TIEL' is no parameter; did you mean TILE?");
  EXPECT_EQ(doubt("tiled<TIEL>", source + "enum { TIEL = 4 };"), "");
  EXPECT_EQ(doubt("tiled<TILE>", source), "");
  EXPECT_EQ(doubt("tiled<16>", source), "");
}

TEST_F(Family, AConditionThatNothingMeetsOrThatIsNoneIsAMistake) {
  const auto with = [](const std::string& where) {
    return "file: k.cu\nvariants:\n  v: {kernel: k<T>, parameters: {T: [1, 2]}, grid: 1, block: "
           "32, "
           "where: " +
           where + "}\n";
  };
  EXPECT_THAT(refusal(with("T > 2")), HasSubstr("holds for none of the combinations of v"));
  EXPECT_THAT(refusal(with("T > U")), HasSubstr("names 'U'"));
}

TEST_F(Family, AConditionComputesWithNumbersAndSaysSoOfNames) {
  const auto with = [](const std::string& where) {
    return "file: k.cu\nvariants:\n  v: {kernel: 'k<T, S>', parameters: {T: [float, double], S: "
           "[1, "
           "2]}, grid: 1, block: 32, where: '" +
           where + "'}\n";
  };
  for (const char* where : {"S == 1 && T == S", "S == 1 && float == S"}) {
    EXPECT_THAT(refusal(with(where)),
                AllOf(HasSubstr("values of T are names, such as float, and where computes with "
                                "numbers: write a variant for each name"),
                      Not(HasSubstr("did you mean"))));
  }
  EXPECT_THAT(refusal(with("S == 1 && T == S")), HasSubstr("'S == 1 && T == S' uses T, but"));
  EXPECT_THAT(refusal(with("S == 1 && U == S")), HasSubstr("names 'U'"));
}

TEST_F(Family, AParameterHasOneValueOnce) {
  EXPECT_THAT(refusal("file: k.cu\nvariants:\n"
                      "  v: {kernel: k<T>, parameters: {T: [1, 1]}, grid: 1, block: 32}\n"),
              HasSubstr("v[T=1] stands here twice"));
}

}  // namespace
}  // namespace warpmeter::family
