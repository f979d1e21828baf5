// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/conditions.h"

#include "collector/runtime/api/answers.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace conditions {
namespace {

cudaError_t handle_create(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned value,
                          unsigned flags) {
  if (handle == nullptr || graph == nullptr || flags > cudaGraphCondAssignDefault) {
    return cudaErrorInvalidValue;
  }
  *handle = make_condition(value, flags == cudaGraphCondAssignDefault);
  return cudaSuccess;
}

CUresult handle_create_in_context(CUgraphConditionalHandle* handle, CUgraph graph,
                                  CUcontext context, unsigned value, unsigned flags) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return as_driver_error(
      handle_create(reinterpret_cast<cudaGraphConditionalHandle*>(handle), graph, value, flags));
}

}  // namespace
}  // namespace conditions

std::vector<Answer> conditional_answers() {
  return {
      ANSWER(cudaGraphConditionalHandleCreate, conditions::handle_create, Needs::context),
      ANSWER(cuGraphConditionalHandleCreate, conditions::handle_create_in_context, Needs::context),
  };
}

}  // namespace warpmeter::runtime
