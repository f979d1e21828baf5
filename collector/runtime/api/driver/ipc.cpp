// SPDX-License-Identifier: MIT
// Device memory, events and pools that processes of a program share.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/event_page.h"
#include "collector/runtime/process/pools.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace sharing {
namespace {

enum class Shared : std::uint64_t {
  memory = 0x79726f6d656d6d77,
  event = 0x0a746e6576656d77,
  of_pool = 0x0a6c6f6f706d6d77,
};

/// The content of a handle's 64 bytes.
struct Handle {
  Shared what{};
  SharedPages pages;
  std::uint64_t before = 0, bytes = 0;  ///< for memory: where it begins in its pages
  std::uint64_t device = 0;
  std::uint64_t pool = 0;  ///< the pool of its memory: which
};

template <class Opaque>
void put_handle(Opaque* opaque, const Handle& handle) {
  static_assert(sizeof handle <= sizeof *opaque);
  std::memset(opaque, 0, sizeof *opaque);
  std::memcpy(opaque, &handle, sizeof handle);
}

/// Those of this process are for others; cudaSuccess: it is one of another's.
template <class Opaque>
cudaError_t read_handle(Process& process, const Opaque& opaque, Shared what, Handle& handle) {
  std::memcpy(static_cast<void*>(&handle), &opaque, sizeof handle);
  if (handle.what != what) {
    return process.refuse(cudaErrorInvalidValue, "failed call",
                          [] { return std::string("what it is given is no such handle"); });
  }
  if (handle.pages.process != getpid()) return cudaSuccess;
  return process.refuse(cudaErrorDeviceUninitialized, "failed call", [] {
    return std::string("the handle is of this process itself; it is for others");
  });
}

/// Why that cannot be shared; empty: it can.
std::string_view why_not_shared(const Block* block) {
  if (block == nullptr) return "it is no memory of the device";
  if (block->is_imported) return "it is another process's";
  if (block->is_of_graph) return "memory of a graph is shared by nobody";
  if (pool_holding(block->address) != nullptr)
    return "memory of a pool (cudaMallocAsync) is shared by the pool alone";
  if (block->kind != MemoryKind::device || block->mapping == nullptr) {
    return "only memory of cudaMalloc is shared";
  }
  return {};
}

cudaError_t gone(Process& process, const Handle& handle) {
  process.say(fmt::format(
      "a handle of cudaIpc… cannot be opened: process {} has ended or freed what it is for, or is "
      "none that this one may look into",
      handle.pages.process));
  return cudaErrorMapBufferObjectFailed;
}

/// True if a pool is one that a process hands out as descriptors.
bool is_handed_out(const Pool& pool) {
  return !pool.is_imported &&
         (pool.properties.handleTypes & cudaMemHandleTypePosixFileDescriptor) != 0;
}
/// The object for it in other processes; null where there is no room.
const Shareable* shared(Pool& pool) {
  if (pool.shared == nullptr) {
    pool.shared = Shareable::make(Shareable::Kind::pool, pool.properties.location.id, 0);
  }
  return pool.shared.get();
}

/// This process does not see other processes' writes.
void count_as_written(Process& process, const Block& block) {
  if (process.checks() != nullptr) process.checks()->set(block.address, block.bytes);
}

cudaError_t ipc_get_mem_handle(Process& process, cudaIpcMemHandle_t* result, void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* block = process.memory().find(address);
  if (result == nullptr) return cudaErrorInvalidValue;
  if (const std::string_view why = why_not_shared(block); !why.empty()) {
    return process.refuse(cudaErrorInvalidValue, "failed call", [&] { return std::string(why); });
  }
  block = process.memory().share(address);
  if (block == nullptr) return cudaErrorMemoryAllocation;
  count_as_written(process, *block);
  const auto before =
      static_cast<std::uint64_t>(block->host - static_cast<std::byte*>(block->mapping));
  put_handle(result, {Shared::memory, block->pages, before, block->bytes,
                      static_cast<std::uint64_t>(block->device)});
  return cudaSuccess;
}

cudaError_t ipc_open_mem_handle(Process& process, void** pointer, cudaIpcMemHandle_t opaque,
                                unsigned flags) {
  if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
  Handle handle;
  const cudaError_t mistake = read_handle(process, opaque, Shared::memory, handle);
  if (mistake != cudaSuccess) return mistake;
  const int device = static_cast<int>(handle.device);
  const Block* block = process.memory().open(handle.pages, handle.before, handle.bytes,
                                             device < process.devices() ? device : current_device,
                                             process.name_of_allocation(handle.bytes));
  if (block == nullptr) return gone(process, handle);
  count_as_written(process, *block);
  *pointer = reinterpret_cast<void*>(block->address);
  return cudaSuccess;
}

cudaError_t ipc_close_mem_handle(Process& process, void* pointer) {
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  return process.memory().close(reinterpret_cast<std::uint64_t>(pointer)) ? cudaSuccess
                                                                          : cudaErrorInvalidValue;
}

cudaError_t ipc_get_event_handle(Process& process, cudaIpcEventHandle_t* result,
                                 cudaEvent_t handle) {
  const Event* event = process.event(handle);
  if (result == nullptr) return cudaErrorInvalidValue;
  if (event == nullptr || (event->flags & cudaEventInterprocess) == 0) {
    return cudaErrorInvalidResourceHandle;
  }
  put_handle(result, {Shared::event, event->page->pages()});
  return cudaSuccess;
}

cudaError_t ipc_open_event_handle(Process& process, cudaEvent_t* result,
                                  cudaIpcEventHandle_t opaque) {
  if (result == nullptr) return cudaErrorInvalidValue;
  Handle handle;
  const cudaError_t mistake = read_handle(process, opaque, Shared::event, handle);
  if (mistake != cudaSuccess) return mistake;
  std::shared_ptr<EventPage> page = EventPage::open(handle.pages);
  if (page == nullptr) return gone(process, handle);
  Event* event = process.make_event(cudaEventDisableTiming);
  event->page = std::move(page);
  *result = reinterpret_cast<cudaEvent_t>(event);
  return cudaSuccess;
}

cudaError_t mem_pool_export_to_shareable_handle(Process& process, void* result,
                                                cudaMemPool_t handle,
                                                cudaMemAllocationHandleType type, unsigned flags) {
  Pool* pool = pool_of(handle);
  if (result == nullptr || pool == nullptr || flags != 0 ||
      type != cudaMemHandleTypePosixFileDescriptor) {
    return cudaErrorInvalidValue;
  }
  if (!is_handed_out(*pool)) {
    return process.refuse(cudaErrorInvalidValue, "failed call", [&] {
      return std::string(pool->is_imported ? "the pool is another process's"
                                           : "the pool was made without handleTypes");
    });
  }
  const Shareable* made = shared(*pool);
  if (made == nullptr) return cudaErrorMemoryAllocation;
  const int descriptor = made->handed_out();
  std::memcpy(result, &descriptor, sizeof descriptor);
  return cudaSuccess;
}

cudaError_t mem_pool_import_from_shareable_handle(Process& process, cudaMemPool_t* result,
                                                  void* descriptor,
                                                  cudaMemAllocationHandleType type,
                                                  unsigned flags) {
  if (result == nullptr || flags != 0 || type != cudaMemHandleTypePosixFileDescriptor) {
    return cudaErrorInvalidValue;
  }
  auto theirs = Shareable::of(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)),
                              Shareable::Kind::pool);
  if (theirs == nullptr) return cudaErrorUnknown;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  const bool is_known = theirs->device() < process.devices();
  properties.location = {cudaMemLocationTypeDevice, is_known ? theirs->device() : current_device};
  Pool& pool = add_pool(properties);
  pool.is_imported = true;
  pool.shared = std::move(theirs);
  *result = handle_of(pool);
  return cudaSuccess;
}

cudaError_t mem_pool_export_pointer(Process& process, cudaMemPoolPtrExportData* result,
                                    void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* block = process.memory().find(address);
  const bool begins = block != nullptr && block->address == address;
  Pool* pool = begins ? pool_holding(address) : nullptr;
  if (result == nullptr || pool == nullptr) return cudaErrorInvalidValue;
  if (!is_handed_out(*pool) || block->kind != MemoryKind::device) {
    return process.refuse(cudaErrorInvalidValue, "failed call", [] {
      return std::string("it is of a pool that is another process's, or made without handleTypes");
    });
  }
  const Shareable* made = shared(*pool);
  block = process.memory().share(address);
  if (block == nullptr || made == nullptr) return cudaErrorMemoryAllocation;
  count_as_written(process, *block);
  const auto before =
      static_cast<std::uint64_t>(block->host - static_cast<std::byte*>(block->mapping));
  put_handle(result, {Shared::of_pool, block->pages, before, block->bytes,
                      static_cast<std::uint64_t>(block->device), made->token()});
  return cudaSuccess;
}

cudaError_t mem_pool_import_pointer(Process& process, void** pointer, cudaMemPool_t handle,
                                    cudaMemPoolPtrExportData* opaque) {
  Pool* pool = pool_of(handle);
  if (pointer == nullptr || opaque == nullptr || pool == nullptr || !pool->is_imported) {
    return cudaErrorInvalidValue;
  }
  Handle theirs;
  std::memcpy(static_cast<void*>(&theirs), opaque, sizeof theirs);
  if (theirs.what != Shared::of_pool || theirs.pool != pool->shared->token()) {
    return process.refuse(cudaErrorInvalidValue, "failed call", [] {
      return std::string("what it is given is of no memory of this pool");
    });
  }
  const Block* block =
      process.memory().open(theirs.pages, theirs.before, theirs.bytes, pool->properties.location.id,
                            process.name_of_allocation(theirs.bytes));
  if (block == nullptr) return gone(process, theirs);
  process.memory().give_to_pool(block->address);
  pool->addresses.insert(block->address);
  count_as_written(process, *block);
  *pointer = reinterpret_cast<void*>(block->address);
  return cudaSuccess;
}

}  // namespace
}  // namespace sharing

std::vector<Answer> ipc_answers() {
  return {
      BOTH(cudaIpcGetMemHandle, cuIpcGetMemHandle, sharing::ipc_get_mem_handle, Needs::context),
      BOTH(cudaIpcOpenMemHandle, cuIpcOpenMemHandle_v2, sharing::ipc_open_mem_handle,
           Needs::context),
      ANSWER_LIKE("cuIpcOpenMemHandle", decltype(::cuIpcOpenMemHandle_v2),
                  sharing::ipc_open_mem_handle, Needs::context),
      BOTH(cudaIpcCloseMemHandle, cuIpcCloseMemHandle, sharing::ipc_close_mem_handle,
           Needs::context),
      BOTH(cudaIpcGetEventHandle, cuIpcGetEventHandle, sharing::ipc_get_event_handle,
           Needs::context),
      BOTH(cudaIpcOpenEventHandle, cuIpcOpenEventHandle, sharing::ipc_open_event_handle,
           Needs::context),
      BOTH(cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle,
           sharing::mem_pool_export_to_shareable_handle, Needs::context),
      BOTH(cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle,
           sharing::mem_pool_import_from_shareable_handle, Needs::context),
      BOTH(cudaMemPoolExportPointer, cuMemPoolExportPointer, sharing::mem_pool_export_pointer,
           Needs::context),
      BOTH(cudaMemPoolImportPointer, cuMemPoolImportPointer, sharing::mem_pool_import_pointer,
           Needs::context),
  };
}

}  // namespace warpmeter::runtime
