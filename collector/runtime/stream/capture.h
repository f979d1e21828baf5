// SPDX-License-Identifier: MIT
// A stream's capture: what the stream is given becomes nodes of a graph and does not run. Streams
// that wait for an event of it take part, until they are joined again and it ends.
//
// The programming guide's "Prohibited and unhandled operations" names the calls that a capture
// forbids and their errors; every such call makes the capture invalid, so that its end fails too.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

struct Capture {
  std::shared_ptr<Graph> graph;
  unsigned long long number = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  const Stream* origin = nullptr;
  bool is_invalid = false, is_over = false;
  bool is_given = false;         ///< the graph was there before, and has its owner
  std::vector<Node*> left_open;  ///< the last nodes of streams that were destroyed
};

/// `graph`: which takes the nodes, behind `after`.
cudaError_t begin_capture(Process& process, Stream& stream, cudaStreamCaptureMode mode,
                          std::shared_ptr<Graph> graph, std::vector<Node*> after);
/// As above, into a graph that is there: the program's, or a body that belongs to its node.
cudaError_t begin_capture_into(Process& process, Stream& stream, cudaStreamCaptureMode mode,
                               Graph& graph, std::vector<Node*> after);
/// `graph` is null where the result is not cudaSuccess.
cudaError_t end_capture(Process& process, Stream& stream, std::shared_ptr<Graph>& graph);

/// A stream is destroyed. Its capture goes on with the others, which have to join what the stream
/// was given last; the capture that it began ends with it, as on an H200.
void leave_capture(Process& process, Stream& stream);

/// A node for the work, behind what the stream was given before. The stream is captured.
cudaError_t capture(Stream& stream, Work work, Node** node = nullptr);
/// The stream waits for an event that was recorded in a capture, or is captured itself.
cudaError_t capture_wait(Stream& stream, const Event& event);

/// cudaErrorStreamCaptureImplicit where the legacy stream would have to wait for a captured one.
cudaError_t legacy_conflict(Process& process, const Stream& stream);
/// For calls that are unsafe while this thread, or another, captures: allocating, waiting.
cudaError_t unsafe_in_capture(Process& process);
/// For calls that no capture allows: waiting for the device. The capture is of one device, or of a
/// stream.
cudaError_t forbidden_in_capture(Process& process, int device);
cudaError_t forbidden_in_capture(const Stream& stream);

/// The mode of cudaThreadExchangeStreamCaptureMode.
cudaStreamCaptureMode& capture_mode_of_thread();

}  // namespace warpmeter::runtime
