// SPDX-License-Identifier: MIT
// A launch waits for work that may wait for the program, but not for ever, and not twice as long.
#include "collector/inject/waits.h"

#include <cupti_driver_cbid.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <future>
#include <set>
#include <string>

#include "tests/collector/model/flag_kernel.h"

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A driver whose events and streams are done or not, as a test says.
struct SlowDriver {
  std::set<CUevent> open;
  Clock::time_point end = Clock::time_point::max();  ///< the end of all work
  bool is_stream_busy = false;
  std::size_t made = 0, destroyed = 0;
  CUresult answer = CUDA_SUCCESS;  ///< an event's that is not open
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::size_t strict_questions = 0;  ///< those that fail while another thread records a graph
  Waits* asks_back = nullptr;        ///< another thread calls it while the driver is asked
};
SlowDriver slow;

CUcontext a_context(std::size_t number) { return reinterpret_cast<CUcontext>(number); }

cupti::DriverApi slow_driver() {
  slow = {};
  cupti::DriverApi api{};
  api.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode* mode) {
    std::swap(slow.mode, *mode);
    return CUDA_SUCCESS;
  };
  api.cuEventCreate = [](CUevent* event, unsigned int) {
    *event = reinterpret_cast<CUevent>(++slow.made);
    slow.open.insert(*event);
    return CUDA_SUCCESS;
  };
  api.cuEventRecord = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.cuEventQuery = [](CUevent event) {
    if (slow.mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++slow.strict_questions;
    if (slow.asks_back != nullptr) {
      std::async(std::launch::async, [] { slow.asks_back->module_loaded({}); }).get();
    }
    const bool is_open = slow.open.count(event) != 0 && Clock::now() < slow.end;
    return is_open ? CUDA_ERROR_NOT_READY : slow.answer;
  };
  api.cuEventDestroy_v2 = [](CUevent) {
    ++slow.destroyed;
    return CUDA_SUCCESS;
  };
  api.cuStreamQuery = [](CUstream) {
    return slow.is_stream_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  return api;
}

Clock::duration time_of_await(Waits& waits, const cupti::DriverApi& api, std::string& reason) {
  const auto begin = Clock::now();
  reason = waits.await(api, a_context(1), nullptr);
  return Clock::now() - begin;
}

TEST(Waits, TellTheCodeThatWasSeen) {
  Waits waits(10s);
  waits.module_loaded(model::cubin_of("sm_90", "  ld.u32 %r8, [%rd1];\n", ""));
  EXPECT_EQ(waits.code_of({"kernel"}), (cupti::KernelCode{.copies_in_bulk = false,
                                                          .loads_generic = true,
                                                          .stores_generic = false,
                                                          .multiplies_matrices = false}));
  EXPECT_EQ(waits.code_of({"kernel", "another"}), std::nullopt);
}

TEST(Waits, NothingInFrontIsNotWaitedFor) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(10s);
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  waits.add_launch(api, a_context(2), nullptr, "far_away");  // another context's
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  EXPECT_EQ(waits.pending(api, a_context(2)), "kernel far_away");
}

TEST(Waits, WorkThatWaitsHoldsALaunchForThePatienceOnce) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(200ms);
  waits.add_launch(api, a_context(1), nullptr, "spin");
  std::string reason;
  EXPECT_GE(time_of_await(waits, api, reason), 200ms);
  EXPECT_EQ(reason.find("kernel spin had not ended"), 0u) << reason;
  EXPECT_LT(time_of_await(waits, api, reason), 190ms);
  EXPECT_NE(reason, "");
  slow.open.clear();
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  EXPECT_EQ(waits.pending(api, a_context(1)), "");
}

// As the calls of one kind in different streams may be of parts of the program that have nothing to
// do with each other. A kernel waits by its code.
TEST(Waits, WorkOfOneStreamDoesNotShortenThePatienceForAnother) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(150ms);
  const auto stream = [](std::size_t number) { return reinterpret_cast<CUstream>(number); };
  std::string reason;
  const auto time_behind = [&](CUstream place) {
    slow.open.clear();
    waits.add(api, a_context(1), {place, "a host function in a stream"});
    return time_of_await(waits, api, reason);
  };
  EXPECT_GE(time_behind(stream(1)), 150ms);
  EXPECT_GE(time_behind(stream(2)), 150ms);
  EXPECT_LT(time_behind(stream(1)), 140ms);
  slow.open.clear();
  waits.add_launch(api, a_context(1), stream(3), "spin");
  EXPECT_GE(time_of_await(waits, api, reason), 150ms);
  slow.open.clear();
  waits.add_launch(api, a_context(1), stream(4), "spin");
  EXPECT_LT(time_of_await(waits, api, reason), 140ms);
}

// As XLA's autotuner does, which has a kernel that waits for the host before each measurement.
TEST(Waits, ManyLaunchesBehindWorkThatWaitsTakeLittleTime) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(150ms);
  slow.open.clear();
  waits.add_launch(api, a_context(1), nullptr, "spin");
  std::string reason;
  EXPECT_GE(time_of_await(waits, api, reason), 150ms);
  std::chrono::nanoseconds sum{0};
  for (int i = 0; i < 40; ++i) sum += time_of_await(waits, api, reason);
  EXPECT_LT(sum, 1s);
  EXPECT_NE(reason, "");
}

// XLA's kernel gives up after a tenth of a second.
TEST(Waits, AKernelThatGivesUpHoldsTheNextLaunchesForLess) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(2s);  // the next time 25 ms, then half as long each time
  std::string reason;
  const auto time_behind_one = [&] {
    waits.add_launch(api, a_context(1), nullptr, "delay");
    slow.end = Clock::now() + 200ms;
    return time_of_await(waits, api, reason);
  };
  EXPECT_GE(time_behind_one(), 200ms);
  EXPECT_EQ(reason, "");
  EXPECT_LT(time_behind_one(), 150ms);
  EXPECT_NE(reason, "");
}

TEST(Waits, WorkIsDoneWhenItsContextFailsButNotWhenTheDriverRefusesTheQuestion) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(10s);
  waits.add_launch(api, a_context(1), nullptr, "spin");
  slow.open.clear();
  for (const CUresult refused :
       {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
        CUDA_ERROR_NOT_PERMITTED, CUDA_ERROR_INVALID_CONTEXT}) {
    slow.answer = refused;
    EXPECT_EQ(waits.pending(api, a_context(1)), "kernel spin") << refused;
  }
  slow.answer = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_EQ(waits.pending(api, a_context(1)), "");
  EXPECT_EQ(slow.destroyed, slow.made);
}

TEST(Waits, QuestionsLeaveAGraphAloneThatAnotherThreadRecords) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(1ms);
  waits.add_launch(api, a_context(1), nullptr, "spin");
  waits.add_launch(api, a_context(1), nullptr, "spin");
  waits.pending(api, a_context(1));
  waits.blocker(api, a_context(1), nullptr);
  waits.await(api, a_context(1), nullptr);
  EXPECT_EQ(slow.strict_questions, 0U);
  EXPECT_EQ(slow.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST(Waits, WorkThatIsDoneIsForgotten) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(10s);
  waits.add_launch(api, a_context(1), reinterpret_cast<CUstream>(std::size_t{5}), "spin");
  const CUevent of_spin = *slow.open.begin();
  for (int i = 0; i < 1000; ++i) {
    waits.add(api, a_context(1), {nullptr, "a host function in a stream"});
    slow.open = {of_spin};
  }
  EXPECT_EQ(slow.made - slow.destroyed, 2U) << "spin and the last one";
  EXPECT_EQ(waits.pending(api, a_context(1)), "kernel spin");
  waits.context_ends(a_context(1));
  EXPECT_EQ(waits.pending(api, a_context(1)), "");
  EXPECT_EQ(slow.made - slow.destroyed, 1U) << "a context's events end with it";
}

// The driver holds a lock of its own while it calls us about a module.
TEST(Waits, AThreadThatLoadsAModuleIsNotHeldByAQuestion) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(10s);
  waits.add_launch(api, a_context(1), nullptr, "spin");
  slow.asks_back = &waits;
  EXPECT_EQ(waits.pending(api, a_context(1)), "kernel spin");
  slow.asks_back = nullptr;
}

/// Memory of the device, of the host, and of nobody.
constexpr std::uint64_t on_device = 0x1000, on_host = 0x2000, nowhere = 0x3000;

/// The answer behind the only parameter of a kernel.
CUresult end_of_parameters = CUDA_ERROR_INVALID_VALUE;

cupti::DriverApi driver_of_parameters() {
  cupti::DriverApi api = slow_driver();
  end_of_parameters = CUDA_ERROR_INVALID_VALUE;
  api.cuFuncGetParamInfo = [](CUfunction, std::size_t i, std::size_t* offset, std::size_t* bytes) {
    *offset = 0;
    *bytes = sizeof(std::uint64_t);
    return i == 0 ? CUDA_SUCCESS : end_of_parameters;
  };
  api.cuPointerGetAttribute = [](void* value, CUpointer_attribute about, CUdeviceptr address) {
    if (address == nowhere) return CUDA_ERROR_INVALID_VALUE;
    if (about == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
      const bool is_known = address == on_device || address == on_host;
      *static_cast<unsigned int*>(value) =
          address == on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return is_known ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
    }
    *static_cast<unsigned int*>(value) = 0;
    return CUDA_SUCCESS;
  };
  return api;
}

// Blocks of this kernel wait for each other, or for whoever reaches the flag.
TEST(Waits, AKernelThatMayWaitForItselfHasAnObstacleUnlessItsParametersAreKnownAndItsOwn) {
  const cupti::DriverApi api = driver_of_parameters();
  Waits waits(10s);
  waits.module_loaded(model::cubin_of("sm_90", R"(  st.volatile.global.u32 [%rd2+4], %r9;
loop:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra loop;
)",
                                      ""));
  ASSERT_TRUE(waits.may_wait("kernel"));
  const auto has_obstacle = [&](std::uint64_t parameter, std::uint32_t blocks = 2) {
    void* parameters[] = {&parameter};
    LaunchCall call;
    call.grid = {blocks, 1, 1};
    call.parameters = parameters;
    return !waits.obstacle(api, call, "kernel", 0).empty();
  };
  EXPECT_FALSE(has_obstacle(on_device));
  EXPECT_FALSE(has_obstacle(nowhere));
  EXPECT_TRUE(has_obstacle(on_host));
  EXPECT_TRUE(has_obstacle(on_device, 1)) << "nobody else is in its grid";
  EXPECT_TRUE(has_obstacle(0x4000)) << "the driver does not say whose memory that is";
  LaunchCall unknown;
  unknown.grid = {2, 1, 1};
  EXPECT_NE(waits.obstacle(api, unknown, "kernel", 0), "");
  EXPECT_EQ(waits.obstacle(api, unknown, "another", 0), "");
  end_of_parameters = CUDA_ERROR_INVALID_HANDLE;
  EXPECT_TRUE(has_obstacle(on_device)) << "the driver does not tell the parameters";
  end_of_parameters = CUDA_ERROR_INVALID_VALUE;
  waits.memory_shared();
  EXPECT_TRUE(has_obstacle(on_device));
}

TEST(Waits, WorkOfWhichNothingIsKnownIsWaitedForLonger) {
  const cupti::DriverApi api = slow_driver();
  slow.is_stream_busy = true;
  Waits waits(10ms);
  std::string reason;
  EXPECT_GE(time_of_await(waits, api, reason), 120ms);
  EXPECT_EQ(reason.find("the work in front of it had not ended"), 0u) << reason;
}

/// NCCL registers memory of /dev/shm where GPUs do not reach each other.
TEST(Waits, RegisteredMemoryIsSharedIfOtherProcessesMapIt) {
  const auto is_shared = [](int flags) {
    void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    struct {
      void* address;
      std::size_t bytes;
      unsigned int flags;
    } parameters{memory, 4096, 0};
    const bool answer = shares_memory(CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2, &parameters);
    munmap(memory, 4096);
    return answer;
  };
  EXPECT_TRUE(is_shared(MAP_SHARED));
  EXPECT_FALSE(is_shared(MAP_PRIVATE));
}

TEST(Waits, CallsOfTheDriverSayInWhichStreamWorkWaits) {
  const auto stream = reinterpret_cast<CUstream>(std::size_t{77});
  struct {
    CUstream stream;
  } first{stream};
  struct {
    const void *semaphores, *parameters;
    unsigned int count;
    CUstream stream;
  } last{nullptr, nullptr, 1, stream};
  const auto stream_in = [](CUpti_CallbackId called, const void* parameters) {
    const auto work = read_waiting_work(called, parameters);
    return work ? work->stream : nullptr;
  };
  EXPECT_EQ(stream_in(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2, &first), stream);
  EXPECT_EQ(stream_in(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, &first), stream);
  EXPECT_EQ(stream_in(CUPTI_DRIVER_TRACE_CBID_cuWaitExternalSemaphoresAsync, &last), stream);
  EXPECT_EQ(stream_in(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &first), nullptr);
  first.stream = nullptr;
  EXPECT_EQ(stream_in(CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz, &first), CU_STREAM_PER_THREAD);
  EXPECT_TRUE(shares_memory(CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2, nullptr));
  EXPECT_FALSE(shares_memory(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, nullptr));
}

}  // namespace
}  // namespace warpmeter::inject
