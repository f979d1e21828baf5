// SPDX-License-Identifier: MIT
// Copies and sets of memory as the API's functions describe them.
#pragma once

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Bytes in one stretch.
CopyWork line(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
/// Rows of `width` bytes.
CopyWork box(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t height, cudaMemcpyKind kind);
CopyWork box_of(const cudaMemcpy3DParms& parameters);
/// The parameters from which box_of() made it, or might have.
cudaMemcpy3DParms parameters_of(const CopyWork& copy);

/// Gives it to the stream, unless there is something wrong with it.
cudaError_t submit_copy(Process& process, cudaStream_t stream, const CopyWork& copy);
/// The host goes on when all is done, which no capture allows.
cudaError_t copy_now(Process& process, const CopyWork& copy);

/// A box may leave what it is of although all of its bytes are somebody's.
cudaError_t box_mistake(const cudaMemcpy3DParms& parameters);

/// A part of a symbol's memory, from an offset on.
struct SymbolPart {
  const void* symbol;
  std::size_t bytes, offset;
};
cudaError_t copy_to(Process& process, const SymbolPart& part, const void* from, cudaMemcpyKind kind,
                    CopyWork& copy);
cudaError_t copy_from(Process& process, void* to, const SymbolPart& part, cudaMemcpyKind kind,
                      CopyWork& copy);

}  // namespace warpmeter::runtime
