// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/capture.h"

#include <algorithm>
#include <utility>

#include "collector/runtime/graph/graph_edges.h"

namespace warpmeter::runtime {
namespace {

unsigned long long captures = 0;  // that were begun
unsigned active = 0;              // that have not ended; nothing is looked up while there is none

void leave(Process& process, Capture& capture) {
  process.for_each_stream([&](Stream& stream) {
    if (stream.capture.get() != &capture) return;
    stream.capture.reset();
    stream.capture_after.clear();
    stream.capture_ports.clear();
  });
}

/// Each that goes on, once, of the streams that began them.
template <class Visit>
void for_each_capture(Process& process, const Visit& visit) {
  process.for_each_stream([&](Stream& stream) {
    if (stream.capture != nullptr && stream.capture->origin == &stream) visit(*stream.capture);
  });
}

}  // namespace

cudaStreamCaptureMode& capture_mode_of_thread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

cudaError_t begin_capture(Process& process, Stream& stream, cudaStreamCaptureMode mode,
                          std::shared_ptr<Graph> graph, std::vector<Node*> after) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  if (&stream == process.stream(cudaStreamLegacy)) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  auto begun = std::make_shared<Capture>();
  begun->graph = std::move(graph);
  begun->number = ++captures;
  begun->mode = mode;
  begun->thread = std::this_thread::get_id();
  begun->origin = &stream;
  stream.capture = std::move(begun);
  stream.capture_after = std::move(after);
  ++active;
  return cudaSuccess;
}

cudaError_t begin_capture_into(Process& process, Stream& stream, cudaStreamCaptureMode mode,
                               Graph& graph, std::vector<Node*> after) {
  bool is_taken = false;
  if (active > 0) {
    for_each_capture(process, [&](const Capture& one) { is_taken |= one.graph.get() == &graph; });
  }
  if (is_taken) return cudaErrorIllegalState;
  const cudaError_t begun =
      begin_capture(process, stream, mode, graph.shared_from_this(), std::move(after));
  if (begun == cudaSuccess) stream.capture->is_given = true;
  return begun;
}

cudaError_t end_capture(Process& process, Stream& stream, std::shared_ptr<Graph>& graph) {
  graph.reset();
  const std::shared_ptr<Capture> ended = stream.capture;
  if (ended == nullptr) return cudaErrorIllegalState;
  if (ended->origin != &stream) {
    ended->is_invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (ended->mode != cudaStreamCaptureModeRelaxed && ended->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  bool is_joined = are_before(ended->left_open, stream.capture_after);
  process.for_each_stream([&](const Stream& other) {
    if (other.capture == ended) is_joined &= are_before(other.capture_after, stream.capture_after);
  });
  leave(process, *ended);
  ended->is_over = true;
  --active;
  if (ended->is_invalid) return cudaErrorStreamCaptureInvalidated;
  if (!is_joined) return cudaErrorStreamCaptureUnjoined;
  graph = ended->graph;
  return cudaSuccess;
}

void leave_capture(Process& process, Stream& stream) {
  const std::shared_ptr<Capture> left = stream.capture;
  if (left == nullptr) return;
  if (left->origin == &stream) {
    leave(process, *left);
    left->is_over = true;
    --active;
    return;
  }
  left->left_open.insert(left->left_open.end(), stream.capture_after.begin(),
                         stream.capture_after.end());
  stream.capture.reset();
}

cudaError_t capture(Stream& stream, Work work, Node** node) {
  if (stream.capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  const auto* kernel = std::get_if<KernelWork>(&work);
  const bool is_programmatic = kernel != nullptr && kernel->is_programmatic;
  Node* added = stream.capture->graph->add(std::move(work), stream.capture_after);
  if (kernel != nullptr) added->ports = std::exchange(stream.capture_ports, {});
  stream.capture_ports.clear();  // other work waits for all of it
  if (is_programmatic) {
    for (const Node* before : added->after) {
      if (std::holds_alternative<KernelWork>(before->work)) {
        added->ports.try_emplace(before, programmatic_edge(false));
      }
    }
  }
  stream.capture_after = {added};
  if (node != nullptr) *node = added;
  return cudaSuccess;
}

cudaError_t capture_wait(Stream& stream, const Event& event) {
  const std::shared_ptr<Capture>& other = event.captured_in;
  if (other == nullptr || other->is_over) {
    stream.capture->is_invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (other->is_invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream.capture != nullptr && stream.capture != other) {
    stream.capture->is_invalid = other->is_invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  stream.capture = other;
  for (Node* node : event.captured_after) {
    auto& after = stream.capture_after;
    if (std::find(after.begin(), after.end(), node) == after.end()) after.push_back(node);
  }
  stream.capture_ports.insert(event.captured_ports.begin(), event.captured_ports.end());
  return cudaSuccess;
}

cudaError_t legacy_conflict(Process& process, const Stream& stream) {
  if (active == 0 || &stream != process.stream(cudaStreamLegacy)) return cudaSuccess;
  bool is_conflict = false;
  process.for_each_stream([&](Stream& other) {
    if (other.capture == nullptr || (other.flags & cudaStreamNonBlocking) != 0) return;
    other.capture->is_invalid = true;
    is_conflict = true;
  });
  return is_conflict ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

cudaError_t unsafe_in_capture(Process& process) {
  if (active == 0 || capture_mode_of_thread() == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  bool is_unsafe = false;
  for_each_capture(process, [&](Capture& one) {
    const bool is_own = one.thread == std::this_thread::get_id();
    const bool counts = is_own ? one.mode != cudaStreamCaptureModeRelaxed
                               : one.mode == cudaStreamCaptureModeGlobal &&
                                     capture_mode_of_thread() == cudaStreamCaptureModeGlobal;
    if (!counts) return;
    one.is_invalid = true;
    is_unsafe = true;
  });
  return is_unsafe ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t forbidden_in_capture(Process& process, int device) {
  if (active == 0) return cudaSuccess;
  bool is_forbidden = false;
  process.for_each_stream([&](Stream& stream) {
    if (stream.capture == nullptr || stream.device != device) return;
    stream.capture->is_invalid = true;
    is_forbidden = true;
  });
  return is_forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t forbidden_in_capture(const Stream& stream) {
  if (stream.capture == nullptr) return cudaSuccess;
  stream.capture->is_invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

}  // namespace warpmeter::runtime
