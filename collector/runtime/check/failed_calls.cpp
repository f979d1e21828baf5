// SPDX-License-Identifier: MIT
#include "collector/runtime/check/failed_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "collector/runtime/device/error_texts.h"

namespace warpmeter::runtime {
namespace {

/// Calls that ask whether there is something: the error is the answer "no", and
/// programs and libraries ask on purpose. Who goes on as if there were is told by the next call.
struct Question {
  std::string_view function;
  CUresult no;
};
constexpr Question questions[] = {
    {"cuCtxGetCurrent", CUDA_ERROR_NOT_INITIALIZED},  // does anybody use CUDA already?
    {"cuCtxGetDevice", CUDA_ERROR_NOT_INITIALIZED},
    {"cuCtxGetDevice", CUDA_ERROR_INVALID_CONTEXT},
    {"cuDeviceGetAttribute", CUDA_ERROR_INVALID_VALUE},  // one of a later version
    {"cuPointerGetAttribute", CUDA_ERROR_NOT_INITIALIZED},
    {"cuPointerGetAttribute", CUDA_ERROR_INVALID_VALUE},  // is this memory of the device?
    {"cuPointerGetAttribute", CUDA_ERROR_NOT_SUPPORTED},
    {"cuPointerGetAttributes", CUDA_ERROR_NOT_INITIALIZED},
    {"cuMemGetAddressRange", CUDA_ERROR_NOT_FOUND},
    {"cuMemHostGetFlags", CUDA_ERROR_INVALID_VALUE},
    {"cuModuleGetFunction", CUDA_ERROR_NOT_FOUND},
    {"cuModuleGetGlobal", CUDA_ERROR_NOT_FOUND},
    {"cuLibraryGetKernel", CUDA_ERROR_NOT_FOUND},
    {"cuLibraryGetGlobal", CUDA_ERROR_NOT_FOUND},
    {"cuLibraryGetManaged", CUDA_ERROR_NOT_FOUND},
    {"cuLibraryGetUnifiedFunction", CUDA_ERROR_INVALID_VALUE},
    {"cudaLibraryGetKernel", CUDA_ERROR_NOT_FOUND},
    {"cudaLibraryGetGlobal", CUDA_ERROR_NOT_FOUND},
    {"cudaLibraryGetManaged", CUDA_ERROR_NOT_FOUND},
    {"cudaLibraryGetUnifiedFunction", CUDA_ERROR_INVALID_VALUE},
    {"cudaGraphExecUpdate", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE},  // or is a new one needed?
    {"cuGraphExecUpdate", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE},
};

}  // namespace

bool is_answer(std::string_view function, cudaError_t error) {
  return std::any_of(std::begin(questions), std::end(questions), [&](const Question& question) {
    return question.function == function && question.no == static_cast<CUresult>(error);
  });
}

bool is_of_model(cudaError_t error) {
  return error == cudaErrorNotSupported || error == cudaErrorNoKernelImageForDevice ||
         error == cudaErrorUnknown;
}

std::string error_in_words(std::string_view function, cudaError_t error) {
  const char* name = is_of_driver(function) ? driver_error_name(error) : error_name(error);
  return name != nullptr ? fmt::format("{} returned {} ({})", function, name, error_text(error))
                         : fmt::format("{} returned error {}", function, static_cast<int>(error));
}

}  // namespace warpmeter::runtime
