// SPDX-License-Identifier: MIT
// NVIDIA's compilers as libraries, NVRTC and nvJitLink, and cuRAND. This library stands in front of
// those of their functions that hand out machine code or would start it. A program that is linked
// with them binds to ours, for ours was preloaded. Frameworks of Python load them with dlopen() and
// ask dlsym(): the symbol table of the loaded library is changed so that it names ours.
#pragma once

#include <link.h>

#include <span>
#include <string_view>

namespace warpmeter::runtime {

class ObjectFile;

/// A function of a compiler and the one of ours that stands in front of it.
struct Front {
  const char* name;
  const void* ours;
};
std::span<const Front> nvrtc_fronts();
std::span<const Front> nvjitlink_fronts();
std::span<const Front> curand_fronts();

/// The one of those libraries that the path is: "libnvrtc", "libnvJitLink", "libcurand.so"; empty:
/// it is none of them.
std::string_view compiler_at(std::string_view path);
/// Puts our functions into the symbol table of a compiler that has been mapped. Not for a second
/// version of one: our functions know one of each, and another's programs and links end in a crash.
void stand_before(const dl_phdr_info& object, const ObjectFile& file);

/// The compiler's own function of that name; null: no library has it.
void* compiler_function(const char* name);

template <class Function>
Function* compiler_function(Function*, const char* name) {
  return reinterpret_cast<Function*>(compiler_function(name));
}

}  // namespace warpmeter::runtime
