// SPDX-License-Identifier: MIT
// The changes for which --watch runs a launch again, and what does not.
#include "collector/family/launch_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/collector/family/files.h"

namespace warpmeter::family {
namespace {

constexpr const char* three_variants = R"(
family: f
file: k.ptx
sizes: [32, 64]
arguments: [out: 'f32[n]', in: 'f32[n] = in.bin', u32: n]
set: { factor: factor.bin }
tolerance: { relative: 1e-6 }
reference: plain
variants:
  plain: { kernel: plain, grid: 1, block: n }
  scaled: { kernel: scaled, grid: 1, block: n, set: { factor: 2.0 } }
  alone: { kernel: scaled, grid: 1, block: n, reference: none }
)";

/// A text with a part replaced, which it has.
std::string with(std::string text, const std::string& part, const std::string& replacement) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

class LaunchState : public FamilyFiles {
 protected:
  LaunchState() {
    for (const char* name : {"in.bin", "factor.bin", "good.bin"}) write(name, "four");
  }

  std::string state(const std::string& variant, const std::string& text = three_variants,
                    std::int64_t n = 32) const {
    const auto loaded = family(text);
    return launch_state(*loaded, *loaded->family().find(variant), n);
  }

  /// The states of plain, which nothing else decides; of scaled, which is compared with plain; of
  /// alone.
  std::vector<std::string> states(const std::string& text = three_variants) const {
    return {state("plain", text), state("scaled", text), state("alone", text)};
  }

  /// Which of the three are others than `before`.
  static std::string changed(const std::vector<std::string>& before,
                             const std::vector<std::string>& after) {
    std::string names;
    const char* const all[] = {"plain ", "scaled ", "alone "};
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] != after[i]) names += all[i];
    }
    return names;
  }

  std::string changed_by_ptx(const std::string& part, const std::string& replacement) const {
    const std::vector<std::string> before = states();
    write("k.ptx", with(two_kernels, part, replacement));
    const std::vector<std::string> after = states();
    write("k.ptx", two_kernels);
    return changed(before, after);
  }

  std::string changed_by_yaml(const std::string& part, const std::string& replacement) const {
    return changed(states(), states(with(three_variants, part, replacement)));
  }

  std::string changed_by_file(const std::string& name,
                              const std::string& text = three_variants) const {
    const std::vector<std::string> before = states(text);
    std::filesystem::last_write_time(
        path(name), std::filesystem::last_write_time(path(name)) + std::chrono::seconds(1));
    return changed(before, states(text));
  }
};

TEST_F(LaunchState, IsTheSameWhereNothingChanged) {
  EXPECT_EQ(states(), states());
  const std::vector<std::string> all = states();
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[1], all[2]);
}

TEST_F(LaunchState, IsAnotherAtAnotherSize) {
  EXPECT_NE(state("plain", three_variants, 32), state("plain", three_variants, 64));
}

TEST_F(LaunchState, ChangesWithTheCodeOfTheEntryAndOfItsReference) {
  EXPECT_EQ(changed_by_ptx("mov.u32 %r1, 1;", "mov.u32 %r1, 2;"), "scaled alone ");
  EXPECT_EQ(changed_by_ptx("  ret;\n}\n.visible .entry scaled",
                           "  bar.sync 0;\n  ret;\n}\n.visible .entry scaled"),
            "plain scaled ");
}

TEST_F(LaunchState, ChangesWithWhatAllEntriesOfAModuleShare) {
  EXPECT_EQ(changed_by_ptx("f32 factor;", "f32 factor = 0f3F800000;"), "plain scaled alone ");
}

TEST_F(LaunchState, DoesNotChangeWithCommentsAndLineNumbers) {
  EXPECT_EQ(changed_by_ptx(".loc 1 7 9", ".loc 1 99 1"), "");
  EXPECT_EQ(changed_by_ptx("// the whole of it", "// all of it"), "");
  EXPECT_EQ(changed_by_ptx(".file 1 \"k.cu\"", ".file 1 \"elsewhere/k.cu\""), "");
}

TEST_F(LaunchState, ChangesWithTheFilesThatItsArgumentsAndVariablesAreFilledFrom) {
  EXPECT_EQ(changed_by_file("in.bin"), "plain scaled alone ");
  EXPECT_EQ(changed_by_file("factor.bin"), "plain scaled alone ");
  const std::string own =
      with(three_variants, "scaled: { kernel: scaled,",
           "scaled: { kernel: scaled, arguments: [out: 'f32[n]', '@out', u32: n],");
  EXPECT_EQ(changed_by_file("in.bin", own), "plain scaled alone ") << "its reference reads it";
  EXPECT_EQ(changed_by_file("in.bin", with(own, "reference: plain", "reference: none")),
            "plain alone ");
  write("in.bin", "longer");
  EXPECT_EQ(changed_by_file("good.bin"), "") << "nothing names it";
}

TEST_F(LaunchState, ChangesWithArgumentsVariablesAndGeometry) {
  EXPECT_EQ(changed_by_yaml("u32: n", "u32: n+1"), "plain scaled alone ");
  EXPECT_EQ(changed_by_yaml("factor: 2.0", "factor: 3.0"), "scaled ");
  EXPECT_EQ(changed_by_yaml("alone: { kernel: scaled, grid: 1", "alone: { kernel: scaled, grid: 2"),
            "alone ");
  EXPECT_EQ(changed_by_yaml("plain: { kernel: plain, grid: 1, block: n",
                            "plain: { kernel: plain, grid: 1, block: 1"),
            "plain scaled ");
  EXPECT_EQ(changed_by_yaml("alone: {", "alone: { shared: 4,"), "alone ");
}

TEST_F(LaunchState, ChangesWithWhatItIsJudgedBy) {
  EXPECT_EQ(changed_by_yaml("relative: 1e-6", "relative: 1e-3"), "plain scaled alone ");
  EXPECT_EQ(changed_by_yaml("relative: 1e-6", "absolute: 1e-6"), "plain scaled alone ");
  EXPECT_EQ(changed_by_yaml("relative: 1e-6", "relative: 1e-6, nan: equal"), "plain scaled alone ");
  EXPECT_EQ(changed_by_yaml("reference: plain", "outputs: out\nreference: plain"),
            "plain scaled alone ");
  EXPECT_EQ(changed_by_yaml("reference: none", "reference: plain"), "alone ");
  const std::string by_file =
      with(three_variants, "reference: plain", "reference: { out: good.bin }");
  EXPECT_EQ(changed_by_file("good.bin", by_file), "plain scaled alone ");
}

TEST_F(LaunchState, DoesNotChangeWithWhatOnlyAPersonReads) {
  EXPECT_EQ(changed_by_yaml("family: f", "family: f\nsummary: copies"), "");
  EXPECT_EQ(changed_by_yaml("  alone:",
                            "  # a comment\n  more: { kernel: plain, grid: 1, block: 1 "
                            "}\n  alone:"),
            "");
}

TEST_F(LaunchState, FilesOfAFamilyAreAllThatItIsMadeOf) {
  write("k.cu", "#include \"a.h\"\n#include <b.h>\n#include <not_here.h>\n");
  write("a.h", "#include \"c.h\"\n");
  write("include/b.h", "");
  write("c.h", "");
  const FamilySpec read = spec(R"(
file: k.cu
cubin: k.cubin
include: include
arguments: [in: 'f32[] = in.npy', out: 'f32[16]', i32: 5]
set: { table: table.npy, n: 5 }
reference: { out: good.npy }
variants:
  a: { grid: 1, block: 1 }
  b: { grid: 1, block: 1, arguments: [x: 'f32[] = own.bin'], set: { table: other.npy } }
)");
  std::vector<std::string> expected;
  for (const char* name : {"f.yaml", "k.cu", "k.cubin", "a.h", "c.h", "include/b.h", "in.npy",
                           "table.npy", "good.npy", "own.bin", "other.npy"}) {
    expected.push_back(path(name));
  }
  EXPECT_THAT(files_of(read), testing::UnorderedElementsAreArray(expected));
}

TEST_F(LaunchState, FilesOfCompiledKernelsIncludeNothing) {
  write("k.ptx", "// #include \"a.h\"\n#include \"a.h\"\n");
  write("a.h", "");
  EXPECT_THAT(files_of(spec("file: k.ptx\nvariants: { a: { grid: 1, block: 1 } }\n")),
              testing::UnorderedElementsAre(path("f.yaml"), path("k.ptx")));
}

}  // namespace
}  // namespace warpmeter::family
