// SPDX-License-Identifier: MIT
#include "collector/runtime/blas/handles.h"

#include <map>
#include <memory>

#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace blas {
namespace handles {
namespace {

using GetProperty = Status (*)(int property, int* value);
GetProperty library_property = nullptr;

struct Handles {
  std::map<const Handle*, std::unique_ptr<Handle>> all;
};

Status create(Process& process, Handle** handle) {
  if (handle == nullptr) return Status::invalid_value;
  if (process.devices() == 0) return Status::not_initialised;
  Contexts::get().is_initialised = true;
  Contexts::get().enter_runtime(current_device, true);
  auto made = std::make_unique<Handle>();
  *handle = made.get();
  process.state<Handles>().all.emplace(made.get(), std::move(made));
  process.say(
      std::string("cuBLAS's functions are computed on the CPU, in double precision; on a GPU they "
                  "are kernels of NVIDIA's, which are not counted") +
      (process.checks() != nullptr ? "; nobody looks whether they read unset memory" : ""));
  return Status::success;
}

Status destroy(Call& call) {
  Process& process = Process::get();
  if (Stream* stream = process.stream(call.handle().stream);
      stream != nullptr && stream->capture == nullptr) {
    wait_for(process, *stream);
  }
  process.state<Handles>().all.erase(&call.handle());
  return Status::success;
}

Status set_stream(Call& call, cudaStream_t stream) {
  call.handle().stream = stream;
  return Status::success;
}

template <auto member>
Status get(Call& call, std::remove_reference_t<decltype(std::declval<Handle&>().*member)>* value) {
  if (value == nullptr) return Status::invalid_value;
  *value = call.handle().*member;
  return Status::success;
}

template <auto member, int greatest>
Status set(Call& call, int value) {
  if (value < 0 || value > greatest) return Status::invalid_value;
  call.handle().*member = value;
  return Status::success;
}

Status get_version(Process&, Handle*, int* version) {
  if (version == nullptr) return Status::invalid_value;
  if (library_property == nullptr) return Status::not_supported;
  int parts[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (library_property(i, &parts[i]) != Status::success) return Status::not_supported;
  }
  *version = parts[0] * 10'000 + parts[1] * 100 + parts[2];
  return Status::success;
}

/// Nothing is computed there.
Status set_workspace(Call&, void*, std::size_t) { return Status::success; }

/// Copies elements of a vector or matrix; the side that is one column of many is a box of rows.
template <bool is_to_device>
Status copy(Process& process, std::int64_t rows, std::int64_t columns, std::int64_t bytes,
            const void* from, std::int64_t from_leading, void* to, std::int64_t to_leading,
            cudaStream_t stream, bool waits) {
  if (rows < 0 || columns < 0 || bytes <= 0) return Status::invalid_value;
  if (rows == 0 || columns == 0) return Status::success;
  if (from_leading < rows || to_leading < rows) return Status::invalid_value;
  CopyWork work;
  work.to = reinterpret_cast<std::uint64_t>(to);
  work.from = reinterpret_cast<std::uint64_t>(from);
  work.to_pitch = static_cast<std::uint64_t>(to_leading * bytes);
  work.from_pitch = static_cast<std::uint64_t>(from_leading * bytes);
  work.width = static_cast<std::uint64_t>(rows * bytes);
  work.height = static_cast<std::uint64_t>(columns);
  work.kind = is_to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  if (copy_mistake(process, work) != cudaSuccess) return Status::invalid_value;
  if (submit(process, stream, work) != cudaSuccess) return Status::execution_failed;
  if (Stream* given = process.stream(stream); waits && given != nullptr) wait_for(process, *given);
  return Status::success;
}

template <bool is_to_device>
Status copy_matrix(Process& process, Size rows, Size columns, Size bytes, const void* from,
                   Size from_leading, void* to, Size to_leading) {
  return copy<is_to_device>(process, rows, columns, bytes, from, from_leading, to, to_leading,
                            nullptr, true);
}

template <bool is_to_device>
Status copy_matrix_later(Process& process, Size rows, Size columns, Size bytes, const void* from,
                         Size from_leading, void* to, Size to_leading, cudaStream_t stream) {
  return copy<is_to_device>(process, rows, columns, bytes, from, from_leading, to, to_leading,
                            stream, false);
}

template <bool is_to_device>
Status copy_vector(Process& process, Size n, Size bytes, const void* from, Size from_step, void* to,
                   Size to_step) {
  if (from_step <= 0 || to_step <= 0) return Status::invalid_value;
  return copy<is_to_device>(process, 1, n, bytes, from, from_step, to, to_step, nullptr, true);
}

template <bool is_to_device>
Status copy_vector_later(Process& process, Size n, Size bytes, const void* from, Size from_step,
                         void* to, Size to_step, cudaStream_t stream) {
  if (from_step <= 0 || to_step <= 0) return Status::invalid_value;
  return copy<is_to_device>(process, 1, n, bytes, from, from_step, to, to_step, stream, false);
}

}  // namespace
}  // namespace handles

bool is_handle(Process& process, const Handle* handle) {
  return process.state<handles::Handles>().all.contains(handle);
}

void use_properties_of(const void* function) {
  handles::library_property = reinterpret_cast<handles::GetProperty>(const_cast<void*>(function));
}

}  // namespace blas

std::vector<Answer> blas_handle_answers() {
  using namespace blas;
  using namespace blas::handles;
  std::vector<Answer> rows;
  ONE(Create_v2, create)
  ONE(Destroy_v2, destroy)
  ONE(GetVersion_v2, get_version)
  ONE(SetStream_v2, set_stream)
  ONE(GetStream_v2, get<&Handle::stream>)
  ONE(SetPointerMode_v2, set<&Handle::pointer_mode, 1>)
  ONE(GetPointerMode_v2, get<&Handle::pointer_mode>)
  ONE(SetMathMode, set<&Handle::math_mode, 31>)
  ONE(GetMathMode, get<&Handle::math_mode>)
  ONE(SetAtomicsMode, set<&Handle::atomics_mode, 1>)
  ONE(GetAtomicsMode, get<&Handle::atomics_mode>)
  ONE(SetSmCountTarget, set<&Handle::multiprocessors, 65535>)
  ONE(GetSmCountTarget, get<&Handle::multiprocessors>)
  ONE(SetWorkspace_v2, set_workspace)
  ONE(SetVector, copy_vector<true>)
  ONE(GetVector, copy_vector<false>)
  ONE(SetMatrix, copy_matrix<true>)
  ONE(GetMatrix, copy_matrix<false>)
  ONE(SetVectorAsync, copy_vector_later<true>)
  ONE(GetVectorAsync, copy_vector_later<false>)
  ONE(SetMatrixAsync, copy_matrix_later<true>)
  ONE(GetMatrixAsync, copy_matrix_later<false>)
  return rows;
}

}  // namespace warpmeter::runtime
