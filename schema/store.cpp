// SPDX-License-Identifier: MIT
// Writing. Every public call is one transaction; statements are prepared once and names that repeat
// (counters, reasons) are looked up once.
#include "schema/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/kernel_name.h"
#include "base/members.h"
#include "base/statistics.h"
#include "schema/alike/alike.h"
#include "schema/alike/written.h"
#include "schema/database.h"
#include "schema/process.h"
#include "schema/rows/explanations.h"
#include "schema/rows/interned.h"
#include "schema/rows/launch_parts.h"
#include "schema/rows/launch_rows.h"
#include "schema/rows/many_rows.h"
#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

/// A random UUID, version 4 (RFC 9562).
std::string new_uuid() {
  std::array<unsigned char, 16> random{};
  if (getentropy(random.data(), random.size()) != 0) {
    throw Error(ExitCode::file, "the system has no random numbers");
  }
  std::string uuid;
  for (std::size_t i = 0; i < random.size(); ++i) {
    unsigned byte = random[i];
    if (i == 6) byte = (byte & 0x0f) | 0x40;
    if (i == 8) byte = (byte & 0x3f) | 0x80;
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", byte);
  }
  return uuid;
}

const char* to_string(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::done:
      return "done";
    case RunOutcome::failed:
      return "failed";
    case RunOutcome::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

struct Store::Statements {
  using Values = ManyRows<std::int64_t, std::int64_t, std::optional<double>, Grade,
                          std::optional<std::int64_t>>;

  explicit Statements(sqlite3* handle)
      : db(handle),
        prepared(handle),
        counters(handle, "SELECT counter_id FROM t_counter WHERE name = ?",
                 "INSERT INTO t_counter (name) VALUES (?)"),
        reasons(handle, "SELECT reason_id FROM t_reason WHERE text = ?",
                "INSERT INTO t_reason (text) VALUES (?)"),
        launches(handle),
        values(handle, "t_value", "launch_id, counter_id, value, grade, reason_id"),
        interval(handle, insertion("t_interval", "launch_id, metric, low, high")),
        parts(handle),
        explanations(handle,
                     [this](const std::string& counter) { return counters.number_of(counter); }),
        activities(handle),
        timed(handle, "UPDATE t_launch SET timing_reason = NULL WHERE launch_id = ?"),
        forget_alike(handle,
                     "DELETE FROM t_alike WHERE run_id = (SELECT run_id FROM t_launch WHERE "
                     "launch_id = ?) RETURNING run_id"),
        mine(handle,
             "SELECT process_id = ?2 AND process_start = ?3 AND boot_id = ?4 FROM t_run "
             "WHERE run_id = ?1") {}

  /// A node that was given up may live on: what it measures after another took its run over would
  /// be there twice.
  void check_is_mine(std::int64_t run_id) {
    mine.bind(1, run_id);
    mine.bind(2, process.id);
    mine.bind(3, process.start_ticks);
    mine.bind(4, process.boot_id);
    const bool is_there = mine.step();
    const bool is_mine = is_there && mine.integer(0) != 0;
    mine.reset();
    if (is_mine) return;
    if (!is_there) {
      throw Error(ExitCode::file,
                  fmt::format("run {} was removed while it was written: this one ends", run_id));
    }
    throw Error(ExitCode::file,
                fmt::format("another process has taken over run {}: this one ends", run_id));
  }

  /// Their numbers, in the same order.
  std::vector<std::int64_t> insert(std::int64_t run_id, std::int64_t device_id,
                                   std::span<const Launch> records) {
    std::vector<std::int64_t> ids;
    ids.reserve(records.size());
    launches.write(run_id, device_id, records,
                   [&](std::int64_t id, std::uint64_t row, const Launch& record) {
                     written.begin_launch(row);
                     insert_parts(id, record);
                     written.end_launch(run_id, id, record);
                     ids.push_back(id);
                   });
    values.flush();
    explanations.flush();
    return ids;
  }

  /// All but the launch's own row.
  void insert_parts(std::int64_t id, const Launch& record) {
    parts.add_expectations(id, record);
    // A failed launch is never a measurement, whatever was read while it ran.
    if (record.outcome == LaunchOutcome::failed) return;
    insert_counters(id, record.counters);
    insert_intervals(id, record.intervals);
    if (record.timing && !record.timing->samples_ns.empty()) {
      parts.add_timing(id, *record.timing);
      written.add(static_cast<std::int64_t>(record.timing->cache));
    }
    parts.add_lines(id, record.lines);
    parts.add_instructions(id, record.instructions);
    parts.add_power(id, record.power);
    written.add(explanations.write(id, record.explanation).value_or(0));
  }

  void complete(const Completion& record) {
    // Lines, stalls and instructions leave launches alike.
    if (!record.counters.empty() || record.timing || record.measured) {
      forget_alike.bind(1, record.launch_id);
      while (forget_alike.step()) changed_runs.insert(forget_alike.integer(0));
    }
    insert_counters(record.launch_id, record.counters);
    values.flush();
    parts.add_lines(record.launch_id, record.lines);
    parts.add_stalls(record.launch_id, record.stalls);
    parts.add_instructions(record.launch_id, record.instructions);
    if (record.measured) explanations.add_measured(record.launch_id, *record.measured);
    if (!record.timing || record.timing->samples_ns.empty()) return;
    parts.add_timing(record.launch_id, *record.timing);
    timed.execute(record.launch_id);
  }

  /// In the order of their numbers, which is that of the table: each row goes to its end.
  void insert_counters(std::int64_t id, std::span<const Counter> records) {
    ordered.clear();
    for (const Counter& counter : records) {
      std::optional<std::int64_t> reason;
      if (!counter.reason.empty()) reason = reasons.number_of(counter.reason);
      const Grade grade = counter.value ? counter.grade : Grade::unavailable;
      ordered.emplace_back(id, counters.number_of(counter.name), counter.value, grade, reason);
    }
    std::sort(ordered.begin(), ordered.end(),
              [](const auto& a, const auto& b) { return std::get<1>(a) < std::get<1>(b); });
    for (const auto& row : ordered) {
      values.add(row);
      const auto& [launch, counter, number, grade, reason] = row;
      written.add(counter);
      written.add(static_cast<std::int64_t>(grade));
      written.add(reason.value_or(0));
      written.add(number.value_or(0));
    }
  }

  void insert_intervals(std::int64_t id, std::span<const Interval> records) {
    for (const Interval& record : records) {
      interval.execute(id, record.metric, record.low, record.high);
      written.add(std::hash<std::string>()(record.metric));
      written.add(record.low);
      written.add(record.high);
    }
  }

  /// Runs `write` as one transaction.
  template <class Write>
  void in_transaction(Write&& write) {
    try {
      if (is_in_one && sqlite3_get_autocommit(db) != 0) {
        throw Error(ExitCode::file,
                    "a part of the transaction failed, and the rest is not written");
      }
      Transaction transaction(db);
      explanations.forget();
      write();
      transaction.commit();
    } catch (...) {
      counters.forget();
      reasons.forget();
      values.forget();
      written.forget();
      throw;
    }
  }

  /// The same for very many rows of a run: they refer to what this process has added, to their run
  /// and to each other, and to look each of these up is a quarter of the time that they take. As a
  /// part of a transaction they are few, and the pragma would have all statements prepared anew.
  template <class Write>
  void in_bulk(std::int64_t run_id, Write&& write) {
    struct Unchecked {
      explicit Unchecked(sqlite3* handle) : handle_(handle) {
        execute(handle_, "PRAGMA foreign_keys = OFF");
      }
      ~Unchecked() { sqlite3_exec(handle_, "PRAGMA foreign_keys = ON", nullptr, nullptr, nullptr); }
      sqlite3* handle_;
    };
    std::optional<Unchecked> unchecked;
    if (sqlite3_get_autocommit(db) != 0) unchecked.emplace(db);
    in_transaction([&] {
      check_is_mine(run_id);
      write();
    });
  }

  sqlite3* db;
  bool is_in_one = false;  ///< in_one_transaction() goes on; SQLite may have rolled it back
  PreparedOnce prepared;   ///< statements of which a run has few
  Interned counters, reasons;
  LaunchRows launches;
  Values values;
  std::vector<Values::Row> ordered;  ///< those of one launch
  WrittenRuns written;
  Statement interval;
  LaunchParts parts;
  ExplanationWriter explanations;
  ActivityWriter activities;
  Statement timed, forget_alike, mine;
  std::set<std::int64_t> changed_runs;  ///< those whose launches were alike before a completion
  ProcessIdentity process = ProcessIdentity::of_this_process();
};

Store::Store(const std::string& path)
    : db_(open_for_writing(path)), statements_(std::make_unique<Statements>(db_.get())) {}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

void Store::in_one_transaction(const std::function<void()>& writes) {
  statements_->in_transaction([&] {
    struct Within {
      explicit Within(bool& flag) : flag_(flag) { flag_ = true; }
      ~Within() { flag_ = false; }
      bool& flag_;
    };
    const Within within(statements_->is_in_one);
    writes();
  });
}

void Store::write_as(const ProcessIdentity& owner) { statements_->process = owner; }

std::int64_t Store::begin_run(const Run& run) {
  const ProcessIdentity process = ProcessIdentity::of_this_process();
  const auto statement = statements_->prepared.get(
      "INSERT INTO t_run (uuid, started, outcome, backend, tool_version, git_revision, "
      "cuda_version, host, command, label, process_host, boot_id, process_namespace, process_id, "
      "process_start, planned_launches) VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), "
      "'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::int64_t id = 0;
  statements_->in_transaction([&] {
    check_label_is_free(db_.get(), run.label);
    statement->execute(new_uuid(), run.backend, run.tool_version, run.git_revision,
                       run.cuda_version, run.host, run.command, text_or_null(run.label),
                       process.host, process.boot_id, process.name_space, process.id,
                       process.start_ticks, run.planned_launches);
    id = sqlite3_last_insert_rowid(db_.get());
  });
  statements_->written.begin(id);
  if (!run.environment.empty()) add_environment(id, run);
  return id;
}

std::string Store::uuid_of(std::int64_t run_id) const {
  const auto statement = statements_->prepared.get("SELECT uuid FROM t_run WHERE run_id = ?");
  statement->bind(1, run_id);
  return statement->step() ? statement->text(0) : "";
}

std::int64_t number_of_device(PreparedOnce& prepared, const Device& device) {
  const auto find = prepared.get(
      "SELECT device_id FROM t_device WHERE backend = ? AND ordinal = ? AND name = ? "
      "AND chip = ? AND compute_capability = ? AND uuid = ? AND driver = ? "
      "AND multiprocessors IS ? AND memory_bytes IS ? AND l2_bytes IS ?");
  const auto insert =
      prepared.get(insertion("t_device",
                             "backend, ordinal, name, chip, compute_capability, uuid, "
                             "driver, multiprocessors, memory_bytes, l2_bytes"));
  // The columns are the members of a device.
  const auto bind = [&](Statement& statement) {
    with_members(device, [&](const auto&... member) {
      int index = 0;
      (statement.bind(++index, member), ...);
    });
  };
  bind(*find);
  if (find->step()) return find->integer(0);
  bind(*insert);
  insert->step();
  return sqlite3_last_insert_rowid(prepared.db());
}

std::int64_t Store::add_device(std::int64_t run_id, const Device& device) {
  std::int64_t id = 0;
  statements_->in_transaction([&] {
    PreparedOnce& prepared = statements_->prepared;
    id = number_of_device(prepared, device);
    prepared.get("INSERT OR IGNORE INTO t_run_device (run_id, device_id) VALUES (?, ?)")
        ->execute(run_id, id);
  });
  return id;
}

void Store::add_state(std::int64_t run_id, std::int64_t device_id, const DeviceState& state) {
  const bool known = state.unavailable.empty();
  Statement statement(
      db_.get(),
      "INSERT OR REPLACE INTO t_device_state (run_id, device_id, phase, "
      "sm_clock_mhz, memory_clock_mhz, temperature_c, power_w, throttle_reasons, "
      "ecc, mig, persistence, unavailable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  statements_->in_transaction([&] {
    statement.execute(
        run_id, device_id, state.phase, state.sm_clock_mhz, state.memory_clock_mhz,
        state.temperature_c, state.power_w,
        known ? std::optional<std::string_view>(state.throttle_reasons) : std::nullopt, state.ecc,
        state.mig, state.persistence, text_or_null(state.unavailable));
    Statement(db_.get(),
              "DELETE FROM t_disturbance WHERE run_id = ? AND device_id = ? AND phase = ?")
        .execute(run_id, device_id, state.phase);
    Statement disturbance(
        db_.get(),
        "INSERT OR IGNORE INTO t_disturbance (run_id, device_id, phase, kind, process_id, what, "
        "reason, is_felt, process_name, memory_mib, busy) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)");
    for (const Disturbance& one : state.disturbances) {
      disturbance.execute(run_id, device_id, state.phase, one.kind, one.process_id, one.what,
                          one.reason, one.is_felt, text_or_null(one.process_name), one.memory_mib,
                          one.busy);
    }
  });
}

void Store::add_environment(std::int64_t run_id, const Run& run) {
  Statement statement(db_.get(),
                      "INSERT OR IGNORE INTO t_environment (run_id, name, value) VALUES (?, ?, ?)");
  statements_->in_transaction([&] {
    for (const auto& [name, value] : run.environment) statement.execute(run_id, name, value);
  });
}

std::int64_t Store::add_launch(std::int64_t run_id, std::int64_t device_id, const Launch& launch) {
  std::int64_t id = 0;
  statements_->in_transaction([&] {
    id = statements_->insert(run_id, device_id, {&launch, 1}).front();
  });
  return id;
}

std::vector<std::int64_t> Store::add_launches(std::int64_t run_id, std::int64_t device_id,
                                              std::span<const Launch> launches) {
  std::vector<std::int64_t> ids;
  statements_->in_bulk(run_id, [&] { ids = statements_->insert(run_id, device_id, launches); });
  return ids;
}

void Store::add_activities(std::int64_t run_id, const ActivityBatch& batch) {
  statements_->in_bulk(run_id, [&] { statements_->activities.write(run_id, batch); });
}

void Store::complete_launches(std::span<const Completion> completions) {
  statements_->written.forget();
  statements_->in_transaction([&] {
    for (const Completion& completion : completions) statements_->complete(completion);
  });
  for (const std::int64_t run : std::exchange(statements_->changed_runs, {})) {
    keep_alike(db_.get(), run);
  }
}

void Store::add_sources(std::int64_t run_id,
                        std::span<const std::pair<std::string, std::string>> sources) {
  Statement statement(db_.get(),
                      "INSERT OR REPLACE INTO t_source (run_id, file, text) VALUES (?, ?, ?)");
  statements_->in_transaction([&] {
    for (const auto& [file, text] : sources) statement.execute(run_id, file, text);
  });
}

void Store::add_codes(std::int64_t run_id, std::span<const CodeText> codes) {
  Statement statement(db_.get(),
                      "INSERT OR REPLACE INTO t_code (run_id, file, kernel, form, text) VALUES (?, "
                      "?, ?, ?, ?)");
  statements_->in_transaction([&] {
    for (const CodeText& one : codes) {
      statement.execute(run_id, one.file, one.kernel, one.form, one.text);
    }
  });
}

void Store::tell_kernels_apart(std::int64_t run_id) {
  if (!statements_->written.may_share_names(run_id)) return;
  // A graph is named after its kernels, and is none itself.
  std::set<std::string> kernels;
  Statement find(db_.get(),
                 "SELECT DISTINCT kernel FROM t_launch WHERE run_id = ?1 AND variant IN ("
                 "SELECT variant FROM t_launch WHERE run_id = ?1 GROUP BY variant "
                 "HAVING count(DISTINCT kernel) > 1 OR length(CAST(variant AS BLOB)) > ?2) "
                 "AND kernel NOT LIKE 'graph(%'");
  find.bind(1, run_id);
  find.bind(2, static_cast<std::int64_t>(longest_shown_name));
  while (find.step()) kernels.insert(find.text(0));
  if (kernels.empty()) return;
  Statement name(db_.get(), "UPDATE t_launch SET variant = ? WHERE run_id = ? AND kernel = ?");
  statements_->in_transaction([&] {
    for (const auto& [kernel, variant] : distinct_names(kernels)) {
      name.execute(variant, run_id, kernel);
    }
  });
}

void Store::end_run(std::int64_t run_id, RunOutcome outcome, const std::string& reason) {
  if (const std::vector<AlikePart>* parts = statements_->written.alike(run_id)) {
    keep_alike(db_.get(), run_id, *parts);
  } else {
    keep_alike(db_.get(), run_id);
  }
  const auto statement = statements_->prepared.get(
      "UPDATE t_run SET outcome = ?, reason = ?, "
      "ended = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE run_id = ?");
  statements_->in_transaction(
      [&] { statement->execute(to_string(outcome), text_or_null(reason), run_id); });
}

}  // namespace warpmeter::schema
