// SPDX-License-Identifier: MIT
// No file is written that is read, or written twice, by whatever name.
#include "base/file_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/temporary.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

class Claims : public ::testing::Test {
 protected:
  Claims() {
    std::ofstream(file("in.npy")) << "numbers";
    fs::create_directory(folder_ / "a");
    fs::create_symlink("in.npy", file("link"));
    fs::create_hard_link(file("in.npy"), file("twin"));
  }

  std::string file(const std::string& name) const { return folder_ / name; }

  /// The refusal; empty when there is none.
  static std::string refusal(const std::function<void(FileClaims&)>& claim) {
    FileClaims files;
    try {
      claim(files);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "";
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Claims, RefuseToWriteWhatIsReadByAnyOfItsNames) {
  for (const char* name : {"in.npy", "link", "twin", "a/../in.npy", "./in.npy"}) {
    EXPECT_EQ(refusal([&](FileClaims& files) {
                files.read(file("in.npy"), "the contents");
                files.write(file(name), "-o");
              }),
              "-o " + file(name) + " would overwrite the contents; choose another file");
    EXPECT_EQ(refusal([&](FileClaims& files) {
                files.write(file(name), "-o");
                files.read(file("in.npy"), "the contents");
              }),
              "-o " + file(name) + " would overwrite the contents; choose another file");
  }
}

TEST_F(Claims, RefuseToWriteAFileTwiceThoughItIsNotThereYet) {
  EXPECT_EQ(refusal([&](FileClaims& files) {
              files.write(file("out.npy"), "--save a");
              files.write(file("a/../out.npy"), "--save b");
            }),
            "--save b " + file("a/../out.npy") +
                " would overwrite what --save a writes; choose another file");
}

TEST_F(Claims, RefuseADatabaseAndWhatSqliteKeepsBesideIt) {
  std::ofstream(file("lab.db")) << "rows";
  std::ofstream(file("lab.db-wal")) << "rows";
  fs::create_symlink("lab.db", file("lab"));
  for (const char* name : {"lab.db", "lab", "lab.db-wal", "lab.db-shm", "lab.db-journal"}) {
    EXPECT_THAT(refusal([&](FileClaims& files) {
                  files.read_database(file("lab"));
                  files.write(file(name), "-o");
                }),
                testing::HasSubstr("would overwrite the database"))
        << name;
  }
  EXPECT_THAT(refusal([&](FileClaims& files) {
                files.read(file("in.npy"), "the contents");
                files.store(file("link"));
              }),
              testing::HasSubstr("would change the contents"));
}

TEST_F(Claims, LeaveAllElseAlone) {
  EXPECT_EQ(refusal([&](FileClaims& files) {
              files.read(file("in.npy"), "the contents");
              files.read(file("in.npy"), "the contents once more");
              files.read_database(file("in.npy"));
              files.read("/dev/null", "nothing");
              files.read(file("missing"), "what is not there");
              EXPECT_TRUE(files.write("", "-o").is_standard_output());
              EXPECT_TRUE(files.write("-", "-o").is_standard_output());
              files.write("/dev/null", "-o");
              files.write("/dev/null", "--save a");
              files.write(folder_, "-o");
              EXPECT_EQ(files.write(file("out.md"), "-o").path(), file("out.md"));
            }),
            "");
}

}  // namespace
}  // namespace warpmeter::cli
