// SPDX-License-Identifier: MIT
#include "collector/profile/injector.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace warpmeter::profile {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(PrivateFolder, BelongsToThisUserAloneAndGoesWithEverythingInIt) {
  fs::path path;
  {
    const PrivateFolder folder;
    path = folder.path();
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    std::ofstream(path / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Injector, IsUnpackedWhereItIsNotBesideTheProgram) {
  const PrivateFolder folder;
  const fs::path file = find_library(Library::injector, "/nowhere/bin/warpmeter", folder.path());
  EXPECT_EQ(file.parent_path(), folder.path());
  EXPECT_EQ(contents(file).substr(1, 3), "ELF");
  EXPECT_NE(contents(file).find("InitializeInjection"), std::string::npos);
}

TEST(Injector, IsTakenFromTheLibraryFolderOfAnInstallation) {
  const PrivateFolder folder;
  const fs::path unpacked =
      find_library(Library::injector, "/nowhere/bin/warpmeter", folder.path());
  fs::create_directories(folder.path() / "bin");
  fs::create_directories(folder.path() / "lib");
  fs::rename(unpacked, folder.path() / "lib" / unpacked.filename());
  EXPECT_EQ(find_library(Library::injector, folder.path() / "bin" / "warpmeter", folder.path()),
            folder.path() / "lib" / unpacked.filename());
}

TEST(Injector, OfAnotherBuildIsNotUsed) {
  const PrivateFolder folder;
  fs::create_directories(folder.path() / "bin");
  std::ofstream(folder.path() / "bin" / "libwarpmeter_inject.so") << "an older one";
  EXPECT_EQ(find_library(Library::injector, folder.path() / "bin" / "warpmeter", folder.path())
                .parent_path(),
            folder.path());
}

TEST(StandIns, HaveTheNamesThatProgramsAskFor) {
  const PrivateFolder folder;
  const fs::path libraries = write_stand_ins(folder.path());
  EXPECT_EQ(libraries.parent_path(), folder.path());
  const struct {
    const char* file;
    const char* soname;
    const char* function;
  } wanted[] = {{"libcuda.so.1", "libcuda.so.1", "cuGetProcAddress_v2"},
                {"libcuda.so", "libcuda.so.1", "cuLaunchKernel"},
                {"libcudart.so.12", "libcudart.so.12", "cudaGetDeviceProperties_v2"},
                {"libcudart.so.13", "libcudart.so.13", "__cudaRegisterFatBinary"},
                {"libcudart.so", "libcudart.so.13", "cudaLaunchKernel"}};
  for (const auto& [file, soname, function] : wanted) {
    const std::string bytes = contents(libraries / file);
    EXPECT_EQ(bytes.substr(1, 3), "ELF") << file;
    EXPECT_NE(bytes.find(soname), std::string::npos) << file;
    EXPECT_NE(bytes.find(function), std::string::npos) << file;
  }
}

}  // namespace
}  // namespace warpmeter::profile
