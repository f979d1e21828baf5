// SPDX-License-Identifier: MIT
// The driver's linker.
#include <fstream>
#include <iterator>
#include <memory>

#include "collector/runtime/api/row.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/linker.h"

namespace warpmeter::runtime {
namespace linking {
namespace {

struct Linkers {
  Handles<Linker> all;
};
Handles<Linker>& linkers() { return Process::get().state<Linkers>().all; }

/// Options of one input: those of the whole link alone say where its words go.
bool are_for_input(unsigned count, const CUjit_option* options, void** values) {
  if (count == 0) return true;
  if (options == nullptr || values == nullptr) return false;
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_WALL_TIME:
      case CU_JIT_INFO_LOG_BUFFER:
      case CU_JIT_ERROR_LOG_BUFFER:
      case CU_JIT_TARGET_FROM_CUCONTEXT:
      case CU_JIT_TARGET:
        return false;
      default:
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return false;
    }
  }
  return true;
}

CUresult create(Process& process, unsigned count, CUjit_option* options, void** values,
                CUlinkState* result) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const JitOptions given(count, options, values);
  if (!given.is_known()) return CUDA_ERROR_INVALID_VALUE;
  const auto say = [&process](const std::string& why) { process.say("cuLinkAddData: " + why); };
  Linker& linker = linkers().add(std::make_unique<Linker>(process.arch(), given, say));
  *result = reinterpret_cast<CUlinkState>(&linker);
  return CUDA_SUCCESS;
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                  const char* name, unsigned count, CUjit_option* options, void** values) {
  Linker* linker = linkers().find(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (data == nullptr || bytes == 0 || !are_for_input(count, options, values)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return linker->add(type, {static_cast<const char*>(data), bytes}, name == nullptr ? "" : name);
}

CUresult add_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                  CUjit_option* options, void** values) {
  Linker* linker = linkers().find(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (path == nullptr || !are_for_input(count, options, values)) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  return linker->add(type, data, path);
}

CUresult complete(CUlinkState state, void** cubin, std::size_t* bytes) {
  Linker* linker = linkers().find(state);
  if (linker == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (cubin == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::string_view image;
  const CUresult result = linker->complete(image);
  if (result != CUDA_SUCCESS) return result;
  *cubin = const_cast<char*>(image.data());
  if (bytes != nullptr) *bytes = image.size();
  return CUDA_SUCCESS;
}

CUresult destroy(CUlinkState state) {
  return linkers().take(state) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace
}  // namespace linking

std::vector<Answer> linker_answers() {
  return {
      ANSWER(cuLinkCreate_v2, linking::create, Needs::context),
      ANSWER(cuLinkAddData_v2, linking::add_data, Needs::context),
      ANSWER(cuLinkAddFile_v2, linking::add_file, Needs::context),
      ANSWER(cuLinkComplete, linking::complete, Needs::context),
      ANSWER(cuLinkDestroy, linking::destroy, Needs::context),
  };
}

}  // namespace warpmeter::runtime
