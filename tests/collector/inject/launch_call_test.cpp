// SPDX-License-Identifier: MIT
// A launch in a stream that is recorded does not run, whichever way the program names the stream.
#include "collector/inject/launch_call.h"

#include <cupti_driver_cbid.h>
#include <gtest/gtest.h>

namespace warpmeter::inject {
namespace {

CUstream recorded = nullptr;

TEST(LaunchCall, ARecordedStreamIsFoundUnderTheNamesOfTheProgram) {
  cupti::DriverApi api{};
  api.cuStreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream == recorded ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  const auto is_recorded = [&](CUpti_CallbackId function, CUstream stream) {
    const struct {
      CUfunction f;
      unsigned int grid[3], block[3], shared_bytes;
      CUstream stream;
      void** values;
    } parameters{nullptr, {1, 1, 1}, {32, 1, 1}, 0, stream, nullptr};
    return is_captured(api, stream_of(*read_launch(function, &parameters)));
  };
  const auto stream = reinterpret_cast<CUstream>(std::size_t{77});
  recorded = stream;
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, stream));
  EXPECT_FALSE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, nullptr));
  recorded = CU_STREAM_PER_THREAD;
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, nullptr));
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CU_STREAM_PER_THREAD));
  EXPECT_FALSE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, nullptr));
}

}  // namespace
}  // namespace warpmeter::inject
