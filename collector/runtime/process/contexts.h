// SPDX-License-Identifier: MIT
// The driver's contexts: one of each device that the runtime and programs share (the primary one),
// and those that programs create. Memory, streams and modules here belong to the process, so that a
// context only says which device is meant, and whether there is one at all.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/process/handles.h"

namespace warpmeter::runtime {

struct Context {
  int device = 0;
  unsigned flags = 0;
  bool is_primary = false, is_destroyed = false, is_of_runtime = false;
  unsigned uses = 0;  ///< for a primary one: by how many it is retained
  unsigned long long number = 0;
  /// The multiprocessors of a green context, which is the primary one with these multiprocessors
  /// alone; else null.
  std::shared_ptr<const Multiprocessors> multiprocessors;

  bool is_green() const { return multiprocessors != nullptr; }
  bool is_active() const { return is_primary ? uses > 0 || is_of_runtime : !is_destroyed; }
};

class Contexts {
 public:
  static Contexts& get();

  std::atomic<bool> is_initialised = false;  ///< by cuInit, or a call of the runtime

  /// The current context of this thread; null: none is current.
  Context* current() const;
  void make_current(Context* context);  ///< in place of what is; null: of none
  void push(Context* context);
  Context* pop();

  Context& primary(int device);
  /// The context with that owner(): the device's primary one for 0.
  Context& owning(unsigned long long number, int device);
  Context* create(int device, unsigned flags);
  bool holds(const Context* context) const;
  /// The runtime needs no context: the device's primary one becomes current where none is.
  /// `is_program`: it called the runtime itself, which keeps that context from here on.
  void enter_runtime(int device, bool is_program);
  /// cudaSetDevice: its primary context is current from now on.
  void choose_device(int device);
  /// The context of new allocations; 0: with none that may be destroyed.
  unsigned long long owner() const {
    const Context* context = current();
    const bool is_own = context != nullptr && !context->is_primary && !context->is_green();
    return is_own ? context->number : 0;
  }

 private:
  Context* add(int device);
  Handles<Context> all_;  ///< destroyed ones too
  std::map<int, Context*> primaries_;
};

}  // namespace warpmeter::runtime
