// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/conditions.h"

#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/answers.h"
#include "collector/runtime/api/driver_call.h"

namespace warpmeter::runtime {
namespace api {
namespace {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
  return call("cudaGraphConditionalHandleCreate", [&](Process&) {
    if (handle == nullptr || graph == nullptr || flags > cudaGraphCondAssignDefault) {
      return cudaErrorInvalidValue;
    }
    *handle = make_condition(value, flags == cudaGraphCondAssignDefault);
    return cudaSuccess;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph,
                                        CUcontext context, unsigned value, unsigned flags) {
  return driver_call("cuGraphConditionalHandleCreate", Needs::context, [&](Process&) {
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return as_driver_error(api::cudaGraphConditionalHandleCreate(
        reinterpret_cast<cudaGraphConditionalHandle*>(handle), graph, value, flags));
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> conditional_answers() {
  static const Answer table[] = {WARPMETER_ANSWER(cudaGraphConditionalHandleCreate),
                                 WARPMETER_ANSWER(cuGraphConditionalHandleCreate)};
  return table;
}

}  // namespace warpmeter::runtime
