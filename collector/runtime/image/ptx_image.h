// SPDX-License-Identifier: MIT
// The mistakes that a driver finds in an image, or an input of its linker, before it compiles its
// instructions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

struct ImageMistake {
  CUresult result = CUDA_ERROR_INVALID_PTX;
  std::string why;
};

/// True for machine code in an image that is no fat binary.
bool is_machine_code(const char* image);
/// The mistake in a text that does not begin as PTX.
std::optional<ImageMistake> kind_mistake(std::string_view text);
/// The mistake in PTX: a version or a target that a device of this architecture does not take.
std::optional<ImageMistake> header_mistake(std::string_view ptx, int arch);

/// The first name that PTX uses and that nobody defines; empty: there is none.
std::string undefined_in(std::string_view ptx);

}  // namespace warpmeter::runtime
