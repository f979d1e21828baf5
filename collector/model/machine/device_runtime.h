// SPDX-License-Identifier: MIT
// CUDA's runtime on the device: what kernels launch, and what they ask.
//
// A kernel's launches wait until its own grid has ended, which is one of the orders that streams
// allow: nothing in a kernel can wait for what it launched. Then they run in the order in which
// they were made, each with all that it launches itself before the next; the tail launches follow.
// So a stream's work keeps its order, an event is recorded before who waits for it, and a grid is
// complete when its children are. Errors and limits are those of an H100 (driver 580).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/geometry.h"
#include "collector/model/machine/device_calls.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

/// Whoever runs kernels: what it knows of them and of the device.
class KernelHost {
 public:
  virtual ~KernelHost() = default;

  /// Ready to run; null: it cannot, and the host has said why.
  virtual const Program* kernel(const std::string& name) = 0;
  virtual std::uint32_t most_dynamic_shared_bytes(const std::string& kernel) = 0;
  /// The bytes of cudaFuncAttributes; empty: it cannot run.
  virtual std::vector<std::byte> attributes_of(const std::string& kernel) = 0;
  virtual std::optional<int> blocks_of_multiprocessor(const std::string& kernel, int threads,
                                                      std::uint64_t shared_bytes) = 0;
  /// nullopt for one that there is not.
  virtual std::optional<int> device_attribute(int which) = 0;
  virtual std::optional<std::uint64_t> limit(int which) = 0;
  /// Sets the condition of a conditional node of the graph that the kernel is in.
  virtual void set_condition(std::uint64_t handle, std::uint32_t value) = 0;
  /// `how`: one of the streams that cudaGraphLaunch takes in kernels. An error, or 0; an illegal
  /// address ends the kernel.
  virtual int launch_graph(std::uint64_t graph, std::uint64_t how) = 0;
  /// That the kernel is in; 0: none.
  virtual std::uint64_t graph() = 0;
  virtual std::string error_name(int error) = 0;
  virtual std::string error_text(int error) = 0;
};

/// A grid that a kernel has launched.
struct ChildGrid {
  std::string kernel;
  Geometry geometry;
  std::vector<std::byte> parameters;
};

class DeviceRuntime {
 public:
  /// For one launch of the host. `most_pending`: tail launches that a grid may have.
  DeviceRuntime(KernelHost& host, DeviceMemory& memory, std::uint64_t most_pending);
  ~DeviceRuntime();
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;

  /// The grid that runs next, now that the last one has ended; nothing: all are complete. Copies
  /// and sets before it are done on the way.
  std::optional<ChildGrid> next();
  /// After next(): where a copy or set led nowhere.
  std::optional<std::uint64_t> wrong_address() const { return wrong_address_; }
  /// True if the launched graph is none for kernels.
  bool is_wrong_graph() const { return is_wrong_graph_; }
  /// Something was copied, set or asked for: hardware counts loads and stores of the runtime's own
  /// for that, which the model does not know.
  bool has_own_accesses() const { return has_own_accesses_; }

  /// A thread of the grid, and its launch in the grid's program.
  struct LaunchingPlace {
    std::uint64_t thread = 0;
    std::uint32_t instruction = 0;
    bool operator<(const LaunchingPlace& other) const {
      return std::tie(thread, instruction) < std::tie(other.thread, other.instruction);
    }
  };
  /// Launches at one place that the runtime refused; the thread has not asked for the error.
  struct RefusedLaunches {
    const std::string* kernel = nullptr;  ///< the first one, named in the caller's program
    Geometry geometry;                    ///< the first one's
    std::uint64_t times = 0;
  };
  /// By the grid that has ended; before next().
  const std::map<LaunchingPlace, RefusedLaunches>& refused() const { return refused_; }

  /// The answer to a call by a thread of the grid that runs; `out` stands for its memory.
  struct Caller {
    std::uint64_t thread = 0;  ///< the thread of the grid
    std::uint32_t instruction = 0;
    const Program* program = nullptr;
    /// Writes what an argument points to; false: nowhere.
    virtual bool write(std::uint64_t address, const void* bytes, std::size_t count) = 0;
    virtual bool read(std::uint64_t address, void* bytes, std::size_t count) = 0;
    virtual void freed() = 0;  ///< memory has gone that accesses may remember
    virtual ~Caller() = default;
  };
  std::uint64_t answer(Caller& caller, const DeviceCall& call, const std::uint64_t* arguments);

 private:
  struct Box {
    std::uint64_t to = 0, from = 0, width = 0, height = 1, depth = 1;
    std::uint64_t to_pitch = 0, from_pitch = 0, to_rows = 1, from_rows = 1;
    std::optional<std::uint8_t> value;  ///< the value of a set, which has no `from`
  };
  struct Prepared {
    ChildGrid grid;
    std::uint32_t bytes = 0;  ///< the bytes of its parameters
  };
  using Item = std::variant<ChildGrid, Box>;

  int asked(Caller& caller, DeviceFunction function, const std::uint64_t* a);
  int copied(Caller& caller, DeviceFunction function, const std::uint64_t* a);
  int launched(std::uint64_t buffer, std::uint64_t stream);
  std::uint64_t prepared(Caller& caller, std::uint64_t kernel, const Geometry& geometry,
                         int& error);
  const std::string* name_of(const Caller& caller, std::uint64_t kernel) const;
  int give(std::uint64_t stream, Item item);
  std::uint64_t take_bytes(std::uint64_t bytes);
  std::uint64_t text(const std::string& text);
  std::byte* host_of(std::uint64_t address, std::uint64_t bytes);
  void move(const Box& box);

  KernelHost& host_;
  DeviceMemory& memory_;
  const std::uint64_t most_pending_;
  std::vector<Item> launched_, tails_;  ///< for the grid that runs
  std::vector<Item> stack_;             ///< the items that follow, the last first
  std::map<std::uint64_t, Prepared> prepared_;
  std::map<std::uint64_t, int> errors_;  ///< the last one, by thread
  std::map<LaunchingPlace, RefusedLaunches> refused_;
  std::set<std::uint64_t> streams_, events_;
  std::uint64_t next_handle_ = 0x1000;
  std::vector<std::uint64_t> chunks_;  ///< the chunks of memory for parameters
  std::size_t chunk_ = 0;              ///< the one in use
  std::uint64_t used_ = 0;             ///< bytes of it
  std::map<std::string, std::uint64_t> texts_;
  std::optional<std::uint64_t> wrong_address_;
  bool is_wrong_graph_ = false;
  bool has_own_accesses_ = false;
};

}  // namespace warpmeter::model
