// SPDX-License-Identifier: MIT
// Files of -o: whole or not at all.
#include "base/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/temporary.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

class OutputFile : public ::testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_ / name; }
  static Destination to(const fs::path& path) { return FileClaims().write(path, "-o"); }
  static std::string contents(const fs::path& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(OutputFile, AppearsWhenItIsFinished) {
  Output output(to(file("a.md")));
  EXPECT_TRUE(output.write("one\n"));
  EXPECT_FALSE(fs::exists(file("a.md")));
  output.finish();
  EXPECT_EQ(contents(file("a.md")), "one\n");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, LeavesTheOldOneWhenItIsNotFinished) {
  std::ofstream(file("a.md")) << "old";
  { Output(to(file("a.md"))).write("new"); }
  EXPECT_EQ(contents(file("a.md")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFile, KeepsTheModeOfTheOldOneAndTheUsualModeElse) {
  std::ofstream(file("a.md")) << "old";
  chmod(file("a.md").c_str(), 0640);
  const mode_t mask = umask(022);
  for (const char* name : {"a.md", "b.md"}) Output(to(file(name))).finish();
  umask(mask);
  struct stat status {};
  stat(file("a.md").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  stat(file("b.md").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0644U);
}

TEST_F(OutputFile, IsWrittenWhereALinkLeads) {
  std::ofstream(file("real.md")) << "old";
  fs::create_symlink("real.md", file("link.md"));
  Output output(to(file("link.md")));
  output.write("new");
  output.finish();
  EXPECT_TRUE(fs::is_symlink(file("link.md")));
  EXPECT_EQ(contents(file("real.md")), "new");
}

TEST_F(OutputFile, OfAFolderOrInAMissingFolderIsAnErrorOfFiles) {
  for (const fs::path& path : {folder_, folder_ / "missing" / "a.md"}) {
    try {
      Output output(to(path));
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::file);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(path.string()));
    }
  }
}

TEST_F(OutputFile, OnAFullDeviceIsAnErrorOfFiles) {
  Output output(to("/dev/full"));
  try {
    output.write("text");
    ADD_FAILURE() << "/dev/full took text";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("No space left"));
  }
}

}  // namespace
}  // namespace warpmeter::cli
