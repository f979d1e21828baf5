// SPDX-License-Identifier: MIT
// Batches of copies, prefetches and discards, and copies of boxes between devices. All of a batch
// is looked at before anything of it is done.
#include <algorithm>

#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace batches {
namespace {

/// Which of a batch the entries of a list are for: each from its index on, up to the next one's.
bool are_indices(const std::size_t* indices, std::size_t entries, std::size_t count) {
  if (indices == nullptr || entries == 0 || entries > count || indices[0] != 0) return false;
  for (std::size_t i = 1; i < entries; ++i) {
    if (indices[i] <= indices[i - 1] || indices[i] >= count) return false;
  }
  return true;
}

bool is_order(cudaMemcpySrcAccessOrder order) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
}

/// cudaSuccess: of a batch.
cudaError_t stream_mistake(Process& process, cudaStream_t handle) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return stream == process.stream(cudaStreamLegacy) ? cudaErrorInvalidValue : cudaSuccess;
}

/// The call reads the source during the call, though the copy's turn comes later: the program may
/// need its source for something else then.
void read_now(Process& process, CopyWork& copy) {
  const std::uint64_t rows = std::max(copy.from_height, copy.height);
  const std::uint64_t bytes = (copy.depth * rows - 1) * copy.from_pitch + copy.width;
  bool inside = true;
  const std::byte* from = process.memory().translate(copy.from, bytes, inside);
  if (from == nullptr) from = reinterpret_cast<const std::byte*>(copy.from);
  auto kept = std::make_shared<std::vector<std::byte>>(copy.width * copy.height * copy.depth);
  std::byte* to = kept->data();
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y, to += copy.width) {
      std::copy_n(from + (z * rows + y) * copy.from_pitch, copy.width, to);
    }
  }
  copy.from = reinterpret_cast<std::uint64_t>(kept->data());
  copy.from_pitch = copy.width;
  copy.from_height = copy.height;
  copy.source = std::move(kept);
}

struct BatchCopy {
  CopyWork work;
  cudaMemcpySrcAccessOrder order;
};

cudaError_t submit_batch(Process& process, cudaStream_t handle, std::vector<BatchCopy>& copies) {
  const Stream& stream = *process.stream(handle);
  for (const BatchCopy& copy : copies) {
    const cudaError_t mistake = copy_mistake(process, copy.work, stream.capture != nullptr);
    if (mistake != cudaSuccess) return mistake;
  }
  // It follows what its stream was given, or another one that its stream follows.
  bool is_later = false;
  process.for_each_stream([&](const Stream& other) { is_later |= !is_done(other); });
  for (BatchCopy& copy : copies) {
    const bool is_empty = copy.work.width == 0;
    if (copy.order == cudaMemcpySrcAccessOrderDuringApiCall && is_later && !is_empty) {
      read_now(process, copy.work);
    }
    const cudaError_t result = submit_copy(process, handle, copy.work);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

/// One side of a box; its unit is an array's element, or a byte. False where it is none.
bool put_operand(const cudaMemcpy3DOperand& operand, const cudaExtent& extent,
                 std::uint64_t element, std::uint64_t& address, std::uint64_t& pitch,
                 std::uint64_t& rows) {
  if (operand.type == cudaMemcpyOperandTypeArray) {
    const Array& array = *array_at(operand.op.array.array);
    const cudaOffset3D& offset = operand.op.array.offset;
    const auto fits = [](std::size_t at, std::size_t count, std::size_t all) {
      return at <= all && count <= all - at;
    };
    pitch = array.pitch();
    rows = array.rows();
    address = array.address + (offset.z * rows + offset.y) * pitch + offset.x * element;
    return fits(offset.x, extent.width, array.extent.width) &&
           fits(offset.y, extent.height, rows) && fits(offset.z, extent.depth, array.layers());
  }
  const auto& pointer = operand.op.ptr;
  const std::size_t row = pointer.rowLength == 0 ? extent.width : pointer.rowLength;
  rows = pointer.layerHeight == 0 ? extent.height : pointer.layerHeight;
  pitch = row * element;
  address = reinterpret_cast<std::uint64_t>(pointer.ptr);
  return operand.type == cudaMemcpyOperandTypePointer && row >= extent.width &&
         rows >= extent.height;
}

bool make_box(const cudaMemcpy3DBatchOp& wanted, CopyWork& copy) {
  const cudaExtent& extent = wanted.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return false;
  std::uint64_t element = 0;
  for (const cudaMemcpy3DOperand* operand : {&wanted.src, &wanted.dst}) {
    if (operand->type != cudaMemcpyOperandTypeArray) continue;
    const Array* array = array_at(operand->op.array.array);
    if (array == nullptr || (element != 0 && element != array->element_bytes())) return false;
    element = array->element_bytes();
  }
  element = std::max<std::uint64_t>(element, 1);
  copy.width = extent.width * element;
  copy.height = extent.height;
  copy.depth = extent.depth;
  return put_operand(wanted.dst, extent, element, copy.to, copy.to_pitch, copy.to_height) &&
         put_operand(wanted.src, extent, element, copy.from, copy.from_pitch, copy.from_height);
}

// Where managed memory lies is no question here: it is where both reach it.

/// The mistake of a prefetch or a discard.
cudaError_t ranges_mistake(Process& process, void* const* pointers, const std::size_t* sizes,
                           std::size_t count, unsigned long long flags, cudaStream_t stream) {
  if (const cudaError_t mistake = stream_mistake(process, stream)) return mistake;
  if (pointers == nullptr || sizes == nullptr || count == 0 || flags != 0) {
    return cudaErrorInvalidValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto address = reinterpret_cast<std::uint64_t>(pointers[i]);
    const Block* block = process.memory().find(address);
    if (block == nullptr || block->kind != MemoryKind::managed || sizes[i] == 0 ||
        !block->holds(address, sizes[i])) {
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

cudaError_t places_mistake(const Process& process, const cudaMemLocation* places,
                           const std::size_t* indices, std::size_t entries, std::size_t count) {
  if (places == nullptr || !are_indices(indices, entries, count)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < entries; ++i) {
    const bool is_device = places[i].type == cudaMemLocationTypeDevice;
    if (is_device && !process.has_device(places[i].id)) return cudaErrorInvalidDevice;
    if (places[i].type < cudaMemLocationTypeDevice ||
        places[i].type > cudaMemLocationTypeHostNumaCurrent) {
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

cudaError_t peer_box(Process& process, const cudaMemcpy3DPeerParms* given, CopyWork& copy) {
  if (given == nullptr) return cudaErrorInvalidValue;
  for (const int device : {given->srcDevice, given->dstDevice}) {
    if (!process.has_device(device)) return cudaErrorInvalidDevice;
  }
  cudaMemcpy3DParms box{};
  box.srcArray = given->srcArray;
  box.srcPos = given->srcPos;
  box.srcPtr = given->srcPtr;
  box.dstArray = given->dstArray;
  box.dstPos = given->dstPos;
  box.dstPtr = given->dstPtr;
  box.extent = given->extent;
  box.kind = cudaMemcpyDeviceToDevice;
  copy = box_of(box);
  return cudaSuccess;
}

cudaError_t copy_batch_async(Process& process, void* const* to, const void* const* from,
                             const std::size_t* sizes, std::size_t count,
                             const cudaMemcpyAttributes* attributes, const std::size_t* indices,
                             std::size_t entries, cudaStream_t stream) {
  if (const cudaError_t mistake = stream_mistake(process, stream)) return mistake;
  if (to == nullptr || from == nullptr || sizes == nullptr || attributes == nullptr ||
      !are_indices(indices, entries, count)) {
    return cudaErrorInvalidValue;
  }
  std::vector<BatchCopy> copies;
  std::size_t entry = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (entry + 1 < entries && indices[entry + 1] == i) ++entry;
    const cudaMemcpySrcAccessOrder order = attributes[entry].srcAccessOrder;
    if (!is_order(order)) return cudaErrorInvalidValue;
    copies.push_back({line(to[i], from[i], sizes[i], cudaMemcpyDefault), order});
  }
  return submit_batch(process, stream, copies);
}

cudaError_t copy_3d_batch_async(Process& process, std::size_t count,
                                const cudaMemcpy3DBatchOp* wanted, unsigned long long flags,
                                cudaStream_t stream) {
  if (const cudaError_t mistake = stream_mistake(process, stream)) return mistake;
  if (count == 0 || wanted == nullptr || flags != 0) return cudaErrorInvalidValue;
  std::vector<BatchCopy> copies(count);
  for (std::size_t i = 0; i < count; ++i) {
    copies[i].order = wanted[i].srcAccessOrder;
    if (!is_order(copies[i].order) || !make_box(wanted[i], copies[i].work)) {
      return cudaErrorInvalidValue;
    }
  }
  return submit_batch(process, stream, copies);
}

/// Before CUDA 13 they said which copy was wrong; all of them, where it is the call itself.
cudaError_t copy_batch_before_13(Process& process, void** to, void** from, std::size_t* sizes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* indices, std::size_t entries, std::size_t* wrong,
                                 cudaStream_t stream) {
  const cudaError_t result =
      copy_batch_async(process, to, from, sizes, count, attributes, indices, entries, stream);
  if (result != cudaSuccess && wrong != nullptr) *wrong = ~std::size_t{0};
  return result;
}
cudaError_t copy_boxes_before_13(Process& process, std::size_t count, cudaMemcpy3DBatchOp* boxes,
                                 std::size_t* wrong, unsigned long long flags,
                                 cudaStream_t stream) {
  const cudaError_t result = copy_3d_batch_async(process, count, boxes, flags, stream);
  if (result != cudaSuccess && wrong != nullptr) *wrong = ~std::size_t{0};
  return result;
}

cudaError_t mem_prefetch_batch_async(Process& process, void** pointers, std::size_t* sizes,
                                     std::size_t count, cudaMemLocation* places,
                                     std::size_t* indices, std::size_t entries,
                                     unsigned long long flags, cudaStream_t stream) {
  const cudaError_t mistake = ranges_mistake(process, pointers, sizes, count, flags, stream);
  return mistake != cudaSuccess ? mistake
                                : places_mistake(process, places, indices, entries, count);
}

/// Discarded memory has no certain value: the one that it has is one of them.
cudaError_t mem_discard_batch_async(Process& process, void** pointers, std::size_t* sizes,
                                    std::size_t count, unsigned long long flags,
                                    cudaStream_t stream) {
  return ranges_mistake(process, pointers, sizes, count, flags, stream);
}

cudaError_t mem_discard_and_prefetch_batch_async(Process& process, void** pointers,
                                                 std::size_t* sizes, std::size_t count,
                                                 cudaMemLocation* places, std::size_t* indices,
                                                 std::size_t entries, unsigned long long flags,
                                                 cudaStream_t stream) {
  const cudaError_t mistake = ranges_mistake(process, pointers, sizes, count, flags, stream);
  return mistake != cudaSuccess ? mistake
                                : places_mistake(process, places, indices, entries, count);
}

cudaError_t copy_3d_peer(Process& process, const cudaMemcpy3DPeerParms* parameters) {
  CopyWork copy;
  const cudaError_t mistake = peer_box(process, parameters, copy);
  return mistake != cudaSuccess ? mistake : copy_now(process, copy);
}

cudaError_t copy_3d_peer_async(Process& process, const cudaMemcpy3DPeerParms* parameters,
                               cudaStream_t stream) {
  CopyWork copy;
  const cudaError_t mistake = peer_box(process, parameters, copy);
  return mistake != cudaSuccess ? mistake : submit_copy(process, stream, copy);
}

}  // namespace
}  // namespace batches

std::vector<Answer> batch_answers() {
  using CopyBatchBefore13 =
      CUresult(CUdeviceptr*, CUdeviceptr*, std::size_t*, std::size_t, CUmemcpyAttributes*,
               std::size_t*, std::size_t, std::size_t*, CUstream);
  using CopyBoxesBefore13 =
      CUresult(std::size_t, CUDA_MEMCPY3D_BATCH_OP*, std::size_t*, unsigned long long, CUstream);
  return {
      BOTH(cudaMemcpyBatchAsync, cuMemcpyBatchAsync_v2, batches::copy_batch_async, Needs::context),
      BOTH(cudaMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_v2, batches::copy_3d_batch_async,
           Needs::context),
      ANSWER_AS("cudaMemcpyBatchAsync of CUDA 12", batches::copy_batch_before_13, Needs::context),
      ANSWER_LIKE("cuMemcpyBatchAsync", CopyBatchBefore13, batches::copy_batch_before_13,
                  Needs::context),
      ANSWER_AS("cudaMemcpy3DBatchAsync of CUDA 12", batches::copy_boxes_before_13, Needs::context),
      ANSWER_LIKE("cuMemcpy3DBatchAsync", CopyBoxesBefore13, batches::copy_boxes_before_13,
                  Needs::context),
      BOTH(cudaMemPrefetchBatchAsync, cuMemPrefetchBatchAsync, batches::mem_prefetch_batch_async,
           Needs::context),
      BOTH(cudaMemDiscardBatchAsync, cuMemDiscardBatchAsync, batches::mem_discard_batch_async,
           Needs::context),
      BOTH(cudaMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync,
           batches::mem_discard_and_prefetch_batch_async, Needs::context),
      ANSWER(cudaMemcpy3DPeer, batches::copy_3d_peer, Needs::context),
      ANSWER(cudaMemcpy3DPeerAsync, batches::copy_3d_peer_async, Needs::context),
  };
}

}  // namespace warpmeter::runtime
