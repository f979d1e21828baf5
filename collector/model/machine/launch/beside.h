// SPDX-License-Identifier: MIT
// The host and other streams go on beside a launch. A kernel may wait for them, by a flag that the
// host sets or a copy of another stream brings.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

namespace warpmeter::model {

/// Others do nothing, ever, about what a launch waits for; perhaps they do, which nobody can find
/// out here; or they may have done something.
enum class Outside : std::uint8_t { nothing, unknown, maybe };

class Beside {
 public:
  virtual ~Beside() = default;
  /// The launch asks this where no block goes on. Until it returns, other launches may run over the
  /// same memory, and memory may be allocated and removed. `loaded`: the global memory that threads
  /// load while they wait; `has_gone_on`: some block did something new since this was asked last.
  virtual Outside wait(const std::set<std::uint64_t>& loaded, bool has_gone_on) = 0;
  /// The same where blocks go on, but none has ended for long: they may count how long they wait.
  virtual void let_go() = 0;
};

/// The memory of the launch is free while others have their turn.
class BesideLaunch final : public Beside {
 public:
  BesideLaunch(std::unique_lock<std::mutex>& launching, Beside& beside)
      : launching_(launching), beside_(beside) {}

  Outside wait(const std::set<std::uint64_t>& loaded, bool has_gone_on) override {
    launching_.unlock();
    const Outside others = beside_.wait(loaded, has_gone_on);
    launching_.lock();
    return others;
  }
  void let_go() override {
    launching_.unlock();
    beside_.let_go();
    launching_.lock();
  }

 private:
  std::unique_lock<std::mutex>& launching_;
  Beside& beside_;
};

}  // namespace warpmeter::model
