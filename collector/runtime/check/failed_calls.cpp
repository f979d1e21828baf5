// SPDX-License-Identifier: MIT
#include "collector/runtime/check/failed_calls.h"

#include <fmt/format.h>

#include "collector/runtime/device/error_texts.h"

namespace warpmeter::runtime {
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
