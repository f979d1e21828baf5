// SPDX-License-Identifier: MIT
#include "base/stack.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstddef>
#include <memory>
#include <system_error>
#include <utility>

namespace warpmeter {
namespace {

constexpr std::size_t large = std::size_t{8} << 20;

struct Job {
  const std::function<int()>& work;
  sigset_t blocked;
  int result = 0;
};

void* run(void* given) {
  Job& job = *static_cast<Job*>(given);
  pthread_sigmask(SIG_SETMASK, &job.blocked, nullptr);
  job.result = job.work();
  return nullptr;
}

void* run_thread(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

}  // namespace

int with_large_stack(const std::function<int()>& work) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= large) return work();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, large);
  pthread_setattr_default_np(&attributes);
  Job job{work, {}};
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &job.blocked);
  pthread_t thread{};
  const bool is_started = pthread_create(&thread, &attributes, run, &job) == 0;
  if (is_started) pthread_join(thread, nullptr);
  pthread_sigmask(SIG_SETMASK, &job.blocked, nullptr);
  pthread_attr_destroy(&attributes);
  return is_started ? job.result : work();
}

LargeThread::LargeThread(std::function<void()> work) {
  constexpr std::size_t least = std::size_t{2} << 20;
  auto kept = std::make_unique<std::function<void()>>(std::move(work));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  std::size_t usual = 0;
  pthread_attr_getstacksize(&attributes, &usual);
  if (usual < least) pthread_attr_setstacksize(&attributes, least);
  const int error = pthread_create(&thread_, &attributes, run_thread, kept.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category());
  static_cast<void>(kept.release());
}

}  // namespace warpmeter
