#include "collector/cupti/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schema/error.h"

namespace warpmeter::cupti {

Context::Context(int ordinal) : api_(driver().api) {
  check(api_, api_.cuDeviceGet(&device_, ordinal), "choosing the device");
  acquire();
}

Context::~Context() {
  if (stream_ != nullptr) api_.cuStreamDestroy_v2(stream_);
  if (handle_ != nullptr) api_.cuDevicePrimaryCtxRelease_v2(device_);
}

void Context::acquire() {
  check(api_, api_.cuDevicePrimaryCtxRetain(&handle_, device_), "creating a CUDA context");
  make_current();
  check(api_, api_.cuStreamCreate(&stream_, CU_STREAM_DEFAULT), "creating a stream");
  ++generation_;
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

bool Context::is_broken() const { return api_.cuCtxSynchronize() != CUDA_SUCCESS; }

void Context::recover() {
  stream_ = nullptr;  // goes with its context
  api_.cuDevicePrimaryCtxReset_v2(device_);
  api_.cuDevicePrimaryCtxRelease_v2(device_);
  handle_ = nullptr;
  acquire();
}

Memory::Memory(const Context& context, std::size_t bytes)
    : context_(&context), bytes_(bytes), generation_(context.generation()) {
  const DriverApi& api = context.api();
  const CUresult result = api.cuMemAlloc_v2(&address_, std::max<std::size_t>(bytes, 1));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    throw Error(ExitCode::kernel,
                fmt::format("The device has no room for another {} bytes; choose a smaller size "
                            "with --size, or end what else runs on it",
                            bytes));
  }
  check(api, result, "allocating device memory");
}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::exchange(other.context_, nullptr);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    generation_ = std::exchange(other.generation_, 0);
  }
  return *this;
}

bool Memory::is_valid() const {
  return context_ != nullptr && generation_ == context_->generation();
}

void Memory::release() {
  if (is_valid()) context_->api().cuMemFree_v2(address_);
  context_ = nullptr;
}

}  // namespace warpmeter::cupti
