// SPDX-License-Identifier: MIT
// Streams and graphs that wait for values in memory, and write them.
#include <cstddef>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/stream_values.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace stream_values {
namespace {

CUresult submit_values(Process& process, CUstream stream,
                       std::vector<CUstreamBatchMemOpParams> operations) {
  if (process.stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult mistake = values_mistake(process, operations);
  if (mistake != CUDA_SUCCESS) return mistake;
  return as_driver_error(submit(process, stream, ValuesWork{std::move(operations), 0}));
}

/// One wait or write; both kinds of parameters lie alike.
CUresult submit_value(Process& process, CUstream stream, CUstreamBatchMemOpType type,
                      CUdeviceptr address, cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = type;
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return submit_values(process, stream, {operation});
}
static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.value64) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.value64) &&
              offsetof(CUstreamBatchMemOpParams, waitValue.flags) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.flags));

CUresult stream_wait_value32(Process& process, CUstream stream, CUdeviceptr address,
                             cuuint32_t value, unsigned flags) {
  return submit_value(process, stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult stream_wait_value64(Process& process, CUstream stream, CUdeviceptr address,
                             cuuint64_t value, unsigned flags) {
  return submit_value(process, stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult stream_write_value32(Process& process, CUstream stream, CUdeviceptr address,
                              cuuint32_t value, unsigned flags) {
  return submit_value(process, stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult stream_write_value64(Process& process, CUstream stream, CUdeviceptr address,
                              cuuint64_t value, unsigned flags) {
  return submit_value(process, stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

CUresult stream_batch_memop(Process& process, CUstream stream, unsigned count,
                            CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (count > most_values_of_call || (count > 0 && operations == nullptr) || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit_values(process, stream, {operations, operations + count});
}

/// A node's parameters as those of nodes of any type, which `body(parameters)` gives the runtime.
template <class Body>
CUresult with_values_node(const CUDA_BATCH_MEM_OP_NODE_PARAMS* given, const Body& body) {
  if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  any.memOp = {given->ctx, given->count, given->paramArray, given->flags};
  return as_driver_error(body(reinterpret_cast<cudaGraphNodeParams*>(&any)));
}

CUresult graph_add_batch_memop_node(Process& process, CUgraphNode* node, CUgraph graph,
                                    const CUgraphNode* after, std::size_t count,
                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return with_values_node(given, [&](cudaGraphNodeParams* any) {
    return graphs::add_node(process, node, graph, after, nullptr, count, any);
  });
}
CUresult graph_batch_memop_node_get_parameters(CUgraphNode node,
                                               CUDA_BATCH_MEM_OP_NODE_PARAMS* result) {
  auto* values = node == nullptr ? nullptr : std::get_if<ValuesWork>(&node_of(node)->work);
  if (values == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context& context = Contexts::get().primary(current_device);
  *result = {reinterpret_cast<CUcontext>(&context),
             static_cast<unsigned>(values->operations.size()), values->operations.data(), 0};
  return CUDA_SUCCESS;
}
CUresult graph_batch_memop_node_set_parameters(Process& process, CUgraphNode node,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return with_values_node(
      given, [&](cudaGraphNodeParams* any) { return nodes::set_parameters(process, node, any); });
}
CUresult graph_exec_batch_memop_node_set_parameters(Process& process, CUgraphExec exec,
                                                    CUgraphNode node,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return with_values_node(given, [&](cudaGraphNodeParams* any) {
    return nodes::exec_set_parameters(process, exec, node, any);
  });
}

}  // namespace
}  // namespace stream_values

std::vector<Answer> stream_value_answers() {
  return {
      ANSWER(cuStreamWaitValue32_v2, stream_values::stream_wait_value32, Needs::context),
      ANSWER(cuStreamWaitValue64_v2, stream_values::stream_wait_value64, Needs::context),
      ANSWER(cuStreamWriteValue32_v2, stream_values::stream_write_value32, Needs::context),
      ANSWER(cuStreamWriteValue64_v2, stream_values::stream_write_value64, Needs::context),
      ANSWER(cuStreamBatchMemOp_v2, stream_values::stream_batch_memop, Needs::context),
      ANSWER(cuGraphAddBatchMemOpNode, stream_values::graph_add_batch_memop_node, Needs::context),
      ANSWER(cuGraphBatchMemOpNodeGetParams, stream_values::graph_batch_memop_node_get_parameters,
             Needs::context),
      ANSWER(cuGraphBatchMemOpNodeSetParams, stream_values::graph_batch_memop_node_set_parameters,
             Needs::context),
      ANSWER(cuGraphExecBatchMemOpNodeSetParams,
             stream_values::graph_exec_batch_memop_node_set_parameters, Needs::context),
  };
}

}  // namespace warpmeter::runtime
