// SPDX-License-Identifier: MIT
// The machine's code for one instruction set. Each .cpp in this folder defines WARPMETER_ISA, is
// compiled with that set's flags and includes this file; entries.h says what it exports.
//
// A function is looked up by the operation's code and called for the lanes of its guard; it returns
// the operation that follows, or null when the warp has to stop. Nothing here is shared with the
// other units: all is in an unnamed namespace within the set's own, and no function of the standard
// library is used (see operation.h).

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "collector/model/machine/access.h"
#include "collector/model/machine/async_copies.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/execute/entries.h"
#include "collector/model/machine/execute/narrow.h"
#include "collector/model/machine/execute/semantics.h"
#include "collector/model/machine/execute/special.h"
#include "collector/model/machine/system_calls.h"
#include "collector/model/machine/texture/access.h"
#include "collector/model/machine/warp/cluster_barrier.h"
#include "collector/model/machine/warp/mbarrier.h"
#include "collector/model/machine/warp/warp.h"
#include "collector/model/machine/warpgroup.h"

namespace warpmeter::model::WARPMETER_ISA {
namespace {

#include "collector/model/machine/execute/lanes.h"
//
#include "collector/model/machine/execute/arithmetic.h"
//
#include "collector/model/machine/execute/narrowing.h"
//
#include "collector/model/machine/execute/video.h"
//
#include "collector/model/machine/execute/memory.h"
//
#include "collector/model/machine/execute/control.h"
//
#include "collector/model/machine/execute/exchange.h"
//
#include "collector/model/machine/execute/matrix_floats.h"
//
#include "collector/model/machine/execute/matrix_sums.h"
//
#include "collector/model/machine/execute/matrix.h"
//
#include "collector/model/machine/execute/matrix_sparse.h"
//
#include "collector/model/machine/execute/warpgroup.h"

// In the order of Code.
constexpr ExecuteOperation functions[] = {
#define UNARY(code, ...) do_##code,
#define BINARY(code, ...) do_##code,
#define TERNARY(code, ...) do_##code,
#define COMPARE(code, ...) do_##code,
#define CLASSIFY(code, ...) do_##code,
#define CONVERT(code, ...) do_##code,
#define CARRY(code, ...) do_##code,
#define LOAD(code, ...) do_##code##_a32, do_##code##_a64, do_##code##_v_a32, do_##code##_v_a64,
#define STORE(code, ...) do_##code##_a32, do_##code##_a64, do_##code##_v_a32, do_##code##_v_a64,
#define OTHER(code, ...) do_##code,
#include "collector/model/machine/warp/operations.h"
};
static_assert(sizeof(functions) / sizeof(functions[0]) == static_cast<std::size_t>(Code::count));

enum class Manner : u8 { plain, observed, native, native_observed };

template <Manner manner>
inline void run_warp(Warp& w) {
  constexpr bool is_native = manner == Manner::native || manner == Manner::native_observed;
  constexpr bool is_observed = manner == Manner::observed || manner == Manner::native_observed;
  w.status = WarpStatus::running;
  const Operation* op = w.pc;
  while (op != nullptr) {
    if constexpr (is_native) {
      const NativeEntry* const entries = w.active == full_mask ? w.native : w.native_of_some;
      const NativeEntry entry = entries[op - w.code];
      const bool may_enter = !is_observed || *w.watches_more == 0;
      if (entry != nullptr && may_enter && (op = entry(w)) == nullptr) break;
    }
    u32 mask = w.active;
    if (op->guard != no_guard) {
      mask &= predicate(w, op->guard);
      if (mask == 0) {
        ++op;
        continue;
      }
    }
    if constexpr (is_observed) {
      const u8 watched = w.watched[op - w.code];
      if ((watched & watch_noted) != 0) w.last = op;
      if ((watched & watch_observed) != 0) observe(w, op, mask);
    }
    op = functions[static_cast<u16>(op->code)](w, op, mask);
  }
}

}  // namespace

void run(Warp& w) { run_warp<Manner::plain>(w); }
void run_observed(Warp& w) { run_warp<Manner::observed>(w); }
void run_native(Warp& w) { run_warp<Manner::native>(w); }
void run_native_observed(Warp& w) { run_warp<Manner::native_observed>(w); }
const ExecuteOperation* const operations = functions;

}  // namespace warpmeter::model::WARPMETER_ISA
