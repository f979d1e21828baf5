// SPDX-License-Identifier: MIT
// Stream 0: the legacy default stream, or for some calls the thread's own.
#pragma once

namespace warpmeter::runtime {

/// True if the call that this thread makes is one of those (_ptsz, _ptds) for which stream 0 is the
/// thread's own; the code that leads to its answer says so, and the end of the call takes it back.
extern thread_local bool null_is_per_thread [[gnu::tls_model("initial-exec")]];

}  // namespace warpmeter::runtime
