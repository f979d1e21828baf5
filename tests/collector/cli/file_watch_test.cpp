// SPDX-License-Identifier: MIT
// The saves of a watched file that count.
#include "collector/cli/run/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temporary.h"

namespace warpmeter::cli {
namespace {

struct Saves : testing::Test {
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  void save(const std::string& name) const { std::ofstream(path(name)) << "text"; }

  const TemporaryFolder folder;
  FileWatch watch;
};

TEST_F(Saves, AreSaidOnce) {
  save("a");
  watch.set({path("a"), path("b")});
  EXPECT_FALSE(watch.was_saved());
  save("a");
  EXPECT_TRUE(watch.was_saved());
  EXPECT_FALSE(watch.was_saved());
  save("b");
  save("a");
  EXPECT_TRUE(watch.was_saved());
  EXPECT_FALSE(watch.was_saved());
}

TEST_F(Saves, OfOtherFilesAreNone) {
  watch.set({path("a")});
  save("other");
  EXPECT_FALSE(watch.was_saved());
}

TEST_F(Saves, CountFromWhenTheFolderWasWatched) {
  watch.set({path("a")});
  save("b");
  watch.set({path("a"), path("b")});  // b is found to be included after it was saved
  EXPECT_TRUE(watch.was_saved());
}

TEST_F(Saves, ByAnotherFilesRenamingCount) {
  watch.set({path("a")});
  save("a.new");
  std::filesystem::rename(path("a.new"), path("a"));
  EXPECT_TRUE(watch.was_saved());
}

}  // namespace
}  // namespace warpmeter::cli
