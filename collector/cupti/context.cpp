// SPDX-License-Identifier: MIT
#include "collector/cupti/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/with_noun.h"

namespace warpmeter::cupti {

Context::Context(int ordinal) : api_(driver_library().api) {
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  check(api_, api_.cuDeviceGet(&device_, ordinal), "choosing the device");
  check(api_, api_.cuDevicePrimaryCtxRetain(&handle_, device_), "creating a CUDA context");
  try {
    make_current();
    check(api_, api_.cuStreamCreate(&stream_, CU_STREAM_DEFAULT), "creating a stream");
  } catch (...) {
    api_.cuDevicePrimaryCtxRelease_v2(device_);
    throw;
  }
}

Context::~Context() {
  api_.cuStreamDestroy_v2(stream_);
  api_.cuDevicePrimaryCtxRelease_v2(device_);
}

int Context::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  check(api_, api_.cuDeviceGetAttribute(&value, attribute, device_), "reading a device attribute");
  return value;
}

void Context::make_current() const {
  check(api_, api_.cuCtxSetCurrent(handle_), "entering the CUDA context");
}

CUresult Context::synchronize() const { return api_.cuStreamSynchronize(stream_); }

std::optional<CUresult> Context::synchronize_within(double seconds) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int polls = 0;; ++polls) {
    const CUresult result = api_.cuStreamQuery(stream_);
    if (result != CUDA_ERROR_NOT_READY) return result;
    if (std::chrono::steady_clock::now() >= end) return std::nullopt;
    if (polls > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Context::note_failure(const std::string& words) {
  if (broken_by_.empty() && api_.cuCtxSynchronize() != CUDA_SUCCESS) broken_by_ = words;
}

Memory::Memory(const Context& context, std::size_t bytes) : bytes_(bytes) {
  const DriverApi& api = context.api();
  const CUresult result = api.cuMemAlloc_v2(&address_, std::max<std::size_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    throw Error(ExitCode::kernel,
                fmt::format("The device has no room for another {}; choose a smaller size "
                            "with --size, or end what else runs on it",
                            with_noun(bytes, "byte")));
  }
  check(api, result, "allocating device memory");
  context_ = &context;
}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::exchange(other.context_, nullptr);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void Memory::release() {
  if (context_ != nullptr) context_->api().cuMemFree_v2(address_);
  context_ = nullptr;
}

}  // namespace warpmeter::cupti
