// SPDX-License-Identifier: MIT
// Device 0, by the driver's API, for what records a GPU's answers.
#pragma once

#include <cuda.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace warpmeter::model {

/// Ends the program where a call has failed.
inline void check(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "";
  cuGetErrorString(result, &text);
  std::cerr << what << ": " << text << '\n';
  std::exit(1);
}

/// Its primary context becomes the current one.
inline CUdevice open_recording_device() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  return device;
}

}  // namespace warpmeter::model
