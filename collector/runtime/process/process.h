// SPDX-License-Identifier: MIT
// This process as a CUDA program: its memory, modules, streams and errors. There is one; it is made
// at the first call of the API and lives until the process ends.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/model/machine/order.h"
#include "collector/runtime/check/allocations.h"
#include "collector/runtime/check/checks.h"
#include "collector/runtime/check/explained.h"
#include "collector/runtime/check/races.h"
#include "collector/runtime/check/report.h"
#include "collector/runtime/device/clock.h"
#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/graph/stream.h"
#include "collector/runtime/image/module.h"
#include "collector/runtime/image/registry.h"
#include "collector/runtime/memory/memory.h"
#include "collector/runtime/memory/virtual_memory.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/handles.h"

namespace warpmeter::runtime {

class Process {
 public:
  static Process& get();
  /// Before the first call of a program that has CUDA in it: warpmeter hears of it, should it be
  /// killed before.
  static void announce();
  /// The device's architecture where no report says it: before the first call.
  static void execute_as(int arch);
  /// Ends a process that made no call, in order or before it becomes another program.
  static void end_unused();
  /// True if get() has been called: nothing happens for a program that only registers kernels.
  static bool exists();
  /// The program has come to its end; nothing of it follows.
  void end();

  Report* report() { return report_.get(); }
  /// From now on it hears of launches, and of nothing before; null: nobody does.
  void report_to(std::unique_ptr<Report> report);
  /// Ends the report, and nobody hears of what follows.
  void end_report();
  Explained& explained() { return explained_; }
  model::HostOrder& host_order() { return host_order_; }
  Checks* checks() { return checks_.get(); }  ///< null: nobody asked for them
  Races* races() { return checks_ == nullptr ? nullptr : &checks_->races(); }
  int arch() const { return arch_; }
  int devices() const { return static_cast<int>(visible().size()); }
  bool has_device(int device) const { return device >= 0 && device < devices(); }
  /// The machine's device that the program sees under this number.
  int device_of_machine(int device) const { return visible().at(static_cast<std::size_t>(device)); }
  Memory& memory() { return memory_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  Contexts& contexts() { return contexts_; }
  std::recursive_mutex& mutex() { return mutex_; }

  // Errors. Those of a kernel stay for the rest of the process and are noticed by the calls that
  // follow it, except by those that only ask for the last error.
  cudaError_t note(cudaError_t result);
  /// Notes a call's own finding, for the checks.
  void look_at(std::string_view function, cudaError_t result, bool is_unseen = false);
  /// Tells warpmeter, once for each function and error. Python warns of what the model refuses
  /// where warn_in_python() was called. `is_unseen`: the program's code drops what the call
  /// returns.
  void tell_failed(std::string_view function, cudaError_t error, bool is_unseen);
  static void warn_in_python();
  /// The error of a call for a kernel that the model cannot execute; tell_failed() says why.
  cudaError_t cannot_execute(Kernel& kernel);
  /// A call of another library of NVIDIA's, which is machine code alone: "cublasCreate", "cuBLAS".
  void refuse_library(std::string_view function, std::string_view library);
  /// The call that is being answered.
  static std::string_view function() { return function_; }
  /// `caller`: the program's instruction behind the call.
  static void begin_call(std::string_view function, const void* caller) {
    function_ = function;
    caller_ = caller;
    why_not_.clear();
  }
  /// Notes the mistake of a call, when it is about to return an error; only asked for with
  /// --check.
  template <class Describe>
  cudaError_t refuse(cudaError_t result, std::string_view kind, const Describe& describe) {
    if (checks_ != nullptr) checks_->because(std::string(kind), describe());
    return result;
  }
  cudaError_t take_last_error();
  cudaError_t last_error() const;
  cudaError_t peek_at_last_error();
  /// A kernel ended badly.
  void kernel_failed(cudaError_t error, const std::string& kernel = "");
  /// Every call of the API from now on returns it; cudaSuccess: none has failed.
  cudaError_t surfaced_error();
  /// The same, asked without waiting for the lock: by a host function.
  cudaError_t last_failure() const { return sticky_ != cudaSuccess ? sticky_ : pending_; }
  /// The same for a call: one that only adds work notices no kernel that failed just now.
  cudaError_t failure(bool only_adds_work) { return only_adds_work ? sticky_ : surfaced_error(); }
  bool is_fork() const;
  /// The T that a room keeps for the process: made when it is first asked for, and reset with the
  /// process where it has a reset().
  template <class T>
  T& state() {
    static const std::size_t place = places_++;
    std::unique_ptr<State>& state = states_.at(place);
    if (state == nullptr) state = std::make_unique<StateOf<T>>();
    return static_cast<StateOf<T>&>(*state).value;
  }

  /// cudaDeviceReset: what the program has is gone; after a failed kernel nothing works any more.
  cudaError_t reset();

  /// For the person.
  void say(const std::string& text);
  /// The output of kernels is shown when the program waits for them, as on hardware.
  void print(std::string_view text) { printed_ += text; }
  void print_assertion(std::string_view text) { failed_ += text; }
  void show_printed();
  /// The program ends: what it has not waited for is not shown (measured on an H200).
  void lose_printed();

  // Streams and events by their handles; null for none.
  Stream* stream(cudaStream_t handle);
  bool has_event(const Event* event) const { return events_.find(event) != nullptr; }
  Stream* make_stream(unsigned flags, int priority);
  bool remove_stream(cudaStream_t handle);
  Event* event(cudaEvent_t handle);
  Event* make_event(unsigned flags);
  bool remove_event(cudaEvent_t handle);
  template <class Visit>
  void for_each_stream(const Visit& visit) {
    for (const auto& [handle, stream] : streams_) visit(*stream);
    for (const auto& stream : left_) visit(*stream);
  }

  // Modules and kernels.
  Module* module_of(Registration& registration);
  /// A kernel by its stub, or by the handle of an earlier answer; null for none. An object of no
  /// device, a stub or a library's kernel, is the current device's.
  Kernel* kernel(const void* stub_or_handle);
  /// The answer of a call where there is none.
  static cudaError_t kernel_mistake(const void* stub_or_handle) {
    return stub_or_handle == nullptr ? cudaErrorInvalidDeviceFunction
                                     : cudaErrorInvalidResourceHandle;
  }
  struct Symbol {
    Module* module = nullptr;
    VariablePlace place;
  };
  std::optional<Symbol> symbol(const void* host);
  struct VariableFacts {
    int device = 0;
    bool is_managed = false;
  };
  /// The facts of the variable that lies there.
  std::optional<VariableFacts> variable_at(std::uint64_t address);
  /// The answer of a call for a symbol that there is not: its module may not be executable at all.
  cudaError_t symbol_mistake(const void* host);
  /// A module that the program loads itself; null: `failure` says why.
  Module* load(ModuleSource source, bool is_library);
  /// A library belongs to no device: each has its variables to itself. Else the module itself.
  Module* on_this_device(Module* module);
  /// The program's handle for the library of such a module.
  Module* handle_of(Module* module) const;
  void unload(Module* module);
  bool is_module(const void* handle) const;
  void know(Kernel* kernel) { kernels_.insert(kernel); }

  /// "'d_a' (allocated at vec.cu:12)", "memory of 4,096 bytes (allocated in main)".
  Label name_of_allocation(std::uint64_t bytes) const;

  /// The next launch is one of `<<<>>>`, whose code drops what it returns.
  static thread_local bool is_launching;

 private:
  struct State {
    virtual ~State() = default;
    virtual void reset() = 0;
  };
  template <class T>
  struct StateOf : State {
    T value;
    void reset() override {
      if constexpr (requires { value.reset(); }) value.reset();
    }
  };

  Process();
  /// The sentence that is told; empty: nobody hears of it.
  std::string tell_refused(const std::string& call, const std::string& why);
  /// Tells of the refused launches that no call has asked for, before a report ends.
  void tell_unasked();
  std::uint64_t next_room();
  const std::vector<int>& visible() const;

  const pid_t id_;
  std::unique_ptr<Report> report_;
  Explained explained_;
  int arch_, devices_ = 1;  ///< the arch of the machine
  Memory memory_;
  VirtualMemory virtual_memory_{memory_};
  Contexts contexts_;
  model::HostOrder host_order_;
  std::unique_ptr<Checks> checks_;
  std::unique_ptr<Allocations> allocations_;
  std::recursive_mutex mutex_;
  static thread_local std::string_view function_;  ///< this thread's last call
  static thread_local const void* caller_;
  /// The reason for the error that this thread's call is about to return.
  static thread_local std::string why_not_;
  cudaError_t pending_ = cudaSuccess, sticky_ = cudaSuccess;
  std::string printed_, failed_;
  std::set<std::string> said_, failed_calls_, warned_of_;
  /// Launches of <<<>>> that the model refused, and no call has asked for the error since: the
  /// sentences that tell_refused() told.
  std::set<std::string> unasked_;
  std::map<const void*, std::shared_ptr<Stream>> streams_;
  std::vector<std::shared_ptr<Stream>> left_;  ///< without a handle, with something to do
  Handles<Event> events_;
  std::uint32_t next_stream_ = 13;  // as on hardware, where the first ones are the driver's
  std::set<const void*> kernels_;
  Handles<Module> loaded_;
  struct Library {
    ModuleSource source;
    std::map<int, Module*> by_device;
  };
  std::map<const void*, Library> libraries_;  ///< by the module that is its handle
  std::uint64_t modules_ = 0;
  inline static std::atomic<std::size_t> places_ = 0;
  std::array<std::unique_ptr<State>, 32> states_;
};

}  // namespace warpmeter::runtime
