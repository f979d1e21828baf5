// SPDX-License-Identifier: MIT
#include "base/own_stack.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/stack.h"

namespace warpmeter {
namespace {

constexpr std::size_t kib = 1024;

/// Takes so many bytes of the stack, as functions of ours may.
[[gnu::noinline]] std::size_t use(std::size_t bytes) {
  auto* const memory = static_cast<volatile unsigned char*>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; i += 64) memory[i] = 1;
  return bytes;
}

[[gnu::noinline]] std::uintptr_t here() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

bool has_moved_from(std::uintptr_t frame) {
  const std::uintptr_t now = here();
  return std::max(now, frame) - std::min(now, frame) > 16 * kib;
}

/// Runs it on a thread with a stack of that size, or with that stack.
void on_thread(std::size_t bytes, void* stack, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(stack != nullptr ? pthread_attr_setstack(&attributes, stack, bytes)
                             : pthread_attr_setstacksize(&attributes, bytes),
            0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* given) -> void* {
                  (*static_cast<std::function<void()>*>(given))();
                  return nullptr;
                },
                &work),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

constexpr std::size_t small = 32 * kib;

TEST(OwnStack, IsNotTakenWhereAThreadHasRoom) {
  const std::uintptr_t frame = here();
  EXPECT_FALSE(with_room([&] { return has_moved_from(frame); }));
  on_thread(8192 * kib, nullptr, [] {
    const std::uintptr_t own = here();
    EXPECT_FALSE(with_room([&] { return has_moved_from(own); }));
  });
}

TEST(OwnStack, HasRoomForAThreadThatHasNone) {
  const pthread_t main = pthread_self();
  on_thread(small, nullptr, [&] {
    thread_local int of_thread = 0;
    const std::uintptr_t frame = here();
    const auto thread = pthread_self();
    for (int i = 0; i < 3; ++i) {
      const std::size_t used = with_room([&] {
        EXPECT_TRUE(has_moved_from(frame));
        EXPECT_TRUE(pthread_equal(pthread_self(), thread));
        EXPECT_FALSE(pthread_equal(pthread_self(), main));
        ++of_thread;
        errno = ERANGE;
        return use(256 * kib);
      });
      EXPECT_EQ(errno, ERANGE);
      EXPECT_EQ(used, 256 * kib);
      EXPECT_FALSE(has_moved_from(frame));
    }
    EXPECT_EQ(of_thread, 3);
  });
}

TEST(OwnStack, StaysForWorkWithinWork) {
  on_thread(small, nullptr, [] {
    with_room([] {
      const std::uintptr_t outer = here();
      EXPECT_FALSE(with_room([&] { return has_moved_from(outer); }));
    });
  });
}

TEST(OwnStack, LetsErrorsPass) {
  on_thread(small, nullptr, [] {
    for (int i = 0; i < 2; ++i) {
      std::string caught;
      try {
        with_room([] {
          use(200 * kib);
          throw std::runtime_error("from there");
        });
      } catch (const std::runtime_error& error) {
        caught = error.what();
      }
      EXPECT_EQ(caught, "from there");
    }
  });
}

/// A place in the program's source is found by a walk over the stack.
TEST(OwnStack, LetsAWalkOverTheStackPass) {
  on_thread(small, nullptr, [] {
    struct Walk {
      std::uintptr_t wanted;
      bool is_found = false;
    } walk{reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    const std::uintptr_t begin = walk.wanted;
    with_room([&] {
      _Unwind_Backtrace(
          [](_Unwind_Context* context, void* given) {
            Walk& one = *static_cast<Walk*>(given);
            const std::uintptr_t frame = _Unwind_GetCFA(context);
            one.is_found |= frame >= one.wanted && frame - one.wanted < 16 * kib;
            return _URC_NO_REASON;
          },
          &walk);
    });
    EXPECT_TRUE(walk.is_found) << begin;
  });
}

TEST(OwnStack, LeavesMemoryBelowAGivenStackAlone) {
  constexpr std::size_t below = 1024 * kib;
  std::vector<unsigned char> memory(below + small + 4096, 7);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t stack = (begin + below + 4095) / 4096 * 4096;
  on_thread(small, reinterpret_cast<void*>(stack), [] { with_room([] { use(256 * kib); }); });
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + below, 7), below);
}

ucontext_t caller, coroutine;

/// The system knows the thread's stack, on which it is not.
TEST(OwnStack, IsTakenByACoroutine) {
  constexpr std::size_t below = 1024 * kib;
  std::vector<unsigned char> memory(below + small, 7);
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = memory.data() + below;
  coroutine.uc_stack.ss_size = small;
  coroutine.uc_link = &caller;
  static bool has_moved;
  makecontext(
      &coroutine,
      [] {
        const std::uintptr_t frame = here();
        with_room([&] {
          has_moved = has_moved_from(frame);
          use(256 * kib);
        });
      },
      0);
  swapcontext(&caller, &coroutine);
  EXPECT_TRUE(has_moved);
  EXPECT_EQ(std::count(memory.begin(), memory.begin() + below, 7), below);
  const std::uintptr_t frame = here();
  EXPECT_FALSE(with_room([&] { return has_moved_from(frame); }));
}

/// The thread's own one is in use while a signal comes.
TEST(OwnStack, IsAnotherOneInASignalHandler) {
  on_thread(small, nullptr, [] {
    static std::vector<unsigned char> memory(small);
    stack_t alternate{};
    alternate.ss_sp = memory.data();
    alternate.ss_size = memory.size();
    sigaltstack(&alternate, nullptr);
    struct sigaction action {};
    static std::uintptr_t outer, inner;
    action.sa_handler = [](int) {
      with_room<StackUser::interrupting>([] {
        inner = here();
        use(256 * kib);
      });
    };
    action.sa_flags = SA_ONSTACK;
    struct sigaction before {};
    sigaction(SIGUSR1, &action, &before);
    bool is_whole = true;
    with_room([&] {
      outer = here();
      volatile unsigned char kept[64 * kib];
      for (auto& byte : kept) byte = 7;
      raise(SIGUSR1);
      for (const auto& byte : kept) is_whole &= byte == 7;
    });
    EXPECT_TRUE(is_whole);
    EXPECT_GT(std::max(outer, inner) - std::min(outer, inner), 1024 * kib);
    sigaction(SIGUSR1, &before, nullptr);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, nullptr);
  });
}

TEST(LargeThread, HasALargeStackWhereThreadsHaveSmallOnes) {
  pthread_attr_t usual, few;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&few);
  pthread_attr_setstacksize(&few, 64 * kib);
  pthread_setattr_default_np(&few);
  std::size_t used = 0;
  const LargeThread thread([&] { used = use(1024 * kib); });
  thread.join();
  pthread_setattr_default_np(&usual);
  EXPECT_EQ(used, 1024 * kib);
}

}  // namespace
}  // namespace warpmeter
