// SPDX-License-Identifier: MIT
// Paths that another file names: no pipe is waited for, no device is read, and nothing outside of
// the folders that a person chose is shown.
#include "base/named_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/temporary.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

TEST(NamedFiles, AreThoseBelowTheNamingFileTheWorkingFolderAndWhatIsAllowed) {
  const TemporaryFolder folder, other;
  fs::create_directories(folder.path() / "project/headers");
  std::ofstream(folder.path() / "project/headers/a.cuh") << "a";
  std::ofstream(folder.path() / "outside.cuh") << "outside";
  std::ofstream(other.path() / "b.cuh") << "b";
  NamedFiles files((folder.path() / "project/k.ptx").string());
  EXPECT_EQ(files.text((folder.path() / "project/headers/a.cuh").string()), "a");
  EXPECT_EQ(files.text((folder.path() / "project/../outside.cuh").string()), "");
  EXPECT_EQ(files.text("/etc/passwd"), "");
  EXPECT_EQ(files.text((other.path() / "b.cuh").string()), "");
  files.allow(other.path());
  EXPECT_EQ(files.text((other.path() / "b.cuh").string()), "b");
  EXPECT_TRUE(files.allows((fs::current_path() / "any.cu").string()));
  files.allow("/");  // all files lie below it
  EXPECT_FALSE(files.allows("/etc/passwd"));
}

TEST(NamedFiles, AreNotReachedByALink) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "project");
  std::ofstream(folder.path() / "secret") << "secret";
  fs::create_symlink(folder.path() / "secret", folder.path() / "project/link.cu");
  fs::create_directory_symlink(folder.path(), folder.path() / "project/up");
  const NamedFiles files((folder.path() / "project/k.ptx").string());
  EXPECT_EQ(files.text((folder.path() / "project/link.cu").string()), "");
  EXPECT_EQ(files.text((folder.path() / "project/up/secret").string()), "");
  // The names of neighbours begin alike.
  fs::create_directory(folder.path() / "project2");
  EXPECT_FALSE(files.allows((folder.path() / "project2/a.cu").string()));
}

/// For as long as it lives, the home folder is another one.
class Home {
 public:
  explicit Home(const fs::path& folder) : before_(std::getenv("HOME")) {
    setenv("HOME", folder.c_str(), 1);
  }
  ~Home() { before_ != nullptr ? setenv("HOME", before_, 1) : unsetenv("HOME"); }
  Home(const Home&) = delete;

 private:
  const char* before_;
};

TEST(NamedFiles, InHiddenFoldersOfTheHomeFolderNeedAFolderThere) {
  const TemporaryFolder home;
  const Home mine(home.path());
  fs::create_directories(home.path() / ".ssh");
  fs::create_directories(home.path() / ".cache/kernels");
  fs::create_directories(home.path() / "lab/.build");
  NamedFiles files((home.path() / "k.ptx").string());
  EXPECT_TRUE(files.allows((home.path() / "lab/.build/k.cu").string()));
  EXPECT_FALSE(files.allows((home.path() / ".ssh/id_rsa").string()));
  EXPECT_FALSE(files.allows((home.path() / "lab/../.netrc").string()));
  EXPECT_FALSE(files.allows((home.path() / ".cache/kernels/k.cu").string()));
  files.allow(home.path() / ".cache/kernels");
  EXPECT_TRUE(files.allows((home.path() / ".cache/kernels/k.cu").string()));
  EXPECT_FALSE(files.allows((home.path() / ".ssh/id_rsa").string()));
}

TEST(ProjectFolder, IsThatOfAVersionControlElseThatOfABuild) {
  const TemporaryFolder home;
  const Home mine(home.path());
  const fs::path lab = fs::canonical(home.path()) / "lab";
  fs::create_directories(lab / "build/dev/tests");
  fs::create_directories(lab / "src");
  EXPECT_EQ(project_folder(lab / "build/dev/tests"), lab / "build/dev/tests");
  std::ofstream(lab / "build/dev/CMakeCache.txt") << "";
  EXPECT_EQ(project_folder(lab / "build/dev/tests"), lab / "build");
  std::ofstream(lab / "CMakeLists.txt") << "";
  EXPECT_EQ(project_folder(lab / "build/dev/tests"), lab);
  fs::create_directories(lab / "src/.git");
  EXPECT_EQ(project_folder(lab / "src"), lab / "src");
  EXPECT_EQ(project_folder(lab / "build"), lab);
  // A home folder under version control does not show all that is in it.
  fs::create_directories(home.path() / ".git");
  EXPECT_EQ(project_folder(lab / "build/dev"), lab);
  EXPECT_EQ(project_folder(home.path()), fs::canonical(home.path()));
  EXPECT_EQ(project_folder("/usr/bin"), fs::canonical("/usr/bin"));
}

TEST(NamedFiles, AreRegularAndNotTooLarge) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe.cu").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string large = (folder.path() / "large.cu").string();
  std::ofstream(large) << "1234567";
  EXPECT_FALSE(read_regular_file(pipe).text);
  EXPECT_EQ(read_regular_file(pipe).why_not, "is no regular file");
  EXPECT_FALSE(read_regular_file("/dev/zero").text);
  EXPECT_FALSE(read_regular_file(folder.path().string()).text);
  EXPECT_FALSE(read_regular_file((folder.path() / "none").string()).text);
  EXPECT_EQ(read_regular_file(large, 7).text, "1234567");
  EXPECT_FALSE(read_regular_file(large, 6).text);
  fs::resize_file(large, std::uintmax_t{1} << 40);  // with a hole
  EXPECT_FALSE(read_regular_file(large).text);
  EXPECT_FALSE(read_regular_file("/proc/self/pagemap").text);
}

}  // namespace
}  // namespace warpmeter
