// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/export.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/temporary.h"
#include "schema/catalogue.h"
#include "schema/figures/figures.h"
#include "schema/figures/value.h"
#include "schema/nvprof_file/ids.h"
#include "schema/nvprof_file/lines.h"
#include "schema/nvprof_file/tables.h"
#include "schema/nvprof_file/words.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {
namespace {

using Row = std::span<const Value>;

/// The columns of an activity, in the order of the statement that reads them.
namespace column {
enum : std::size_t {
  kind,
  name,
  symbol,
  start,
  duration,
  process,
  thread,
  device,
  context,
  stream,
  correlation,
  grid,
  block = grid + 3,
  registers = block + 3,
  static_shared,
  dynamic_shared,
  bytes,
  faults,
  address,
  source_memory,
  target_memory,
  source_device,
  source_context,
  target_device,
  target_context
};
}  // namespace column

class Exporter {
 public:
  Exporter(const Reader& reader, std::int64_t run_id, sqlite3* db,
           std::set<std::string, std::less<>> names, const NvprofNaming& naming,
           const NvprofSourceLevel& source_level)
      : reader_(reader),
        run_({{":run", run_id}}),
        run_id_(run_id),
        db_(db),
        names_(std::move(names)),
        naming_(naming),
        source_level_(source_level),
        texts_(db) {}

  NvprofExported write() {
    begin_ns_ =
        integer_in(reader_
                       .query("SELECT CAST(strftime('%s', started) AS INTEGER) * 1000000000 "
                              "+ CAST(substr(started, 21, 3) AS INTEGER) * 1000000 FROM runs "
                              "WHERE run_id = :run",
                              run_)
                       .rows.at(0)
                       .at(0));
    write_devices();
    write_calls();
    write_activities();
    write_contexts();
    write_names();
    write_launches();
    if (source_level_.is_any()) {
      write_nvprof_lines(reader_, run_, db_, texts_, counted_, source_level_);
    }
    return exported_;
  }

 private:
  struct Times {
    std::int64_t start = 0, end = 0;
  };
  Times times_of(const Value& start, const Value& duration) {
    if (std::holds_alternative<std::monostate>(start)) {
      exported_.has_unknown_times = true;
      return {};
    }
    const std::int64_t begin = begin_ns_ + integer_in(start);
    return {begin, begin + integer_in(duration)};
  }

  void write_devices() {
    NvprofRows rows(
        db_, "DEVICE",
        {"id", "name", "computeCapabilityMajor", "computeCapabilityMinor", "numMultiprocessors",
         "globalMemorySize", "l2CacheSize", "numThreadsPerWarp", "uuid"});
    reader_.each(
        "SELECT ordinal, name, compute_capability, multiprocessors, memory_bytes, l2_bytes, uuid "
        "FROM devices WHERE run_id = :run ORDER BY ordinal",
        run_, [&](Row row) {
          const std::int64_t capability = integer_in(row[2]);
          const std::string uuid = bytes_of_uuid(text_in(row[6]));
          rows.add(integer_in(row[0]), texts_.number_of(text_in(row[1])), capability / 10,
                   capability % 10, integer_in(row[3]), integer_in(row[4]), integer_in(row[5]), 32,
                   Blob{uuid});
        });
  }

  void write_calls() {
    const std::vector<std::string_view> columns = {"cbid",      "start",    "end",
                                                   "processId", "threadId", "correlationId"};
    NvprofRows runtime(db_, "RUNTIME", columns), driver(db_, "DRIVER", columns);
    reader_.each(
        "SELECT name, start_ns, duration_ns, process_id, thread_id, correlation FROM activities "
        "WHERE run_id = :run AND kind = 'call' ORDER BY activity_id",
        run_, [&](Row row) {
          const std::string function = text_in(row[0]);
          const NvprofCall call = nvprof_call_number(function);
          const Times times = times_of(row[1], row[2]);
          const std::int64_t correlation = integer_in(row[5]);
          (call.is_runtime ? runtime : driver)
              .add(call.number, times.start, times.end, integer_in(row[3]), integer_in(row[4]),
                   correlation);
          if (function.find("Async") != std::string::npos) asynchronous_.insert(correlation);
          last_correlation_ = std::max(last_correlation_, correlation);
        });
    exported_.calls = runtime.rows() + driver.rows();
  }

  struct Tables;
  void write_activities();
  void write_kernel(Tables& tables, Row row);
  void write_copy(Tables& tables, Row row);
  void write_range(Tables& tables, Row row);
  void write_managed(Tables& tables, Row row);
  void write_allocation(Tables& tables, Row row);

  void write_contexts() {
    NvprofRows rows(db_, "CONTEXT", {"contextId", "deviceId", "computeApiKind", "nullStreamId"});
    constexpr int cuda = 1;  // CUPTI_ACTIVITY_COMPUTE_API_CUDA
    for (const auto& [context, stream] : first_streams_) {
      rows.add(context.second, context.first, cuda, stream);
    }
  }

  void write_names();
  void write_launches();
  void write_values(NvprofRows& metrics, NvprofRows& events, std::int64_t launch);

  const Reader& reader_;
  Parameters run_;
  std::int64_t run_id_;
  sqlite3* db_;
  std::set<std::string, std::less<>> names_;  ///< the chosen metrics and events; empty: all
  const NvprofNaming& naming_;
  const NvprofSourceLevel source_level_;
  NvprofTexts texts_;
  NvprofExported exported_;
  std::int64_t begin_ns_ = 0, last_correlation_ = 0, markers_ = 0;
  std::unordered_set<std::int64_t> asynchronous_;  ///< correlations of calls that do not wait
  /// (device, context) → the lowest number of its streams: the default stream is the first.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> first_streams_;

  std::map<std::int64_t, std::vector<std::pair<std::string, double>>> values_;  ///< by launch
  NvprofLaunches counted_;  ///< launches with a row of KERNEL
};

struct Exporter::Tables {
  explicit Tables(sqlite3* db)
      : kernels(db, "CONCURRENT_KERNEL",
                {"start", "end", "completed", "deviceId", "contextId", "streamId", "correlationId",
                 "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                 "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"}),
        copies(db, "MEMCPY",
               {"copyKind", "srcKind", "dstKind", "flags", "bytes", "start", "end", "deviceId",
                "contextId", "streamId", "correlationId"}),
        peer_copies(db, "MEMCPY2",
                    {"copyKind", "srcKind", "dstKind", "flags", "bytes", "start", "end", "deviceId",
                     "contextId", "streamId", "correlationId", "srcDeviceId", "srcContextId",
                     "dstDeviceId", "dstContextId"}),
        sets(db, "MEMSET",
             {"bytes", "start", "end", "deviceId", "contextId", "streamId", "correlationId",
              "memoryKind"}),
        markers(db, "MARKER", {"flags", "timestamp", "id", "objectKind", "objectId", "name"}),
        managed(db, "UNIFIED_MEMORY_COUNTER",
                {"counterKind", "value", "start", "end", "address", "srcId", "dstId", "streamId",
                 "processId"}),
        allocations(db, "MEMORY",
                    {"memoryKind", "address", "bytes", "start", "end", "processId", "deviceId",
                     "contextId"}) {}
  NvprofRows kernels, copies, peer_copies, sets, markers, managed, allocations;
};

void Exporter::write_activities() {
  Tables tables(db_);
  reader_.each(
      "SELECT kind, name, symbol, start_ns, duration_ns, process_id, thread_id, device_ordinal, "
      "context, stream, correlation, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, "
      "static_shared_bytes, dynamic_shared_bytes, bytes, faults, address, source_memory, "
      "target_memory, source_device, source_context, target_device, target_context "
      "FROM activities WHERE run_id = :run AND kind <> 'call' ORDER BY activity_id",
      run_, [&](Row row) {
        const std::string what = text_in(row[column::kind]);
        if (!std::holds_alternative<std::monostate>(row[column::stream])) {
          const auto place =
              first_streams_
                  .try_emplace({integer_in(row[column::device]), integer_in(row[column::context])},
                               integer_in(row[column::stream]))
                  .first;
          place->second = std::min(place->second, integer_in(row[column::stream]));
        }
        last_correlation_ = std::max(last_correlation_, integer_in(row[column::correlation]));
        if (what == "kernel") return write_kernel(tables, row);
        if (what == "copy" || what == "set") return write_copy(tables, row);
        if (what == "range") return write_range(tables, row);
        if (what == "allocation") return write_allocation(tables, row);
        return write_managed(tables, row);
      });
  exported_.kernels = tables.kernels.rows();
  exported_.copies = tables.copies.rows() + tables.peer_copies.rows();
  exported_.sets = tables.sets.rows();
  exported_.ranges = markers_;
  exported_.managed = tables.managed.rows();
  exported_.allocations = tables.allocations.rows();
}

/// One that was never freed has an end of 0.
void Exporter::write_allocation(Tables& tables, Row row) {
  const Times times = times_of(row[column::start], row[column::duration]);
  const bool is_freed = !std::holds_alternative<std::monostate>(row[column::duration]);
  tables.allocations.add(nvprof_memory_kind(text_in(row[column::target_memory])),
                         integer_in(row[column::address]), integer_in(row[column::bytes]),
                         times.start, is_freed ? times.end : std::int64_t{0},
                         integer_in(row[column::process]), integer_in(row[column::device]),
                         integer_in(row[column::context]));
}

void Exporter::write_kernel(Tables& tables, Row row) {
  const Times times = times_of(row[column::start], row[column::duration]);
  const std::string mangled = text_in(row[column::symbol]);
  tables.kernels.add(times.start, times.end, times.end, integer_in(row[column::device]),
                     integer_in(row[column::context]), integer_in(row[column::stream]),
                     integer_in(row[column::correlation]),
                     texts_.number_of(mangled.empty() ? text_in(row[column::name]) : mangled),
                     integer_in(row[column::grid]), integer_in(row[column::grid + 1]),
                     integer_in(row[column::grid + 2]), integer_in(row[column::block]),
                     integer_in(row[column::block + 1]), integer_in(row[column::block + 2]),
                     integer_in(row[column::registers]), integer_in(row[column::static_shared]),
                     integer_in(row[column::dynamic_shared]));
}

void Exporter::write_copy(Tables& tables, Row row) {
  const Times times = times_of(row[column::start], row[column::duration]);
  const std::int64_t size = integer_in(row[column::bytes]),
                     on_device = integer_in(row[column::device]),
                     in_context = integer_in(row[column::context]),
                     in_stream = integer_in(row[column::stream]),
                     caused_by = integer_in(row[column::correlation]);
  const std::int64_t target = nvprof_memory_kind(text_in(row[column::target_memory]));
  if (text_in(row[column::kind]) == "set") {
    return tables.sets.add(size, times.start, times.end, on_device, in_context, in_stream,
                           caused_by, target);
  }
  const std::int64_t direction = nvprof_copy_kind(text_in(row[column::name]));
  const std::int64_t source = nvprof_memory_kind(text_in(row[column::source_memory]));
  const bool is_asynchronous = asynchronous_.contains(caused_by);
  if (std::holds_alternative<std::monostate>(row[column::source_device])) {
    return tables.copies.add(direction, source, target, is_asynchronous, size, times.start,
                             times.end, on_device, in_context, in_stream, caused_by);
  }
  tables.peer_copies.add(
      direction, source, target, is_asynchronous, size, times.start, times.end, on_device,
      in_context, in_stream, caused_by, integer_in(row[column::source_device]),
      integer_in(row[column::source_context]), integer_in(row[column::target_device]),
      integer_in(row[column::target_context]));
}

/// Two markers with one number. A range is an object of kind 2, a thread: the process in 4 bytes,
/// the thread in 8.
void Exporter::write_range(Tables& tables, Row row) {
  constexpr int begins = 2, ends = 4, a_thread = 2;
  const Times times = times_of(row[column::start], row[column::duration]);
  const std::string thread_id =
      little_endian(static_cast<std::uint64_t>(integer_in(row[column::process])), 4) +
      little_endian(static_cast<std::uint64_t>(integer_in(row[column::thread])), 8);
  ++markers_;
  tables.markers.add(begins, times.start, markers_, a_thread, Blob{thread_id},
                     texts_.number_of(text_in(row[column::name])));
  tables.markers.add(ends, times.end, markers_, a_thread, Blob{thread_id}, 0);
}

void Exporter::write_managed(Tables& tables, Row row) {
  const std::int64_t counter =
      nvprof_managed_kind(text_in(row[column::kind]), text_in(row[column::name]));
  if (counter == 0) return;
  const Times times = times_of(row[column::start], row[column::duration]);
  constexpr int cpu_fault = 3, gpu_fault = 4;  // its value is where the program was
  const std::int64_t amount =
      integer_in(row[counter == gpu_fault ? column::faults : column::bytes]);
  tables.managed.add(counter, counter == cpu_fault ? 0 : amount, times.start, times.end,
                     integer_in(row[column::address]), integer_in(row[column::source_device]),
                     integer_in(row[column::target_device]), integer_in(row[column::stream]),
                     integer_in(row[column::process]));
}

/// An object is a process and a thread, in 4 bytes and 8, or a device, a context and a stream.
void Exporter::write_names() {
  NvprofRows rows(db_, "NAME", {"objectKind", "objectId", "name"});
  const auto add = [&](NvprofObject kind, const std::string& object, const std::string& name) {
    if (!name.empty()) {
      rows.add(static_cast<int>(kind), Blob{object}, texts_.number_of(name));
    }
  };
  const auto word = [](std::int64_t number) {
    return little_endian(static_cast<std::uint64_t>(number), 4);
  };
  const std::string nothing(8, '\0');
  reader_.each("SELECT min(family) FROM launches WHERE run_id = :run", run_,
               [&](Row row) { add(NvprofObject::unknown, word(0) + nothing, text_in(row[0])); });
  for (const NvprofNaming::Thread& thread : naming_.threads) {
    add(NvprofObject::thread, word(thread.process) + little_endian(thread.thread, 8), thread.name);
  }
  for (const auto& [device, name] : naming_.devices) {
    add(NvprofObject::device, word(device) + nothing, name);
  }
  if (!naming_.process && !naming_.context && !naming_.stream) return;
  reader_.each("SELECT DISTINCT process_id FROM activities WHERE run_id = :run ORDER BY 1", run_,
               [&](Row row) {
                 const std::int64_t process = integer_in(row[0]);
                 if (naming_.process) {
                   add(NvprofObject::process, word(process) + nothing, naming_.process(process));
                 }
               });
  reader_.each(
      "SELECT DISTINCT process_id, device_ordinal, context FROM activities WHERE run_id = :run "
      "AND context IS NOT NULL ORDER BY 1, 2, 3",
      run_, [&](Row row) {
        if (!naming_.context) return;
        add(NvprofObject::context, word(integer_in(row[1])) + word(integer_in(row[2])) + word(0),
            naming_.context(integer_in(row[0]), integer_in(row[2])));
      });
  if (!naming_.stream) return;
  reader_.each(
      "SELECT DISTINCT process_id, device_ordinal, context, stream FROM activities WHERE run_id = "
      ":run AND context IS NOT NULL AND stream IS NOT NULL ORDER BY 1, 2, 3, 4",
      run_, [&](Row row) {
        add(NvprofObject::stream,
            word(integer_in(row[1])) + word(integer_in(row[2])) + word(integer_in(row[3])),
            naming_.stream(integer_in(row[0]), integer_in(row[2]), integer_in(row[3])));
      });
}

/// Launches that were counted, or of an untraced run: nvprof's kernels that ran one after the
/// other.
void Exporter::write_launches() {
  each_figure(reader_, run_id_, [&](const Figure& figure) {
    if (!figure.value) return;
    const bool is_chosen = names_.empty() || names_.contains(figure.metric);
    if (is_chosen && (nvprof_metric_number(figure.metric) || nvprof_event_number(figure.metric))) {
      values_[figure.launch_id].push_back({std::string(figure.metric), *figure.value});
    } else if (figure.metric.find("duration") == std::string_view::npos) {
      ++exported_.left_out;
    }
  });
  const bool is_traced = exported_.kernels > 0;
  if (is_traced && values_.empty()) return;
  NvprofRows kernels(
      db_, "KERNEL",
      {"deviceId", "correlationId", "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
       "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"});
  NvprofRows metrics(db_, "METRIC", {"id", "value", "correlationId"});
  NvprofRows events(db_, "EVENT", {"id", "value", "correlationId"});
  reader_.each(
      "SELECT l.launch_id, d.ordinal, l.kernel, l.grid_x, l.grid_y, l.grid_z, l.block_x, "
      "l.block_y, l.block_z, l.registers, l.static_shared_bytes, l.dynamic_shared_bytes, "
      "l.local_bytes FROM t_launch l JOIN t_device d ON d.device_id = l.device_id "
      "WHERE l.run_id = :run AND l.outcome = 'done' ORDER BY l.launch_id",
      run_, [&](Row row) {
        const std::int64_t launch = integer_in(row[0]);
        if (is_traced && !values_.contains(launch)) return;
        ++last_correlation_;
        kernels.add(integer_in(row[1]), last_correlation_, texts_.number_of(text_in(row[2])),
                    integer_in(row[3]), integer_in(row[4]), integer_in(row[5]), integer_in(row[6]),
                    integer_in(row[7]), integer_in(row[8]), integer_in(row[9]), integer_in(row[10]),
                    integer_in(row[11]), integer_in(row[12]));
        write_values(metrics, events, launch);
        if (source_level_.is_any()) counted_[launch] = {last_correlation_, text_in(row[2])};
      });
  exported_.values = metrics.rows() + events.rows();
  exported_.kernels += kernels.rows();
  exported_.has_unknown_times |= kernels.rows() > 0;
}

void Exporter::write_values(NvprofRows& metrics, NvprofRows& events, std::int64_t launch) {
  const auto found = values_.find(launch);
  if (found == values_.end()) return;
  for (const auto& [name, value] : found->second) {
    if (const auto metric = nvprof_metric_number(name)) {
      const std::optional<std::uint64_t> bits = nvprof_bits(name, metric->form, value);
      if (bits) metrics.add(metric->id, Blob{little_endian(*bits, 8)}, last_correlation_);
      exported_.left_out += bits ? 0 : 1;
    } else {
      events.add(*nvprof_event_number(name), std::llround(value), last_correlation_);
    }
  }
}

/// SQLite builds the file, and then it takes its place.
void copy_to(const Destination& destination, const std::string& from) {
  Output target(destination);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> source(std::fopen(from.c_str(), "rb"),
                                                               std::fclose);
  std::vector<char> buffer(1 << 20);
  while (source) {
    const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), source.get());
    if (read == 0 || !target.write({buffer.data(), read})) break;
  }
  target.finish();
}

}  // namespace

NvprofExported export_nvprof_file(const Reader& reader, std::int64_t run_id,
                                  const Destination& destination,
                                  std::span<const std::string> names, const NvprofNaming& naming,
                                  const NvprofSourceLevel& source_level) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "nvprof.db").string();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  Handle db = no_handle();
  db.reset(opened);
  if (code != SQLITE_OK) throw file_error(opened, file);
  execute(opened, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  create_nvprof_tables(opened);
  const NvprofExported exported =
      Exporter(reader, run_id, opened, {names.begin(), names.end()}, naming, source_level).write();
  create_nvprof_indexes(opened);
  execute(opened, "COMMIT");
  db.reset();
  copy_to(destination, file);
  return exported;
}

}  // namespace warpmeter::schema
