// SPDX-License-Identifier: MIT
// The log of the driver, which tells in words why calls failed. warpmeter tells the person about
// mistakes here, so that the program's log is empty and those who listen to it hear nothing.
#include <fstream>
#include <set>

#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace logs {
namespace {

/// Those who listen, by number.
struct Listeners {
  std::set<std::uintptr_t> all;
  std::uintptr_t last = 0;
};
Listeners& listeners() { return Process::get().state<Listeners>(); }

CUresult logs_register_callback(CUlogsCallback function, void*, CUlogsCallbackHandle* result) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::uintptr_t number = ++listeners().last;
  listeners().all.insert(number);
  if (result != nullptr) *result = reinterpret_cast<CUlogsCallbackHandle>(number);
  return CUDA_SUCCESS;
}

CUresult logs_unregister_callback(CUlogsCallbackHandle handle) {
  return listeners().all.erase(reinterpret_cast<std::uintptr_t>(handle)) == 1
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult logs_current(CUlogIterator* iterator, unsigned flags) {
  if (iterator == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *iterator = 0;
  return CUDA_SUCCESS;
}

CUresult logs_dump_to_file(CUlogIterator*, const char* path, unsigned flags) {
  if (path == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return std::ofstream(path) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult logs_dump_to_memory(CUlogIterator*, char* buffer, std::size_t* size, unsigned flags) {
  if (buffer == nullptr || size == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (*size > 0) *buffer = '\0';
  *size = 0;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace logs

std::vector<Answer> log_answers() {
  return {
      ANSWER(cuLogsRegisterCallback, logs::logs_register_callback, Needs::nothing),
      ANSWER(cudaLogsRegisterCallback, logs::logs_register_callback, Needs::context),
      ANSWER(cuLogsUnregisterCallback, logs::logs_unregister_callback, Needs::nothing),
      ANSWER(cudaLogsUnregisterCallback, logs::logs_unregister_callback, Needs::context),
      ANSWER(cuLogsCurrent, logs::logs_current, Needs::nothing),
      ANSWER(cudaLogsCurrent, logs::logs_current, Needs::context),
      ANSWER(cuLogsDumpToFile, logs::logs_dump_to_file, Needs::nothing),
      ANSWER(cudaLogsDumpToFile, logs::logs_dump_to_file, Needs::context),
      ANSWER(cuLogsDumpToMemory, logs::logs_dump_to_memory, Needs::nothing),
      ANSWER(cudaLogsDumpToMemory, logs::logs_dump_to_memory, Needs::context),
  };
}

}  // namespace warpmeter::runtime
