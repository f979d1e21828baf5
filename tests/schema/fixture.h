// SPDX-License-Identifier: MIT
// The parts that tests of this folder share: a folder that is removed at the end, small records,
// and short ways to read a database back.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "schema/sqlite.h"
#include "schema/store.h"

namespace warpmeter::schema {

class Folder {
 public:
  Folder() = default;
  /// A test may have taken the right to write there.
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(std::string_view name) const { return (path() / name).string(); }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_;
};

inline Run example_run(const std::string& label = "") {
  Run run;
  run.backend = "cupti";
  run.tool_version = "0.1.0";
  run.git_revision = "abc123";
  run.cuda_version = "13.0";
  run.host = "lab7";
  run.command = "warpmeter run transpose";
  run.label = label;
  return run;
}

inline Device example_device() {
  Device device;
  device.backend = "cupti";
  device.ordinal = 0;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.compute_capability = 90;
  device.uuid = "GPU-1";
  device.driver = "580.1";
  device.multiprocessors = 132;
  device.memory_bytes = 150'000'000'000;
  device.l2_bytes = 62'914'560;
  return device;
}

inline Counter measured(const std::string& name, double value) {
  return {name, value, Grade::measured, ""};
}

/// transpose/naive at 1024 as the H200 measured it (tests/golden/h200_seed_kernels.csv).
inline Launch example_launch() {
  Launch launch;
  launch.family = "transpose";
  launch.variant = "naive";
  launch.size = 1024;
  launch.kernel = "transpose_naive";
  launch.grid[0] = launch.grid[1] = 64;
  launch.block[0] = launch.block[1] = 16;
  launch.static_shared_bytes = 0;
  launch.registers = 12;
  launch.useful_bytes_read = launch.useful_bytes_written = 4'194'304;
  launch.flops = 0;
  launch.verified = true;
  launch.counters = {
      measured("shared_load_wavefronts", 0),    measured("shared_load_requests", 0),
      measured("shared_store_wavefronts", 0),   measured("shared_store_requests", 0),
      measured("global_load_sectors", 131072),  measured("global_load_requests", 32768),
      measured("global_load_bytes", 4194304),   measured("global_store_sectors", 524288),
      measured("global_store_requests", 32768), measured("global_store_bytes", 4194304),
      measured("duration_profiled", 9216),
  };
  launch.timing = Timing{{9000, 8000, 8192}, CacheState::cold, 0.004, "confidence"};
  return launch;
}

/// A column of a 16-wide tile, and a block that is no multiple of a warp; tails were not looked
/// for.
inline Explanation example_explanation() {
  Finding conflict;
  conflict.kind = "bank_conflict";
  conflict.file = "kernels/transpose.cu";
  conflict.line = 44;
  conflict.also_lines = {47, 51};
  conflict.text = "out[o] = tile[threadIdx.x][threadIdx.y];";
  conflict.object = "tile";
  conflict.access = "shared load";
  conflict.evidence =
      "Half a warp reads one column: its 16 lanes, 16 words apart, meet in 2 banks.";
  conflict.requests = 524'288;
  conflict.transactions = 4'194'304;
  conflict.ideal = 524'288;
  conflict.other_transactions = 524'288;
  conflict.kernel_transactions = 4'718'592;
  conflict.share = 0.875;
  conflict.share_of = "the launch's shared wavefronts";
  conflict.lanes.mask = 0b101;
  conflict.lanes.width = 4;
  conflict.lanes.address[2] = 64;
  conflict.lanes.pass[0] = 1;
  conflict.lanes.pass[2] = 2;
  Remedy padding;
  padding.name = "padding 1";
  padding.change = "tile[16][17]";
  padding.words = "a word of padding a row";
  padding.transactions = padding.other_transactions = 1'048'576;
  padding.predicted = {{"shared_load_wavefronts", 1'048'576}, {"warp_instructions", 7}};
  padding.shared_bytes = 1088;
  padding.blocks = 8;
  padding.also_amounts = {3, 5};
  padding.is_advised = true;
  padding.lanes = conflict.lanes;
  Remedy none = padding;
  none.name = "padding 16";
  none.also_amounts.clear();
  none.is_advised = false;
  none.shared_bytes.reset();
  none.blocks.reset();
  none.predicted.clear();
  conflict.remedies = {padding, none};
  Finding partial;
  partial.kind = "partial_warp";
  partial.evidence = "The last warp of a block has 4 of 32 lanes.";
  partial.grade = Grade::ptx;
  partial.grade_reason = "there is no machine code";
  Explanation explanation;
  explanation.was_made = true;
  explanation.findings = {conflict, partial};
  explanation.missing = {{"tail", "the number of multiprocessors is not known"}};
  return explanation;
}

/// A database with one run that ended well and holds `launches`.
inline void store_run(const std::string& path, const std::vector<Launch>& launches,
                      const std::string& label = "") {
  Store store(path);
  const std::int64_t run = store.begin_run(example_run(label));
  const std::int64_t device = store.add_device(run, example_device());
  for (const Launch& launch : launches) store.add_launch(run, device, launch);
  store.end_run(run, RunOutcome::done, "");
}

/// "NULL", 3, 2.5 or the text.
inline std::string text_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) {
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%.12g", *number);
    return buffer;
  }
  return "NULL";
}

/// Each row as one line, values joined with '|'.
inline std::vector<std::string> lines_of(const Reader& reader, std::string_view sql,
                                         const Parameters& parameters = {}) {
  std::vector<std::string> lines;
  for (const auto& row : reader.query(sql, parameters).rows) {
    std::string line;
    for (const Value& value : row) line += (line.empty() ? "" : "|") + text_of(value);
    lines.push_back(line);
  }
  return lines;
}

inline std::vector<std::string> lines_of(const std::string& path, std::string_view sql) {
  return lines_of(Reader(path), sql);
}

struct Failure {
  ExitCode code = ExitCode::done;
  std::string message;
};

/// How the call fails; {done, ""} when it does not.
inline Failure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

inline void expect_failure(const Failure& failure, ExitCode code,
                           const ::testing::Matcher<std::string>& message) {
  EXPECT_EQ(static_cast<int>(failure.code), static_cast<int>(code)) << failure.message;
  EXPECT_THAT(failure.message, message);
  EXPECT_EQ(failure.message.find('\n'), std::string::npos) << "one sentence: " << failure.message;
}

/// A plain connection, for files that warpmeter would not make.
inline Handle open_plain(const std::string& path) {
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  Handle handle = no_handle();
  handle.reset(db);
  return handle;
}

/// Takes from a database what versions after `version` added, and the views, which each program
/// makes anew.
void make_older(const std::string& path, std::size_t version);

/// The status of a child that runs `body`: what it returns, or 100 for an exception, or 128 +
/// signal.
int status_of_child(const std::function<int()>& body);

/// Starts a child that runs `body`; its process id.
int start_child(const std::function<int()>& body);
int wait_for(int process);

}  // namespace warpmeter::schema
