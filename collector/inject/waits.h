// SPDX-License-Identifier: MIT
// Launches that wait for something which the program does later. CUPTI waits for the end of a
// counted launch on the program's own thread, whatever the mode of replay and the number of passes
// (SASS counters; measured on an H200 with CUPTI 13.0.1), and holds up other threads' copies
// meanwhile. A program whose kernel waits for it would never go on. So kernels that wait are found
// by their code and not counted, and before any other launch is counted, the work that may wait has
// to be done.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "collector/cupti/planner.h"
#include "collector/inject/launch_call.h"
#include "collector/model/counts/sass/waiting.h"

namespace warpmeter::inject {

/// The driver's functions after which work in a stream waits for the host or for somebody else, and
/// those that share memory with another process or GPU.
std::span<const CUpti_CallbackId> waiting_work_functions();
std::span<const CUpti_CallbackId> sharing_functions();
/// The work of a call of the first ones; nullopt for any other function.
struct WaitingWork {
  CUstream stream = nullptr;
  const char* name = nullptr;
};
std::optional<WaitingWork> read_waiting_work(CUpti_CallbackId called, const void* parameters);
/// True of the second ones. Host memory that is registered is shared if other processes map it.
bool shares_memory(CUpti_CallbackId called, const void* parameters);

class Waits {
 public:
  /// `patience`: how long the program is held for work that may wait for it; up to twelve times as
  /// long for work of which nothing is known.
  explicit Waits(std::chrono::milliseconds patience) : patience_(patience) {}

  /// The machine code of kernels to come. By any thread, as all of these functions.
  void module_loaded(Bytes cubin);
  /// The process shares memory with another one, or with another GPU: it may change at any moment.
  void memory_shared();

  bool shares_memory() const;

  /// Why the kernel is neither repeated nor waited for; empty when it may be. The call may be one
  /// that a graph makes.
  std::string obstacle(const cupti::DriverApi& api, const LaunchCall& call,
                       const std::string& kernel, CUdevice device) const;
  /// False when no call of the kernel has an obstacle.
  bool may_wait(const std::string& kernel) const { return waiting_of(kernel).may_wait; }
  /// True if it calls malloc or free.
  bool allocates(const std::string& kernel) const { return waiting_of(kernel).allocates; }
  /// True if one of its loops ends by a clock.
  bool times_itself(const std::string& kernel) const { return waiting_of(kernel).times_itself; }

  /// The instructions of the kernels that counters depend on; nullopt where the code of one was not
  /// seen, which may have all.
  std::optional<cupti::KernelCode> code_of(const std::vector<std::string>& kernels) const;

  /// The program put work into a stream that may wait: a kernel that has an obstacle, a graph that
  /// may hold one, or something else. To be called after the call of the driver, with the context
  /// current.
  void add_launch(const cupti::DriverApi& api, CUcontext context, CUstream stream,
                  const std::string& kernel);
  void add(const cupti::DriverApi& api, CUcontext context, const WaitingWork& work);
  /// Waits until the stream is empty and the context has no work that may wait. Why a launch behind
  /// them cannot be counted; empty when it can.
  std::string await(const cupti::DriverApi& api, CUcontext context, CUstream stream);
  /// The name of what await() would wait for; empty for nothing.
  std::string blocker(const cupti::DriverApi& api, CUcontext context, CUstream stream);
  /// The name of the context's first work that may wait and is not known to be done; empty for
  /// none.
  std::string pending(const cupti::DriverApi& api, CUcontext context);
  void context_ends(CUcontext context);

 private:
  /// A kernel waits by its code, in whichever stream; other work is told apart by its stream.
  using Cause = std::tuple<CUcontext, CUstream, std::string>;
  struct Work;
  struct Blocker {
    std::string name;  ///< for messages
    Cause cause;
  };
  model::sass::Waiting waiting_of(const std::string& kernel) const;
  void add(const cupti::DriverApi& api, CUcontext context, CUstream stream, Blocker blocker);
  std::shared_ptr<const Work> first_open(const cupti::DriverApi& api, CUcontext context);
  std::optional<Blocker> find_blocker(const cupti::DriverApi& api, CUcontext context,
                                      CUstream stream);
  std::chrono::microseconds patience_for(const Blocker& blocker) const;
  /// The next wait for such work is to be shorter.
  void be_shorter(const Cause& cause);

  const std::chrono::milliseconds patience_;
  /// Never held while the driver is called: it may call us back in another thread, and wait there.
  mutable std::mutex mutex_;
  std::map<std::string, model::sass::Waiting> kernels_;
  bool shares_memory_ = false;
  std::list<std::shared_ptr<Work>> works_;  ///< not done, in order of each stream
  std::map<Cause, int> waited_in_vain_;     ///< for each cause, how often patience was halved
};

}  // namespace warpmeter::inject
