// SPDX-License-Identifier: MIT
// Where CUPTI is looked for, and what a person is told when it is not there. Nothing here needs a
// driver.
#include "collector/cupti/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/cupti/backend.h"
#include "collector/cupti/cublas.h"
#include "collector/cupti/diagnose.h"

namespace warpmeter::cupti {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A file system of empty folders below a temporary one.
class CuptiDirectories : public ::testing::Test {
 protected:
  fs::path folder(const std::string& path) {
    fs::create_directories(root_ / path);
    return root_ / path;
  }
  fs::path file(const std::string& path) {
    folder(fs::path(path).parent_path());
    std::ofstream(root_ / path) << "";
    return root_ / path;
  }
  std::vector<fs::path> search(const std::map<std::string, std::string>& variables = {},
                               const fs::path& program = "") {
    const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return cupti_directories(environment, program, root_);
  }

  const TemporaryFolder temporary_;
  const fs::path root_ = fs::canonical(temporary_.path());
};

TEST_F(CuptiDirectories, AreNoneOnABareMachine) { EXPECT_THAT(search(), IsEmpty()); }

TEST_F(CuptiDirectories, ListTheNewestToolkitFirstAndEachFolderOnce) {
  const fs::path newer = folder("usr/local/cuda-13.1/lib64");
  const fs::path older = folder("usr/local/cuda-13.0/lib64");
  const fs::path extras = folder("usr/local/cuda-13.0/extras/CUPTI/lib64");
  fs::create_directory_symlink(root_ / "usr/local/cuda-13.1", root_ / "usr/local/cuda");
  EXPECT_THAT(search(), ElementsAre(newer, older, extras));
}

TEST_F(CuptiDirectories, PutTheProgramsFolderAndCudaHomeFirst) {
  const fs::path program = folder("opt/warpmeter");
  const fs::path home = folder("opt/cuda/lib64");
  const fs::path standard = folder("usr/local/cuda/lib64");
  EXPECT_THAT(search({{"CUDA_HOME", (root_ / "opt/cuda").string()}}, program / "warpmeter"),
              ElementsAre(program, home, standard));
}

TEST_F(CuptiDirectories, FollowTheCompilerInThePathToItsToolkit) {
  file("opt/toolkit/bin/nvcc");
  const fs::path library = folder("opt/toolkit/targets/x86_64-linux/lib");
  folder("usr/bin");
  fs::create_symlink(root_ / "opt/toolkit/bin/nvcc", root_ / "usr/bin/nvcc");
  EXPECT_THAT(search({{"PATH", (root_ / "usr/bin").string()}}), ElementsAre(library));
}

TEST_F(CuptiDirectories, IncludeTheLoadersPath) {
  const fs::path a = folder("a"), b = folder("b");
  EXPECT_THAT(search({{"LD_LIBRARY_PATH", a.string() + "::/nowhere:" + b.string()}}),
              ElementsAre(a, b));
}

TEST_F(CuptiDirectories, FindPipsPackagesOfAVirtualEnvironment) {
  file("venv/bin/python3");
  const fs::path cu13 = folder("venv/lib/python3.12/site-packages/nvidia/cu13/lib");
  const fs::path own = folder("venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib");
  EXPECT_THAT(search({{"PATH", (root_ / "venv/bin").string()}}), ElementsAre(cu13, own));
}

TEST_F(CuptiDirectories, FindPipsPackagesOfAUserAndOfTheSystem) {
  const fs::path user = folder("home/.local/lib/python3.11/site-packages/nvidia/cu13/lib");
  const fs::path system = folder("usr/lib/python3/dist-packages/nvidia/cuda_cupti/lib");
  EXPECT_THAT(search({{"HOME", (root_ / "home").string()}}), ElementsAre(user, system));
}

TEST_F(CuptiDirectories, AFolderWithoutCuptiLeavesTheReasonAndTheRemedy) {
  const Loaded<CuptiApi> loaded = load_cupti({folder("empty")}, false);
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.failure, "libcupti.so.13 cannot be loaded (no folder has it)");
  EXPECT_THAT(loaded.remedy, AllOf(HasSubstr("CUDA 13 toolkit"), HasSubstr("LD_LIBRARY_PATH")));
}

TEST_F(CuptiDirectories, ACuptiWithoutItsCompanionIsNamed) {
  file("half/libcupti.so.13");
  const Loaded<CuptiApi> loaded = load_cupti({folder("half")}, false);
  EXPECT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.failure, HasSubstr("libnvperf_host.so: cannot open"));
}

TEST_F(CuptiDirectories, TheFolderOfCuptiHoldsItsCompanionToo) {
  file("half/libcupti.so.13");
  const fs::path whole = file("whole/libcupti.so.13").parent_path();
  file("whole/libnvperf_host.so");
  EXPECT_EQ(cupti_folder_in({root_ / "half", whole}), whole);
  EXPECT_EQ(cupti_folder_in({root_ / "half"}), "");
}

TEST_F(CuptiDirectories, AFileThatIsNoLibraryIsNamed) {
  file("broken/libnvperf_host.so");
  file("broken/libcupti.so.13");
  const Loaded<CuptiApi> loaded = load_cupti({folder("broken")}, false);
  EXPECT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.failure, HasSubstr("libnvperf_host.so: file too short"));
}

/// In a process of its own: a library that is loaded stays.
TEST_F(CuptiDirectories, ThatOfTheCuptiInUseComesFirst) {
  const fs::path toolkit = cupti_folder_in(library_directories());
  if (toolkit.empty()) GTEST_SKIP() << "no CUPTI is here";
  const fs::path brought = folder("brought");
  fs::copy_file(toolkit / "libcupti.so.13", brought / "libcupti.so.13");
  EXPECT_EXIT(
      {
        if (dlopen((brought / "libcupti.so.13").c_str(), RTLD_NOW) == nullptr) std::exit(2);
        const bool is_first = library_directories().front() == brought;
        std::exit(is_first && cupti_in_use() == brought ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

/// The messages of a machine without a driver; skipped where there is one.
class WithoutDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (driver_library().ok()) GTEST_SKIP() << "this machine has a driver";
  }
};

TEST_F(WithoutDriver, OpeningABackendExits4WithReasonAndRemedy) {
  try {
    open();
    FAIL() << "opened a GPU without a driver";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_hardware);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("driver"), HasSubstr("`warpmeter run -b model`"),
                                    Not(HasSubstr("\n"))));
  }
}

TEST_F(WithoutDriver, DiagnosisGoesThroughAndSaysWhatIsMissing) {
  const std::vector<Finding> findings = diagnose();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].name, "driver");
  EXPECT_FALSE(findings[0].ok);
  EXPECT_THAT(findings[0].remedy, HasSubstr("driver"));
  EXPECT_EQ(findings[1].name, "CUPTI");
  EXPECT_EQ(findings[2].name, "NVML");
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.detail.empty());
    EXPECT_EQ(finding.ok, finding.remedy.empty());
  }
}

TEST(LoadCublas, SaysWhatIsMissingAndHowToMendIt) {
  const Loaded<CublasApi> loaded = load_cublas({"/nonexistent"}, /*search_loader_path=*/false);
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.sentence(),
            "cuBLAS is not installed (no libcublas.so.13 or .12 can be loaded); install the CUDA "
            "toolkit or `pip install nvidia-cublas`, or put libcublas.so.13 and libcublasLt.so.13 "
            "into LD_LIBRARY_PATH");
}

TEST_F(CuptiDirectories, LoadCublasPassesOverAFileThatIsNoLibrary) {
  file("lib/libcublas.so.13");
  file("lib/libcublasLt.so.13");
  EXPECT_FALSE(load_cublas({root_ / "lib"}, /*search_loader_path=*/false).ok());
}

}  // namespace
}  // namespace warpmeter::cupti
