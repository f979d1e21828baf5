// Paths that another file names: no pipe is waited for, no device is read, and nothing outside of
// the folders that a person chose is shown.
#include "base/named_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
