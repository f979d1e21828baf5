// SPDX-License-Identifier: MIT
// A stack that is large enough for our own code and for the compilers that it loads, whatever
// `ulimit -s` says. The limit itself stays, for the programs that are started.
#pragma once

#include <pthread.h>

#include <functional>

namespace warpmeter {

/// The result of `work`, which runs on a thread with such a stack where this one's may be smaller;
/// threads that it starts have such stacks too. Signals come to that thread.
int with_large_stack(const std::function<int()>& work);

/// A thread of our own in a program of others, which may have small stacks for its threads:
/// std::thread with at least 2 MiB.
class LargeThread {
 public:
  explicit LargeThread(std::function<void()> work);  ///< throws std::system_error
  void join() const { pthread_join(thread_, nullptr); }
  void detach() const { pthread_detach(thread_); }

 private:
  pthread_t thread_{};
};

}  // namespace warpmeter
