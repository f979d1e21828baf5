// SPDX-License-Identifier: MIT
// The work of streams that is not done yet. Nearly everything is done when it is given; but a host
// function may wait for what the host does next, and a stream for a value that somebody writes
// later, so they have a thread of their own, and what their stream is given after waits in line;
// kernels that may wait for others have one too. Waiting for a stream lets the process's lock go.
#pragma once

#include "collector/model/machine/launch/beside.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Does it now, or leaves it to the stream's thread where something that it follows is not done.
/// `as`: what a graph's node is among others (races.h); null: it is the stream's next.
cudaError_t give(Process& process, Stream& stream, Work work, const Given* as = nullptr);

/// Until what was given before this call is done: of a stream, of a device, of an event.
void wait_for(Process& process, Stream& stream);
/// Waits without telling the host that it waited: the driver waits for its own sake.
void wait_until_done(Process& process, Stream& stream);
void wait_for_device(Process& process, int device);
void wait_for(Process& process, const Event& event);

bool is_done(const Stream& stream);
bool is_done(const Event& event);

/// Lets later work of the stream follow the event.
void follow(Stream& stream, const Event& event);

// A kernel that waits for what the host or another stream does (see model/machine/launch/beside.h).
// It runs on its stream's thread, and the call that launched it returns once the kernel waits.

/// Who may write what a kernel waits for, beside the calls of the program.
struct Writers {
  bool are_host_code = false, are_processes = false;
};
/// Lets others go on for a moment, and says whether they might bring about what the kernel of this
/// thread waits for.
model::Outside wait_beside(Process& process, const Writers& writers, bool has_gone_on);
/// The same of a kernel that goes on.
void let_others_go_on(Process& process);
/// Until no kernel waits so: what they need goes, or the program ends.
void wait_for_kernels(Process& process);

/// Lets the process's lock go while it runs.
void run_host_function(Process& process, cudaHostFn_t function, void* data);
/// True if this thread runs a host function, which must not call the API.
bool is_in_host_function();

}  // namespace warpmeter::runtime
