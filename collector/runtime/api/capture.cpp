// SPDX-License-Identifier: MIT
// These functions capture streams into graphs.
#include <algorithm>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/graphs.h"

namespace warpmeter::runtime {
namespace captures {
namespace {

/// Nodes of that graph, by their handles.
cudaError_t nodes_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count,
                     std::vector<Node*>& nodes) {
  if (count > 0 && handles == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    Node* node = node_of(handles[i]);
    if (node == nullptr || node->graph != &graph) return cudaErrorInvalidValue;
    nodes.push_back(node);
  }
  return cudaSuccess;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
}

/// A question about the legacy stream fails while another one captures, and harms nothing.
bool is_ambiguous(Process& process, const Stream& stream) {
  if (&stream != process.stream(cudaStreamLegacy)) return false;
  bool is_captured = false;
  process.for_each_stream([&](const Stream& other) {
    is_captured |= other.capture != nullptr && (other.flags & cudaStreamNonBlocking) == 0;
  });
  return is_captured;
}

cudaError_t begin_capture_to_graph(Process& process, cudaStream_t handle, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies,
                                   const cudaGraphEdgeData* edges, std::size_t count,
                                   cudaStreamCaptureMode mode) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (graph == nullptr) return cudaErrorInvalidValue;
  Graph& given = *graph_of(graph);
  std::vector<Node*> after;
  Ports ports;
  cudaError_t mistake = nodes_of(given, dependencies, count, after);
  if (mistake == cudaSuccess) mistake = ports_of(after, edges, nullptr, ports);
  if (mistake == cudaSuccess) mistake = begin_capture_into(process, *stream, mode, given, after);
  if (mistake == cudaSuccess) stream->capture_ports = std::move(ports);
  return mistake;
}

cudaError_t stream_end_capture(Process& process, cudaStream_t handle, cudaGraph_t* result) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return cudaErrorIllegalState;
  // One that was given stays where it belongs; another is gone where nobody asks for it, as on an
  // H200.
  const bool is_given = stream->capture->is_given;
  std::shared_ptr<Graph> graph;
  const cudaError_t ended = end_capture(process, *stream, graph);
  if (result == nullptr) return ended;
  *result = graph == nullptr ? nullptr
            : is_given       ? handle_of(graph.get())
                             : keep_graph(std::move(graph));
  return ended;
}

cudaError_t is_capturing(Process& process, cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (status == nullptr) return cudaErrorInvalidValue;
  if (is_ambiguous(process, *stream)) return cudaErrorStreamCaptureImplicit;
  *status = status_of(*stream);
  return cudaSuccess;
}

/// As CUDA 11 and 12 called it.
cudaError_t get_capture_info_v2(Process& process, cudaStream_t stream,
                                cudaStreamCaptureStatus* status, unsigned long long* number,
                                cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                std::size_t* count) {
  return get_capture_info(process, stream, status, number, graph, dependencies, nullptr, count);
}

cudaError_t thread_exchange_stream_capture_mode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr) return cudaErrorInvalidValue;  // any number is taken, as on hardware
  std::swap(*mode, capture_mode_of_thread());
  return cudaSuccess;
}

}  // namespace

cudaError_t stream_begin_capture(Process& process, cudaStream_t handle,
                                 cudaStreamCaptureMode mode) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return begin_capture(process, *stream, mode, std::make_shared<Graph>(), {});
}

cudaError_t get_capture_info(Process& process, cudaStream_t handle, cudaStreamCaptureStatus* status,
                             unsigned long long* number, cudaGraph_t* graph,
                             const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                             std::size_t* count) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (status == nullptr) return cudaErrorInvalidValue;
  if (is_ambiguous(process, *stream)) return cudaErrorStreamCaptureImplicit;
  *status = status_of(*stream);
  if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
  if (number != nullptr) *number = stream->capture->number;
  if (graph != nullptr) *graph = handle_of(stream->capture->graph.get());
  if (dependencies != nullptr) {
    *dependencies = reinterpret_cast<const cudaGraphNode_t*>(stream->capture_after.data());
  }
  if (edges == nullptr && dependencies != nullptr && !stream->capture_ports.empty()) {
    return cudaErrorLossyQuery;
  }
  if (edges != nullptr) {
    stream->capture_edges = edges_of(stream->capture_after, stream->capture_ports);
    *edges = stream->capture_edges.data();
  }
  if (count != nullptr) *count = stream->capture_after.size();
  return cudaSuccess;
}

cudaError_t update_capture_dependencies(Process& process, cudaStream_t handle,
                                        cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* edges, std::size_t count,
                                        unsigned flags) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return cudaErrorIllegalState;
  if (stream->capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node*> nodes;
  Ports ports;
  cudaError_t mistake = nodes_of(*stream->capture->graph, dependencies, count, nodes);
  if (mistake == cudaSuccess) mistake = ports_of(nodes, edges, nullptr, ports);
  if (mistake != cudaSuccess || flags > cudaStreamSetCaptureDependencies) {
    return cudaErrorInvalidValue;
  }
  auto& after = stream->capture_after;
  if (flags == cudaStreamSetCaptureDependencies) {
    after.clear();
    stream->capture_ports.clear();
  }
  stream->capture_ports.insert(ports.begin(), ports.end());
  for (Node* node : nodes) {
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  }
  return cudaSuccess;
}

}  // namespace captures

std::vector<Answer> capture_answers() {
  return {
      BOTH(cudaStreamBeginCapture, cuStreamBeginCapture_v2, captures::stream_begin_capture,
           Needs::context),
      BOTH(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph,
           captures::begin_capture_to_graph, Needs::context),
      BOTH(cudaStreamEndCapture, cuStreamEndCapture, captures::stream_end_capture, Needs::context),
      BOTH(cudaStreamIsCapturing, cuStreamIsCapturing, captures::is_capturing, Needs::context),
      BOTH(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, captures::get_capture_info,
           Needs::context),
      ANSWER_AS("cudaStreamGetCaptureInfo_v2", captures::get_capture_info_v2, Needs::context),
      BOTH(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2,
           captures::update_capture_dependencies, Needs::context),
      BOTH(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,
           captures::thread_exchange_stream_capture_mode, Needs::context),
  };
}

}  // namespace warpmeter::runtime
