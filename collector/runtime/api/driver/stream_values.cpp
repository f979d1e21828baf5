// SPDX-License-Identifier: MIT
// Streams and graphs that wait for values in memory, and write them.
#include <cstddef>

#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/stream_values.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

CUresult submit_values(Process& process, CUstream stream,
                       std::vector<CUstreamBatchMemOpParams> operations) {
  if (process.stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult mistake = values_mistake(process, operations);
  if (mistake != CUDA_SUCCESS) return mistake;
  return as_driver_error(submit(process, stream, ValuesWork{std::move(operations), 0}));
}

/// One wait or write; both kinds of parameters lie alike.
CUresult submit_value(std::string_view name, CUstream stream, CUstreamBatchMemOpType type,
                      CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return driver_call(name, Needs::context, [&](Process& p) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value;
    operation.waitValue.flags = flags;
    return submit_values(p, stream, {operation});
  });
}
static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.value64) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.value64) &&
              offsetof(CUstreamBatchMemOpParams, waitValue.flags) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.flags));

}  // namespace

namespace api {
namespace {

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return submit_value("cuStreamWaitValue32", stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value,
                      flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return submit_value("cuStreamWaitValue64", stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value,
                      flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return submit_value("cuStreamWriteValue32", stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address,
                      value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return submit_value("cuStreamWriteValue64", stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address,
                      value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return driver_call("cuStreamBatchMemOp", Needs::context, [&](Process& p) {
    if (count > most_values_of_call || (count > 0 && operations == nullptr) || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return submit_values(p, stream, {operations, operations + count});
  });
}

/// A node's parameters as those of nodes of any type, which `body(parameters)` gives the runtime.
template <class Body>
CUresult with_values_node(std::string_view name, const CUDA_BATCH_MEM_OP_NODE_PARAMS* given,
                          const Body& body) {
  return driver_call(name, Needs::context, [&](Process&) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams any{};
    any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    any.memOp = {given->ctx, given->count, given->paramArray, given->flags};
    return as_driver_error(body(reinterpret_cast<cudaGraphNodeParams*>(&any)));
  });
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  std::size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  static auto* const add = runtime_function<decltype(::cudaGraphAddNode)>("cudaGraphAddNode");
  return with_values_node("cuGraphAddBatchMemOpNode", given, [&](cudaGraphNodeParams* any) {
    return add(node, graph, after, nullptr, count, any);
  });
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* result) {
  return driver_call("cuGraphBatchMemOpNodeGetParams", Needs::context, [&](Process&) {
    auto* values = node == nullptr ? nullptr : std::get_if<ValuesWork>(&node_of(node)->work);
    if (values == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context& context = Contexts::get().primary(current_device);
    *result = {reinterpret_cast<CUcontext>(&context),
               static_cast<unsigned>(values->operations.size()), values->operations.data(), 0};
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  static auto* const set =
      runtime_function<decltype(::cudaGraphNodeSetParams)>("cudaGraphNodeSetParams");
  return with_values_node("cuGraphBatchMemOpNodeSetParams", given,
                          [&](cudaGraphNodeParams* any) { return set(node, any); });
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  static auto* const set =
      runtime_function<decltype(::cudaGraphExecNodeSetParams)>("cudaGraphExecNodeSetParams");
  return with_values_node("cuGraphExecBatchMemOpNodeSetParams", given,
                          [&](cudaGraphNodeParams* any) { return set(exec, node, any); });
}

}  // namespace
}  // namespace api

std::span<const Answer> stream_value_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuStreamWaitValue32_v2),
      WARPMETER_ANSWER(cuStreamWaitValue64_v2),
      WARPMETER_ANSWER(cuStreamWriteValue32_v2),
      WARPMETER_ANSWER(cuStreamWriteValue64_v2),
      WARPMETER_ANSWER(cuStreamBatchMemOp_v2),
      WARPMETER_ANSWER(cuGraphAddBatchMemOpNode),
      WARPMETER_ANSWER(cuGraphBatchMemOpNodeGetParams),
      WARPMETER_ANSWER(cuGraphBatchMemOpNodeSetParams),
      WARPMETER_ANSWER(cuGraphExecBatchMemOpNodeSetParams),
  };
  return table;
}

}  // namespace warpmeter::runtime
