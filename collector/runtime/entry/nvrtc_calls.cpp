// SPDX-License-Identifier: MIT
// In front of NVRTC's nvrtcGetCUBIN: what it compiled it has as PTX too. And of
// nvrtcCompileProgram: with the lines of the source the machine code is the same, and counts can be
// audited. And of nvrtcCreateProgram and nvrtcDestroyProgram, for the text that lines are of.
#include <nvrtc.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/own_stack.h"
#include "collector/runtime/entry/compilers.h"
#include "collector/runtime/image/given_sources.h"
#include "collector/runtime/image/made_code.h"

namespace warpmeter::runtime {
namespace {

/// The PTX of the program that was compiled last; empty: there is none (compiled for linking
/// later, which makes neither).
std::string ptx_of(nvrtcProgram program) {
  const auto size_of = compiler_function<decltype(nvrtcGetPTXSize)>(nullptr, "nvrtcGetPTXSize");
  const auto get = compiler_function<decltype(nvrtcGetPTX)>(nullptr, "nvrtcGetPTX");
  std::size_t bytes = 0;
  if (size_of == nullptr || get == nullptr || size_of(program, &bytes) != NVRTC_SUCCESS) return "";
  std::string text(bytes, '\0');
  if (get(program, text.data()) != NVRTC_SUCCESS) return "";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// The texts of programs, by their handles, which NVRTC gives again once one is destroyed.
struct GivenSources {
  struct Source {
    std::string name, text;
  };
  std::mutex mutex;
  std::map<nvrtcProgram, Source> of_program;
};
GivenSources& given_sources() {
  static auto* all = new GivenSources;  // as long as the process
  return *all;
}

nvrtcResult create_program(nvrtcProgram* program, const char* text, const char* name, int count,
                           const char* const* headers, const char* const* names) {
  const auto create =
      compiler_function<decltype(nvrtcCreateProgram)>(nullptr, "nvrtcCreateProgram");
  if (create == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  const nvrtcResult result = create(program, text, name, count, headers, names);
  if (result != NVRTC_SUCCESS) return result;
  const bool is_named = name != nullptr && text != nullptr;
  if (is_named) remember_source(name, text);
  const std::lock_guard lock(given_sources().mutex);
  given_sources().of_program.erase(*program);  // an earlier program may have had the handle
  if (is_named) given_sources().of_program.emplace(*program, GivenSources::Source{name, text});
  return result;
}

nvrtcResult destroy_program(nvrtcProgram* program) {
  const auto destroy =
      compiler_function<decltype(nvrtcDestroyProgram)>(nullptr, "nvrtcDestroyProgram");
  if (destroy == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  if (program != nullptr) {
    // Before another thread can create a program of the same handle.
    const std::lock_guard lock(given_sources().mutex);
    given_sources().of_program.erase(*program);
  }
  return destroy(program);
}

GivenSources::Source source_given_to(nvrtcProgram program) {
  const std::lock_guard lock(given_sources().mutex);
  const auto found = given_sources().of_program.find(program);
  return found == given_sources().of_program.end() ? GivenSources::Source() : found->second;
}

bool has_lines(std::string_view option) {
  return option == "-lineinfo" || option == "--generate-line-info" || option == "-G" ||
         option == "--device-debug";
}

nvrtcResult compile_program(nvrtcProgram program, int count, const char* const* options) {
  const auto compile =
      compiler_function<decltype(nvrtcCompileProgram)>(nullptr, "nvrtcCompileProgram");
  if (compile == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  if (count < 0 || (count > 0 && options == nullptr)) return compile(program, count, options);
  std::vector<const char*> all(options, options + count);
  const bool is_with = std::any_of(all.begin(), all.end(), [](const char* option) {
    return option != nullptr && has_lines(option);
  });
  if (!is_with) all.push_back("-lineinfo");
  return compile(program, static_cast<int>(all.size()), all.data());
}

nvrtcResult get_cubin(nvrtcProgram program, char* cubin) {
  const auto get = compiler_function<decltype(nvrtcGetCUBIN)>(nullptr, "nvrtcGetCUBIN");
  if (get == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  const nvrtcResult result = get(program, cubin);
  std::size_t bytes = 0;
  const auto size_of = compiler_function<decltype(nvrtcGetCUBINSize)>(nullptr, "nvrtcGetCUBINSize");
  const bool is_made =
      result == NVRTC_SUCCESS && size_of != nullptr && size_of(program, &bytes) == NVRTC_SUCCESS;
  // The program may be destroyed before the cubin is loaded.
  if (is_made) {
    const auto [name, text] = source_given_to(program);
    remember_made(std::string(cubin, bytes),
                  [ptx = with_source(ptx_of(program), name, text)] { return ptx; });
  }
  return result;
}

}  // namespace
}  // namespace warpmeter::runtime

extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcCreateProgram(
    nvrtcProgram* program, const char* text, const char* name, int count,
    const char* const* headers, const char* const* names) {
  return warpmeter::with_room([&] {
    return warpmeter::runtime::create_program(program, text, name, count, headers, names);
  });
}

extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return warpmeter::with_room([&] { return warpmeter::runtime::destroy_program(program); });
}

extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcCompileProgram(
    nvrtcProgram program, int count, const char* const* options) {
  return warpmeter::with_room(
      [&] { return warpmeter::runtime::compile_program(program, count, options); });
}

extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcGetCUBIN(nvrtcProgram program,
                                                                    char* cubin) {
  return warpmeter::with_room([&] { return warpmeter::runtime::get_cubin(program, cubin); });
}

namespace warpmeter::runtime {

std::span<const Front> nvrtc_fronts() {
  static const Front fronts[] = {
      {"nvrtcCreateProgram", reinterpret_cast<const void*>(&nvrtcCreateProgram)},
      {"nvrtcDestroyProgram", reinterpret_cast<const void*>(&nvrtcDestroyProgram)},
      {"nvrtcCompileProgram", reinterpret_cast<const void*>(&nvrtcCompileProgram)},
      {"nvrtcGetCUBIN", reinterpret_cast<const void*>(&nvrtcGetCUBIN)},
  };
  return fronts;
}

}  // namespace warpmeter::runtime
