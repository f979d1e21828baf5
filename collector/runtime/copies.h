// Copies and sets of memory as the API's functions describe them.
#pragma once

#include "collector/runtime/process.h"

namespace warpmeter::runtime {

/// Bytes in one stretch.
CopyWork line(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
/// Rows of `width` bytes.
CopyWork box(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t height, cudaMemcpyKind kind);
CopyWork box_of(const cudaMemcpy3DParms& parameters);
/// What box_of() made it of, or might have.
cudaMemcpy3DParms parameters_of(const CopyWork& copy);

/// Gives it to the stream, unless there is something wrong with it.
cudaError_t submit_copy(Process& process, cudaStream_t stream, const CopyWork& copy);
/// The host goes on when all is done, which no capture allows.
cudaError_t copy_now(Process& process, const CopyWork& copy);

/// The memory behind a symbol, from an offset on.
cudaError_t place_in(Process& process, const void* symbol, std::size_t bytes, std::size_t offset,
                     void*& place);

}  // namespace warpmeter::runtime
