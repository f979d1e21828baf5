// SPDX-License-Identifier: MIT
#include "collector/runtime/process/not_executed.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/kernel_name.h"
#include "collector/runtime/check/python.h"
#include "collector/runtime/image/fat_binary.h"

namespace warpmeter::runtime {

std::string why_not_executed(const Kernel& kernel, std::string_view place) {
  if (python::interpreter() == nullptr) return kernel.failure();
  const std::string name = readable_name(kernel.entry());
  const char* const accelerators = std::getenv("CUPY_ACCELERATORS");
  const bool is_of_cub =
      name.find("cub::") != std::string::npos && accelerators != nullptr && *accelerators != '\0';
  const std::string_view of_cub =
      is_of_cub ? "; with CUPY_ACCELERATORS= CuPy's reductions take kernels of its own" : "";
  if (kernel.failure() != without_ptx(0, kernel.module().arch())) {
    return kernel.failure() + std::string(of_cub) + std::string(place);
  }
  return fmt::format(
      "its library has only machine code of {}, which the model does not execute{}. {}{}", name,
      place, instead_of_machine_code, of_cub);
}

bool raises_exceptions(const void* instruction) {
  Dl_info object{};
  if (dladdr(instruction, &object) == 0 || object.dli_fname == nullptr) return false;
  const std::string_view file = object.dli_fname;
  return file.find("libffi") == std::string_view::npos &&
         file.find("/_ctypes.") == std::string_view::npos &&
         file.find("/cuda/bindings/") == std::string_view::npos;
}

}  // namespace warpmeter::runtime
