// SPDX-License-Identifier: MIT
// Compilations that are kept between runs: what comes back is what was kept, or nothing.
#include "collector/model/input/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cache_folder.h"
#include "base/temporary.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  Cache() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }
  ~Cache() override {
    if (before_) {
      setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    } else {
      unsetenv("XDG_CACHE_HOME");
    }
  }

  static std::set<fs::path> files() {
    std::error_code none_yet;
    std::set<fs::path> all;
    for (const auto& file : fs::directory_iterator(cache_folder(), none_yet)) all.insert(file);
    return all;
  }

  /// Keeps it, and says in which file.
  static fs::path kept(const std::string& key, const Compiled& compiled) {
    const std::set<fs::path> before = files();
    keep_compiled(key, compiled);
    for (const fs::path& file : files()) {
      if (!before.contains(file)) return file;
    }
    ADD_FAILURE() << key << " is in no file of its own";
    return {};
  }

  static std::string contents(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  static void write(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  }

  /// Last used so many hours ago.
  static void age(const fs::path& file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }

 private:
  static std::optional<std::string> variable(const char* name) {
    const char* value = getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  }

  const TemporaryFolder folder_;
  const std::optional<std::string> before_ = variable("XDG_CACHE_HOME");
};

Compiled example(const std::string& ptx = ".version 8.8\n.entry k() { ret; }\n") {
  Compiled compiled;
  compiled.ptx = ptx;
  for (int byte = 0; byte < 256; ++byte) compiled.cubin.push_back(std::byte(byte));
  compiled.named = {{"tiled<16, 1>", "_Z5tiledILi16ELi1EEvPf"}, {"&table", "table"}};
  return compiled;
}

void expect_equal(const std::optional<Compiled>& found, const Compiled& kept) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ptx, kept.ptx);
  EXPECT_EQ(found->cubin, kept.cubin);
  EXPECT_EQ(found->named, kept.named);
}

TEST_F(Cache, GivesBackAllOfWhatWasKept) {
  EXPECT_FALSE(find_compiled("key"));
  keep_compiled("key", example());
  expect_equal(find_compiled("key"), example());
  EXPECT_EQ(cache_state().entries, 1U);
  keep_compiled("key", example(".version 9.0\n"));
  expect_equal(find_compiled("key"), example(".version 9.0\n"));
  EXPECT_EQ(cache_state().entries, 1U);
}

TEST_F(Cache, KnowsAnotherKeyWhoseFileIsTheSame) {
  const fs::path mine = kept("mine", example()), others = kept("another's", example("other"));
  fs::copy_file(others, mine, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(find_compiled("mine"));
  expect_equal(find_compiled("another's"), example("other"));
}

TEST_F(Cache, HoldsNothingWhereAFileIsCutShort) {
  const fs::path file = kept("key", example());
  const std::string whole = contents(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(file, whole.substr(0, length));
    EXPECT_FALSE(find_compiled("key")) << length << " of " << whole.size() << " bytes";
  }
  write(file, whole);
  expect_equal(find_compiled("key"), example());
}

TEST_F(Cache, HoldsNothingWhereAnyByteOfAFileIsWrong) {
  const fs::path file = kept("key", example());
  const std::string whole = contents(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    write(file, damaged);
    EXPECT_FALSE(find_compiled("key")) << "byte " << i;
  }
}

TEST_F(Cache, WaitsForNoPipe) {
  const fs::path file = kept("key", example());
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(find_compiled("key"));
  keep_compiled("key", example());
  EXPECT_TRUE(fs::is_fifo(file));
}

TEST_F(Cache, KeepsNoFileThatIsLargerThanTheProgramMayWrite) {
  const auto in_child = [] {
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    keep_compiled("key", example());
    _exit(0);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, HoldsNothingWhereAFileIsSomethingElse) {
  const fs::path file = kept("key", example());
  for (const std::string& bytes :
       {std::string("no CBOR at all"), std::string(100'000, '\x81'), std::string(64, '\0'),
        std::string("\x9b\xff\xff\xff\xff\xff\xff\xff\xff") + std::string(8, '\xff')}) {
    write(file, bytes);
    EXPECT_FALSE(find_compiled("key"));
  }
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(find_compiled("key"));
  keep_compiled("key", example());  // cannot be written: no error
  EXPECT_FALSE(find_compiled("key"));
}

TEST_F(Cache, WhatWasUsedLongestAgoGoesFirstOnceItIsFull) {
  const fs::path oldest = kept("oldest", example()), second = kept("second", example());
  const fs::path used = kept("in use", example());
  const std::uint64_t own = fs::file_size(oldest);
  age(oldest, 4), age(second, 3), age(used, 5);
  EXPECT_TRUE(find_compiled("in use"));  // so it is the newest
  // Holes take no room, and count.
  const fs::path large = cache_folder() / "large.cbor";
  write(large, "");
  fs::resize_file(large, cache_limit - 4 * own);
  age(large, 2);

  keep_compiled("filler", example());
  EXPECT_LE(cache_state().bytes, cache_limit);
  EXPECT_TRUE(fs::exists(oldest)) << "nothing goes while all have room";

  keep_compiled("beyond", example());
  EXPECT_LE(cache_state().bytes, cache_limit);
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(second));
  EXPECT_TRUE(fs::exists(large));
  for (const char* key : {"second", "in use", "filler", "beyond"}) {
    EXPECT_TRUE(find_compiled(key)) << key;
  }
}

TEST_F(Cache, LeavesFilesOfOthersAlone) {
  keep_compiled("key", example());
  const fs::path other = cache_folder() / "notes.txt";
  write(other, "");
  fs::resize_file(other, 2 * cache_limit);
  age(other, 9);
  keep_compiled("another", example());
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(cache_state().entries, 2U);
}

}  // namespace
}  // namespace warpmeter::model
