// SPDX-License-Identifier: MIT
// Instances of templates that nvcc makes: which entry each expression is, and that nothing of how
// it was asked for is left in the PTX.
#include "collector/model/input/nvcc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Nvcc : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(toolkit_program("nvcc")); }

  Compiled compiled(const std::string& source, const std::vector<std::string>& expressions) const {
    const std::string path = (folder_.path() / "k.cu").string();
    std::ofstream(path) << source;
    return compile_with_nvcc(*toolkit_program("nvcc"), path, {}, expressions);
  }

 private:
  const TemporaryFolder folder_;
};

/// The folder that this process works in, as long as this lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

constexpr const char* source = R"(
enum { TILE = 16 };
using real = float;
template <class T, int N> __global__ void put(T* out) { out[threadIdx.x] = N; }
namespace { template <int N> __global__ void hidden(int* out) { out[threadIdx.x] = N; } }
template <int N> __global__ void twice(int* out) { out[0] = N; }
template <int N> __global__ void twice(float* out) { out[0] = N; }
)";

TEST_F(Nvcc, SaysWhichEntryEachExpressionIs) {
  std::vector<std::string> expressions = {"put<real, 2+2>", "put<unsigned, TILE>", "hidden<'a'>"};
  for (int i = 0; i < 12; ++i) expressions.push_back("put<int, " + std::to_string(i) + ">");
  expressions.push_back("put<float, 4>");  // the first once more
  const Compiled made = compiled(source, expressions);
  ASSERT_EQ(made.failure, "");
  ASSERT_EQ(made.named.size(), expressions.size());
  EXPECT_EQ(made.named.at("put<real, 2+2>"), "_Z3putIfLi4EEvPT_");
  EXPECT_EQ(made.named.at("put<float, 4>"), "_Z3putIfLi4EEvPT_");
  EXPECT_EQ(made.named.at("put<unsigned, TILE>"), "_Z3putIjLi16EEvPT_");
  EXPECT_EQ(made.named.at("put<int, 1>"), "_Z3putIiLi1EEvPT_");
  EXPECT_EQ(made.named.at("put<int, 11>"), "_Z3putIiLi11EEvPT_");
  EXPECT_THAT(made.named.at("hidden<'a'>"), HasSubstr("hiddenILi97E"));
  EXPECT_THAT(made.ptx, Not(HasSubstr("warpmeter_instance")));
  const KernelFile file = kernel_file_of("k.cu", made);
  EXPECT_TRUE(file.module->variables.empty());
  EXPECT_EQ(find_entry(file, "put<unsigned, TILE>"), "_Z3putIjLi16EEvPT_");
  const Assembled assembled = assemble(*file.module);
  EXPECT_EQ(assembled.failure, "");
}

TEST_F(Nvcc, TakesNoExpressionThatMayBeTwoKernels) {
  const Compiled made = compiled(source, {"twice<1>"});
  EXPECT_THAT(made.failure, AllOf(HasSubstr("the kernel's name(1): error"), HasSubstr("k.cu"),
                                  Not(HasSubstr("instances.cu"))));
}

TEST_F(Nvcc, TakesNoExpressionThatIsNoKernel) {
  EXPECT_THAT(compiled(source, {"nosuch<1>"}).failure, HasSubstr("\"nosuch\" is undefined"));
  const KernelFile file = kernel_file_of(
      "k.cu", compiled("template <int N> __device__ __noinline__ int f() { return N; }", {"f<1>"}));
  try {
    find_entry(file, "f<1>");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("'f<1>' of k.cu is no kernel"));
  }
}

TEST_F(Nvcc, GetsNoWordThatItsShellWouldExecute) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "k.cu").string();
  const std::string made = (folder.path() / "made").string();
  std::ofstream(path) << "extern \"C\" __global__ void k() {}";
  for (const std::string& value : {"$(touch " + made + ")", "`touch " + made + "`"}) {
    CompileOptions options;
    options.defines = {"X=" + value};
    const Compiled compiled = compile_with_nvcc(*toolkit_program("nvcc"), path, options, {});
    EXPECT_THAT(compiled.failure, HasSubstr("a shell, which would execute a part of '-DX="));
    EXPECT_FALSE(std::filesystem::exists(made));
  }
  CompileOptions quoted;
  quoted.defines = {"X=\"a b; c\""};
  EXPECT_EQ(compile_with_nvcc(*toolkit_program("nvcc"), path, quoted, {}).failure, "");
}

// nvcc escapes double quotes in options, but not in the names of files.
TEST_F(Nvcc, GetsNoFileWhoseNameItsShellWouldExecute) {
  const TemporaryFolder folder;
  const WorkingFolder here(folder.path());
  const std::string path = "a\";touch made;\".cu";
  std::ofstream(path) << "extern \"C\" __global__ void k() {}";
  const Compiled compiled = compile_with_nvcc(*toolkit_program("nvcc"), path, {}, {});
  EXPECT_THAT(compiled.failure, HasSubstr("a shell, which would execute a part of 'a\";touch"));
  EXPECT_FALSE(std::filesystem::exists("made"));
}

// nvcc reads options, and with them the name of the host's compiler, from the file that one of
// these names; the host's compiler does so for the other one.
TEST_F(Nvcc, TakesTheNameOfASourceForNoOption) {
  const TemporaryFolder folder;
  const WorkingFolder here(folder.path());
  std::ofstream("compiler") << "#!/bin/sh\ntouch made\n";
  std::filesystem::permissions("compiler", std::filesystem::perms::owner_all);
  std::ofstream("plain.cu") << "extern \"C\" __global__ void plain() {}";
  std::ofstream("options.cu") << "-ccbin ./compiler plain.cu";
  for (const std::string path : {"--options-file=options.cu", "@options.cu"}) {
    std::ofstream(path) << "extern \"C\" __global__ void k() {}";
    const Compiled compiled = compile_with_nvcc(*toolkit_program("nvcc"), path, {}, {});
    EXPECT_EQ(compiled.failure, "") << path;
    EXPECT_THAT(compiled.ptx, HasSubstr(".entry k")) << path;
    EXPECT_FALSE(std::filesystem::exists("made")) << path;
  }
}

// gcc and with it nvcc read a device, or wait for who writes to a FIFO, without end.
TEST_F(Nvcc, ReadsNoIncludeWithoutEnd) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "k.cu").string();
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::vector<std::string> remarks;
  for (const std::string name : {"/dev/zero", "pipe"}) {
    std::ofstream(path) << "  # include \"" << name << "\"\nextern \"C\" __global__ void k() {}";
    const Compiled compiled = compile_source(path, {}, {}, remarks);
    EXPECT_THAT(compiled.failure, AllOf(HasSubstr(name), HasSubstr("no regular file")));
  }
  std::ofstream(folder.path() / "header.h") << "#include \"" << pipe << '"';
  EXPECT_EQ(endless_include(path, {}), pipe);
  std::ofstream(path) << "#include \"header.h\"\n";
  EXPECT_EQ(endless_include(path, {}), pipe);
  std::ofstream(path) << "#define HEADER \"pipe\"\n#include HEADER\n";
  EXPECT_EQ(endless_include(path, {}), pipe);
  std::ofstream(path) << "#define NAME \"header.h\"\n#define SIZE 4\n#define\n";
  EXPECT_EQ(endless_include(path, {}), "");
  EXPECT_TRUE(included_files(path, {}).empty());
  std::ofstream(path) << "#include <nosuch>\n#include \".\"\n";
  EXPECT_EQ(endless_include(path, {}), "");
}

}  // namespace
}  // namespace warpmeter::model
