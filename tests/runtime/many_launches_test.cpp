// SPDX-License-Identifier: MIT
// How much memory warpmeter takes for a program of very many launches: none for each.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

/// The most memory that a process has had so far; 0 when it has ended.
std::int64_t most_kilobytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  return 0;
}

class ManyLaunches : public RuntimeProgram {
 protected:
  /// The memory of warpmeter itself, in kilobytes.
  std::int64_t memory_for(int launches) const {
    Process process({{"profile", "-q", "-b", "model", "-m", "@default", program("many_launches"),
                      std::to_string(launches)},
                     folder_,
                     {{"LD_LIBRARY_PATH", ""}}});
    std::atomic<bool> has_ended = false;
    std::int64_t most = 0;
    std::thread watch([&, id = process.id()] {
      while (!has_ended) {
        most = std::max(most, most_kilobytes(id));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    const Outcome outcome = process.wait();
    has_ended = true;
    watch.join();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return most;
  }
};

// Launches that waited in a queue without an end took 6 kB each: 220 MB for these. With 200,000 it
// takes as much as with 20,000.
TEST_F(ManyLaunches, AreWrittenAsTheyCome) {
#ifdef WARPMETER_IS_SANITIZED
  GTEST_SKIP() << "the sanitizers keep what was freed";
#endif
  EXPECT_LT(memory_for(30'000), 150'000);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE variant = 'tick'"), "30000");
}

}  // namespace
}  // namespace warpmeter::cli
