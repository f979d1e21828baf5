// SPDX-License-Identifier: MIT
// A launch waits for work that may wait for the program, but not for ever, and not twice as long.
#include "collector/inject/waits.h"

#include <cupti_driver_cbid.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A driver whose events and streams are done or not, as a test says.
struct SlowDriver {
  std::set<CUevent> open;
  bool is_stream_busy = false;
  std::size_t made = 0;
};
SlowDriver slow;

CUcontext a_context(std::size_t number) { return reinterpret_cast<CUcontext>(number); }

cupti::DriverApi slow_driver() {
  slow = {};
  cupti::DriverApi api{};
  api.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  api.cuEventCreate = [](CUevent* event, unsigned int) {
    *event = reinterpret_cast<CUevent>(++slow.made);
    slow.open.insert(*event);
    return CUDA_SUCCESS;
  };
  api.cuEventRecord = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  api.cuEventQuery = [](CUevent event) {
    return slow.open.count(event) != 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  api.cuEventDestroy_v2 = [](CUevent) { return CUDA_SUCCESS; };
  api.cuStreamQuery = [](CUstream) {
    return slow.is_stream_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  };
  api.cuCtxSetCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  return api;
}

Clock::duration time_of_await(Waits& waits, const cupti::DriverApi& api, std::string& reason) {
  const auto begin = Clock::now();
  reason = waits.await(api, a_context(1), nullptr);
  return Clock::now() - begin;
}

TEST(Waits, NothingInFrontIsNotWaitedFor) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(10s);
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  waits.add(api, a_context(2), nullptr, "kernel far_away");  // another context's
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  EXPECT_FALSE(waits.is_idle(api));
}

TEST(Waits, WorkThatWaitsHoldsALaunchForThePatienceOnce) {
  const cupti::DriverApi api = slow_driver();
  Waits waits(200ms);
  waits.add(api, a_context(1), nullptr, "kernel spin");
  std::string reason;
  EXPECT_GE(time_of_await(waits, api, reason), 200ms);
  EXPECT_EQ(reason.find("kernel spin had not ended"), 0u) << reason;
  EXPECT_LT(time_of_await(waits, api, reason), 190ms);
  EXPECT_NE(reason, "");
  slow.open.clear();
  EXPECT_EQ(waits.await(api, a_context(1), nullptr), "");
  EXPECT_TRUE(waits.is_idle(api));
}

TEST(Waits, WorkOfWhichNothingIsKnownIsWaitedForLonger) {
  const cupti::DriverApi api = slow_driver();
  slow.is_stream_busy = true;
  Waits waits(10ms);
  std::string reason;
  EXPECT_GE(time_of_await(waits, api, reason), 120ms);
  EXPECT_EQ(reason.find("the work in front of it had not ended"), 0u) << reason;
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
  EXPECT_TRUE(shares_memory(CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2));
  EXPECT_FALSE(shares_memory(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2));
}

}  // namespace
}  // namespace warpmeter::inject
