// SPDX-License-Identifier: MIT
#include "collector/runtime/process/stream_values.h"

#include <atomic>

#include "collector/runtime/device/device.h"

namespace warpmeter::runtime {
namespace {

bool is_wait(const CUstreamBatchMemOpParams& operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

bool is_write(const CUstreamBatchMemOpParams& operation) {
  return operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

std::uint64_t bytes_of(const CUstreamBatchMemOpParams& operation) {
  const bool is_wide = operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                       operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  return is_wide ? 8 : 4;
}

/// Where the value lies in this process; null: nowhere.
std::byte* place_of(Process& process, std::uint64_t address, std::uint64_t bytes) {
  bool is_inside = false;
  std::byte* place = process.memory().translate(address, bytes, is_inside);
  return is_inside ? place : nullptr;
}

CUresult place_mistake(Process& process, std::uint64_t address, std::uint64_t bytes) {
  if (address % bytes != 0 || place_of(process, address, bytes) == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Block* block = process.memory().find(address);
  const bool is_managed = block != nullptr && block->kind == MemoryKind::managed;
  return is_managed ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/// The host may write it meanwhile.
template <class Number>
Number value_at(const std::byte* place) {
  auto* number = reinterpret_cast<Number*>(const_cast<std::byte*>(place));
  return std::atomic_ref<Number>(*number).load();
}

template <class Number>
bool holds(const std::byte* place, Number wanted, unsigned flags) {
  const auto found = value_at<Number>(place);
  switch (flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH)) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return static_cast<Number>(~(found | wanted)) != 0;
    default:  // at least, in a circle of numbers
      return static_cast<std::make_signed_t<Number>>(found - wanted) >= 0;
  }
}

template <class Number>
void write(std::byte* place, Number value) {
  std::atomic_ref<Number>(*reinterpret_cast<Number*>(place)).store(value);
}

}  // namespace

CUresult values_mistake(Process& process, const std::vector<CUstreamBatchMemOpParams>& operations) {
  for (const CUstreamBatchMemOpParams& one : operations) {
    CUresult mistake = CUDA_SUCCESS;
    if (is_wait(one)) {
      constexpr unsigned known = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH;
      if ((one.waitValue.flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
      const bool flushes = (one.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0;
      const auto can =
          attribute(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, process.arch(), current_device);
      if (flushes && can.value_or(0) == 0) return CUDA_ERROR_NOT_SUPPORTED;
      mistake = place_mistake(process, one.waitValue.address, bytes_of(one));
    } else if (is_write(one)) {
      if (one.writeValue.flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
      mistake = place_mistake(process, one.writeValue.address, bytes_of(one));
    } else if (one.operation == CU_STREAM_MEM_OP_BARRIER) {
      const unsigned flags = one.memoryBarrier.flags;
      if (flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU) return CUDA_ERROR_INVALID_VALUE;
    } else if (one.operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
      return CUDA_ERROR_NOT_SUPPORTED;  // as the device says of itself
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (mistake != CUDA_SUCCESS) return mistake;
  }
  return CUDA_SUCCESS;
}

cudaError_t make_work(Process& process, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& parameters,
                      Work& work) {
  const bool has_list = parameters.paramArray != nullptr || parameters.count == 0;
  if (parameters.ctx == nullptr || parameters.flags != 0 || !has_list ||
      parameters.count > most_values_of_call) {
    return cudaErrorInvalidValue;
  }
  std::vector<CUstreamBatchMemOpParams> operations(parameters.paramArray,
                                                   parameters.paramArray + parameters.count);
  const CUresult mistake = values_mistake(process, operations);
  if (mistake == CUDA_SUCCESS) work = ValuesWork{std::move(operations), 0};
  return static_cast<cudaError_t>(mistake);
}

bool go_on(Process& process, ValuesWork& work) {
  for (; work.next < work.operations.size(); ++work.next) {
    const CUstreamBatchMemOpParams& one = work.operations[work.next];
    if (!is_wait(one) && !is_write(one)) continue;  // all that is done is seen by all
    const std::uint64_t bytes = bytes_of(one);
    const std::uint64_t address = is_wait(one) ? one.waitValue.address : one.writeValue.address;
    std::byte* place = place_of(process, address, bytes);
    if (place == nullptr) {  // freed meanwhile
      process.kernel_failed(cudaErrorIllegalAddress);
      return true;
    }
    if (is_wait(one)) {
      const bool is_there =
          bytes == 8 ? holds<cuuint64_t>(place, one.waitValue.value64, one.waitValue.flags)
                     : holds<cuuint32_t>(place, one.waitValue.value, one.waitValue.flags);
      if (!is_there) return false;
      continue;
    }
    if (bytes == 8) {
      write<cuuint64_t>(place, one.writeValue.value64);
    } else {
      write<cuuint32_t>(place, one.writeValue.value);
    }
    if (process.checks() != nullptr) process.checks()->set(address, bytes);
  }
  return true;
}

}  // namespace warpmeter::runtime
