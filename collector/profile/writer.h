// SPDX-License-Identifier: MIT
// Puts launches into the database on a thread of its own, one transaction a batch and device, while
// what the program sends goes on being read: writing a launch takes longer than reading it. Batches
// grow with what has come in the meantime.
//
// A database that fails must not harm the program, so the failure is kept, and nothing is written
// after it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "schema/store.h"

namespace warpmeter::profile {

/// The process, context, stream and call that a counted launch came from.
struct LaunchOrigin {
  pid_t process = 0;
  std::uint32_t context = 0, stream = 0, correlation = 0;
};
using LaunchOrigins = std::unordered_map<std::int64_t, LaunchOrigin>;  ///< by the launch's id

/// Launches of one device.
struct Batch {
  schema::Device device;
  std::vector<schema::Launch> launches;
  std::vector<std::size_t> places;    ///< numbers to find each by later; none, or one a launch
  std::vector<LaunchOrigin> origins;  ///< none, or one a launch
};

/// Rows of a trace, and the devices of its new shapes.
struct TraceBatch {
  schema::ActivityBatch rows;                          ///< without device ids
  std::vector<std::optional<schema::Device>> devices;  ///< one a new shape; nullopt: none
};

/// All that one write() takes.
struct Batches {
  std::vector<Batch> launches;
  TraceBatch trace;

  bool empty() const { return launches.empty() && trace.rows.empty(); }
};

class Writer {
 public:
  /// The run begins with its first row.
  Writer(std::shared_ptr<schema::Store> store, schema::Run run);

  bool is_busy() const;  ///< with the batches of the last write()
  /// Begins to write them, after those before. Returns at once when the writer is not busy.
  void write(Batches&& batches);
  /// Writes them after those before, on the caller's thread: the last ones.
  void write_all(Batches&& batches);
  /// Waits until all is written. Later text is for the time until the next write().
  void settle();

  std::optional<std::int64_t> run_id() const { return run_id_; }
  /// The ids of launches that have a place, by place; 0: not one of those that were stored.
  const std::vector<std::int64_t>& launch_ids() const { return launch_ids_; }
  const LaunchOrigins& origins() const { return origins_; }  ///< those that came with launches
  /// The ids of devices that have launches or activities, by UUID.
  const std::map<std::string, std::int64_t>& device_ids() const { return device_ids_; }
  const std::optional<Error>& failure() const { return failure_; }
  void fail(const Error& failure) { failure_ = failure; }
  schema::Store& store() { return *store_; }

 private:
  void put(Batches& batches);
  void put(const Batch& batch);
  void put(TraceBatch& batch);
  std::int64_t run();  ///< begins it if need be
  std::int64_t id_of(const schema::Device& device);

  const std::shared_ptr<schema::Store> store_;
  schema::Run run_;
  std::optional<std::int64_t> run_id_;
  std::optional<Error> failure_;
  std::map<std::string, std::int64_t> device_ids_;  ///< by UUID
  std::vector<std::int64_t> launch_ids_;
  LaunchOrigins origins_;
  std::future<void> writing_;  ///< last: its end is waited for before the others go
};

}  // namespace warpmeter::profile
