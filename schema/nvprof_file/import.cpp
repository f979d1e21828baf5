// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/import.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "base/utf8.h"
#include "schema/database.h"
#include "schema/nvprof_file/activities.h"
#include "schema/nvprof_file/source.h"
#include "schema/nvprof_file/values.h"
#include "schema/nvprof_file/words.h"
#include "schema/store.h"
#include "schema/uuid.h"

namespace warpmeter::schema {
namespace {

constexpr std::size_t batch = 1000;

/// The tables of kernels: one after the other, or as they came.
constexpr const char* kernel_tables[] = {"KERNEL", "CONCURRENT_KERNEL"};

std::uint64_t hash_of_file(const std::string& path, std::uint64_t start) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::vector<char> bytes(1 << 16);
  std::uint64_t hash = start;
  while (file) {
    const std::size_t read = std::fread(bytes.data(), 1, bytes.size(), file.get());
    if (read == 0) break;
    hash = hash_of({bytes.data(), read}, hash);
  }
  return hash;
}

/// "2017-06-07T14:13:26.032Z"
std::string iso_time(std::int64_t ns) {
  const std::chrono::sys_time<std::chrono::seconds> second{
      std::chrono::seconds(ns / 1'000'000'000)};
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     ns / 1'000'000 % 1000);
}

/// The time from the first to the last activity, and where it is from.
struct Span {
  std::int64_t first_ns = 0, last_ns = 0;
  std::int64_t clock_ns = 0;  ///< the first time in the file, by whatever clock
  std::string source;
};

/// CUPTI's clock counts nanoseconds since 1970 on Linux. A file with another clock is dated by
/// itself.
Span span_of(const NvprofSource& source) {
  constexpr std::int64_t year_2007 = 1'167'609'600'000'000'000;  // CUDA 1.0
  std::int64_t first = NvprofSource::any, last = 0;
  const auto look_at = [&](std::string_view table, std::string_view start, std::string_view end) {
    if (!source.has(table)) return;
    const std::string columns = fmt::format("{} {}", start, end);
    Statement row(source.db(),
                  fmt::format("SELECT min(\"{0}\"), max(\"{1}\") FROM ({2}) WHERE \"{0}\" > 0",
                              start, end, source.select(table, columns, 0)));
    if (!row.step() || row.is_null(0)) return;
    first = std::min(first, source.number(row, 0, 1, NvprofSource::any));
    last = std::max(last, source.number(row, 1, 0, NvprofSource::any));
  };
  for (const char* table : {"KERNEL", "CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMSET", "RUNTIME",
                            "DRIVER", "UNIFIED_MEMORY_COUNTER"}) {
    look_at(table, "start", "end");
  }
  look_at("MARKER", "timestamp", "timestamp");
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  if (first >= year_2007 && first <= now) {
    return {first, std::max(first, last), first, "its first activity"};
  }
  struct stat status {};
  if (stat(source.path().c_str(), &status) != 0) return {};
  const std::int64_t changed = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000;
  return {changed, changed, first, "the file's last change, for its activities have no date"};
}

/// The only name of this kind of object that can be a program's; empty: there is none, or several.
std::string only_name(const NvprofSource& source, NvprofObject kind) {
  constexpr std::size_t longest = 200;
  std::set<std::string> names;
  Statement row(source.db(), source.select("NAME", "objectKind name", 2));
  while (row.step()) {
    if (source.number(row, 0, 0, NvprofSource::any_32) != static_cast<int>(kind)) continue;
    names.insert(source.text(source.number(row, 1, 0, NvprofSource::any)));
  }
  if (names.size() != 1) return "";
  const std::string& name = *names.begin();
  const bool has_odd_letters = std::any_of(name.begin(), name.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < ' ' || letter == '/' || letter == '\x7f';
  });
  return has_odd_letters || name.size() > longest || !is_utf8(name) ? "" : name;
}

/// The program, or the process that --process-name named.
std::string program_named_in(const NvprofSource& source) {
  if (!source.has("NAME")) return "";
  const std::string program = only_name(source, NvprofObject::unknown);
  return program.empty() ? only_name(source, NvprofObject::process) : program;
}

class Importer {
 public:
  Importer(NvprofSource& source, const std::string& target, const NvprofImport& options)
      : source_(source), options_(options), store_(target), values_(source) {}

  std::string run() {
    const Span span = span_of(source_);
    read_devices();
    program_ = options_.program;
    if (program_.empty()) program_ = program_named_in(source_);
    if (program_.empty()) program_ = std::filesystem::path(source_.path()).stem().string();
    Run record;
    record.backend = backend_;
    record.tool_version = "nvprof";
    record.host = "unknown";
    record.command = fmt::format("nvprof's file {} (tables of version {}; dated by {})",
                                 std::filesystem::path(source_.path()).filename().string(),
                                 source_.version(), span.source);
    run_ = store_.begin_run(record);
    read_kernels();
    NvprofActivities(source_, {&store_, run_, span.clock_ns,
                               [this](std::int64_t ordinal) { return device_of(ordinal); },
                               [this] { check_cancelled(); }})
        .read();
    store_.tell_kernels_apart(run_);
    store_.end_run(run_, RunOutcome::done, "");
    first_ns_ = span.first_ns;
    last_ns_ = span.last_ns;
    return fmt::format("its run has the date {}, of {}", iso_time(span.first_ns), span.source);
  }

  /// A store writes the UUID, time and process of today: this puts those of then.
  void make_of_then(const std::string& target) const {
    const Handle db = open_for_writing(target);
    const std::uint64_t a = hash_of_file(source_.path(), 0xcbf29ce484222325);
    Statement(db.get(),
              "UPDATE t_run SET uuid = ?2, started = ?3, ended = ?4, process_host = '', "
              "boot_id = '', process_namespace = '', process_id = 0, process_start = 0 "
              "WHERE run_id = ?1")
        .execute(run_, uuid_of(a, hash_of_file(source_.path(), a)), iso_time(first_ns_),
                 iso_time(last_ns_));
    Statement unit(db.get(), "UPDATE t_counter SET unit = ? WHERE name = ? AND unit IS NULL");
    for (const auto& [name, word] : values_.units()) {
      if (!word.empty()) unit.execute(word, name);
    }
  }

 private:
  void read_devices() {
    if (!source_.has("DEVICE")) return;
    constexpr std::string_view columns =
        "id name computeCapabilityMajor computeCapabilityMinor numMultiprocessors "
        "globalMemorySize l2CacheSize uuid";
    Statement row(source_.db(), source_.select("DEVICE", columns, 4));
    while (row.step()) {
      Device device;
      device.ordinal = static_cast<int>(source_.number(row, 0, 0, 1023));
      device.name = source_.text(source_.number(row, 1, 0, NvprofSource::any));
      if (device.name.starts_with("model sm_")) backend_ = "model";
      device.compute_capability =
          static_cast<int>(source_.number(row, 2, 0, 99) * 10 + source_.number(row, 3, 0, 9));
      device.multiprocessors = source_.optional_number(row, 4, 0, NvprofSource::any_32);
      device.memory_bytes = source_.optional_number(row, 5, 0, NvprofSource::any);
      device.l2_bytes = source_.optional_number(row, 6, 0, NvprofSource::any);
      device.uuid = uuid_of_bytes(row.text(7));
      known_devices_.emplace(device.ordinal, device);
    }
  }

  std::int64_t device_of(std::int64_t ordinal) {
    const auto [place, is_new] = devices_.try_emplace(ordinal, 0);
    if (!is_new) return place->second;
    Device device;
    device.ordinal = static_cast<int>(ordinal);
    device.name = "unknown";
    const auto known = known_devices_.find(ordinal);
    if (known != known_devices_.end()) device = known->second;
    device.backend = backend_;
    place->second = store_.add_device(run_, device);
    return place->second;
  }

  void check_cancelled() const {
    if (!options_.cancelled || !options_.cancelled()) return;
    throw Error(ExitCode::nothing, fmt::format("{} was not read to its end", source_.path()));
  }

  void read_kernels() {
    constexpr std::string_view columns =
        "start end deviceId correlationId name gridX gridY gridZ blockX blockY blockZ "
        "dynamicSharedMemory staticSharedMemory registersPerThread localMemoryPerThread";
    std::string sql;
    for (const char* table : kernel_tables) {
      if (!source_.has(table)) continue;
      sql += (sql.empty() ? "" : " UNION ALL ") + source_.select(table, columns, 12);
    }
    if (sql.empty()) return;
    Statement row(source_.db(), sql + " ORDER BY 1, 4");
    while (row.step()) {
      check_cancelled();
      const std::int64_t device = device_of(source_.number(row, 2, 0, 1023));
      keep(device, launch_of(row));
    }
    keep_alike();
    store_waiting();
  }

  /// As of a traced run: what was not counted is one launch for all that are alike, with a sample
  /// for each.
  void keep(std::int64_t device, Launch&& launch) {
    if (!launch.counters.empty()) {
      source_.charge(launch.kernel.size());
      return add(device, std::move(launch));
    }
    const std::string key =
        fmt::format("{} {} {} {} {} {} {} {} {}", device, launch.timing.has_value(),
                    fmt::join(launch.grid, " "), fmt::join(launch.block, " "),
                    launch.dynamic_shared_bytes, launch.static_shared_bytes.value_or(-1),
                    launch.registers.value_or(-1), launch.local_bytes.value_or(-1), launch.kernel);
    const auto [place, is_new] = alike_.try_emplace(key, alike_launches_.size());
    if (is_new) {
      source_.charge(2 * key.size());
      alike_launches_.emplace_back(device, std::move(launch));
    } else if (launch.timing) {
      alike_launches_[place->second].second.timing->samples_ns.push_back(
          launch.timing->samples_ns.front());
    }
  }

  void keep_alike() {
    for (auto& [device, launch] : alike_launches_) {
      if (launch.timing && launch.timing->samples_ns.size() > 1) {
        launch.timing->relative_confidence =
            median_interval(launch.timing->samples_ns).relative_half_width();
      }
      add(device, std::move(launch));
    }
  }

  void add(std::int64_t device, Launch&& launch) {
    if (device != waiting_device_ || waiting_.size() == batch) store_waiting();
    waiting_device_ = device;
    waiting_.push_back(std::move(launch));
  }

  Launch launch_of(const Statement& row) {
    Launch launch;
    launch.family = program_;
    const NvprofSource::KernelName& kernel =
        source_.kernel(source_.number(row, 4, 0, NvprofSource::any));
    launch.kernel = kernel.mangled;
    launch.variant = kernel.function;
    for (int i = 0; i < 3; ++i) {
      launch.grid[i] =
          static_cast<std::uint32_t>(source_.number(row, 5 + i, 0, NvprofSource::any_32));
      launch.block[i] =
          static_cast<std::uint32_t>(source_.number(row, 8 + i, 0, NvprofSource::any_32));
    }
    launch.dynamic_shared_bytes =
        static_cast<std::uint32_t>(source_.number(row, 11, 0, NvprofSource::any_32));
    launch.static_shared_bytes = source_.optional_number(row, 12, 0, NvprofSource::any_32);
    launch.registers = source_.optional_number(row, 13, 0, NvprofSource::any_32);
    launch.local_bytes = source_.optional_number(row, 14, 0, NvprofSource::any_32);
    launch.counters = values_.of(source_.number(row, 3, 0, NvprofSource::any));
    if (backend_ == "model") take_grade(launch.counters);
    add_duration(launch, source_.number(row, 0, 0, NvprofSource::any),
                 source_.number(row, 1, 0, NvprofSource::any));
    return launch;
  }

  /// A file that warpmeter wrote of the model's counts says nothing of their grades.
  static void take_grade(std::vector<Counter>& counters) {
    for (Counter& counter : counters) {
      if (!counter.value) continue;
      counter.grade = Grade::ptx;
      counter.reason = "nvprof's file does not say how far the model's count is exact";
    }
  }

  /// CUPTI writes two zeros where it has no times. While it counts, a kernel runs alone and several
  /// times: its duration is none of the program's own.
  static void add_duration(Launch& launch, std::int64_t start, std::int64_t end) {
    if (start == 0 || end < start) {
      launch.timing_reason = "nvprof recorded no time";
    } else if (launch.counters.empty()) {
      launch.timing = Timing{
          {static_cast<double>(end - start)}, CacheState::warm, 0, "the program's own launch"};
    } else {
      launch.timing_reason = "nvprof timed it while it counted: see duration_profiled";
      launch.counters.push_back(
          {"duration_profiled", static_cast<double>(end - start), Grade::measured, ""});
    }
  }

  void store_waiting() {
    if (!waiting_.empty()) store_.add_launches(run_, waiting_device_, waiting_);
    waiting_.clear();
  }

  NvprofSource& source_;
  const NvprofImport& options_;
  Store store_;
  NvprofValues values_;
  std::string program_, backend_ = "cupti";
  std::int64_t run_ = 0, first_ns_ = 0, last_ns_ = 0;
  std::map<std::int64_t, Device> known_devices_;        ///< by CUDA's number
  std::map<std::int64_t, std::int64_t> devices_;        ///< CUDA's number → the store's
  std::unordered_map<std::string, std::size_t> alike_;  ///< → place in the list
  std::vector<std::pair<std::int64_t, Launch>> alike_launches_;
  std::int64_t waiting_device_ = 0;
  std::vector<Launch> waiting_;
};

}  // namespace

bool is_nvprof_file(const std::string& path) {
  try {
    const Handle db = open_foreign(path);
    if (integer_of(db.get(), "PRAGMA application_id") == application_id) return false;
    return integer_of(db.get(),
                      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
                      "(name GLOB 'CUPTI_ACTIVITY_KIND_*' OR name = 'StringTable')") > 0;
  } catch (const Error&) {
    return false;  // the one who opens it as ours says why
  }
}

std::string import_nvprof_file(const std::string& path, const std::string& target,
                               const NvprofImport& options) {
  NvprofSource source(path);
  Importer importer(source, target, options);
  std::string remark = importer.run();
  importer.make_of_then(target);
  return remark;
}

}  // namespace warpmeter::schema
