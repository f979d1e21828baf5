// Copies and sets of memory as the API's functions describe them.
#pragma once

#include "collector/runtime/process.h"

namespace warpmeter::runtime {

/// Bytes in one stretch.
CopyWork line(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
CopyWork box_of(const cudaMemcpy3DParms& parameters);
/// What box_of() made it of, or might have.
cudaMemcpy3DParms parameters_of(const CopyWork& copy);

/// The memory behind a symbol, from an offset on.
cudaError_t place_in(Process& process, const void* symbol, std::size_t bytes, std::size_t offset,
                     void*& place);

}  // namespace warpmeter::runtime
