// SPDX-License-Identifier: MIT
#include "collector/runtime/api/earlier_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpmeter::runtime {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

/// The same by another name, in whatever version has it.
constexpr Renamed renamed[] = {
    {"cudaThreadSynchronize", "cudaDeviceSynchronize"},
    {"cudaThreadExit", "cudaDeviceReset"},
    {"cudaThreadGetLimit", "cudaDeviceGetLimit"},
    {"cudaThreadSetLimit", "cudaDeviceSetLimit"},
    {"cudaThreadGetCacheConfig", "cudaDeviceGetCacheConfig"},
    {"cudaThreadSetCacheConfig", "cudaDeviceSetCacheConfig"},
    {"cudaEventElapsedTime_v2", "cudaEventElapsedTime"},
    {"cudaMemPrefetchAsync_v2", "cudaMemPrefetchAsync"},
    {"cudaMemAdvise_v2", "cudaMemAdvise"},
    {"cudaGraphAddDependencies_v2", "cudaGraphAddDependencies"},
    {"cudaGraphAddNode_v2", "cudaGraphAddNode"},
    {"cudaGraphGetEdges_v2", "cudaGraphGetEdges"},
    {"cudaGraphNodeGetDependencies_v2", "cudaGraphNodeGetDependencies"},
    {"cudaGraphNodeGetDependentNodes_v2", "cudaGraphNodeGetDependentNodes"},
    {"cudaGraphRemoveDependencies_v2", "cudaGraphRemoveDependencies"},
    {"cudaStreamGetCaptureInfo_v3", "cudaStreamGetCaptureInfo"},
    {"cudaStreamUpdateCaptureDependencies_v2", "cudaStreamUpdateCaptureDependencies"},
};

/// Before CUDA 13 these took something else.
constexpr Renamed other_parameters[] = {
    {"cudaMemPrefetchAsync", "cudaMemPrefetchAsync of CUDA 12"},
    {"cudaMemAdvise", "cudaMemAdvise of CUDA 12"},
    {"cudaMemcpyBatchAsync", "cudaMemcpyBatchAsync of CUDA 12"},
    {"cudaMemcpy3DBatchAsync", "cudaMemcpy3DBatchAsync of CUDA 12"},
    {"cudaGraphAddDependencies", "cudaGraphAddDependencies of CUDA 12"},
    {"cudaGraphAddNode", "cudaGraphAddNode of CUDA 12"},
    {"cudaGraphGetEdges", "cudaGraphGetEdges of CUDA 12"},
    {"cudaGraphNodeGetDependencies", "cudaGraphNodeGetDependencies of CUDA 12"},
    {"cudaGraphNodeGetDependentNodes", "cudaGraphNodeGetDependentNodes of CUDA 12"},
    {"cudaGraphRemoveDependencies", "cudaGraphRemoveDependencies of CUDA 12"},
    {"cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo of CUDA 12"},
    {"cudaStreamUpdateCaptureDependencies", "cudaStreamUpdateCaptureDependencies of CUDA 12"},
    {"cudaGetDeviceProperties", "cudaGetDeviceProperties of CUDA 11"},
};

template <std::size_t count>
std::string_view found_in(const Renamed (&table)[count], std::string_view name) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const Renamed& one) { return one.first == name; });
  return found == std::end(table) ? name : found->second;
}

}  // namespace

bool is_of_before_13(std::string_view name) { return name == "cudaGetDeviceProperties_v2"; }

std::string_view name_of_answer(std::string_view name, bool is_before_13) {
  if (is_before_13) {
    const std::string_view own = found_in(other_parameters, name);
    if (own != name) return own;
  }
  return found_in(renamed, name);
}

}  // namespace warpmeter::runtime
