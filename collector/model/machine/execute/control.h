// SPDX-License-Identifier: MIT
// Branches and the stack of lanes that wait.
//
// At a branch that only some lanes take, the others are pushed with the place where both sides meet
// again (the branch's immediate post-dominator), and below them a frame that continues from there
// with all. A side that comes to its meeting place, or whose lanes have all exited, pops the next.
//
// Instructions are counted when lanes change or jump: the machine remembers the first one that is
// not counted yet, and adds the distance. Straight code costs nothing.

inline void account(Warp& w, u32 end) {
  const u32 executed = end - w.counted_from;
  w.warp_instructions += executed;
  const u32 lanes = static_cast<u32>(__builtin_popcount(w.active));
  w.thread_instructions += u64{executed} * lanes;
  if (w.issues != nullptr) {
    ++w.issues[w.counted_from];
    --w.issues[end];
    w.issued_lanes[w.counted_from] += lanes;
    w.issued_lanes[end] -= lanes;
  }
  w.counted_from = end;
}

inline const Operation* stop(Warp& w, WarpStatus status, const Operation* pc) {
  w.status = status;
  w.pc = pc;
  return nullptr;
}

inline const Operation* raise_trap(Warp& w, const Operation* op, u32 mask, TrapKind kind) {
  w.trap.kind = kind;
  w.trap.lane = first_lane(mask);
  w.trap.instruction = op->instruction;
  w.trap.mask = mask;
  return stop(w, WarpStatus::trapped, op);
}

inline void push(Warp& w, const Operation* pc, const Operation* reconverge, u32 mask,
                 u32 counted_from) {
  w.stack[w.depth++] = {pc, reconverge, mask, counted_from, false};
}

/// The next frame that still has a living lane.
inline const Operation* pop(Warp& w) {
  while (w.depth > 0) {
    const Frame& frame = w.stack[--w.depth];
    const u32 mask = frame.mask & w.alive;
    if (mask == 0) continue;
    w.active = mask;
    w.reconverge = frame.reconverge;
    w.counted_from = frame.counted_from;
    return frame.pc;
  }
  return stop(w, WarpStatus::finished, nullptr);
}

inline const Operation* jump(Warp& w, const Operation* op, const Operation* target) {
  w.counted_from = target->instruction;
  if (target <= op && w.warp_instructions >= w.yield_at) {
    return stop(w, WarpStatus::yielded, target);
  }
  return target;
}

__attribute__((noinline)) const Operation* diverge(Warp& w, const Operation* op, u32 taken) {
  const Operation* target = w.code + op->extra;
  const Operation* next = op + 1;
  const u32 rest = w.active & ~taken;
  w.parted[op->instruction] = 1;
  const u32 next_counted_from = op->instruction + 1;
  if (op->imm < 0) {  // the sides do not meet before their threads end
    push(w, next, w.reconverge, rest, next_counted_from);
    w.active = taken;
    return jump(w, op, target);
  }
  const Operation* meeting = w.code + op->imm;
  if (w.reconverge != meeting) {
    push(w, meeting, w.reconverge, w.active, meeting->instruction);
    w.reconverge = meeting;
  }
  if (target == meeting) {
    w.active = rest;
    return next;
  }
  if (next != meeting) push(w, next, meeting, rest, next_counted_from);
  w.active = taken;
  return jump(w, op, target);
}

const Operation* do_branch(Warp& w, const Operation* op, u32) {
  account(w, op->instruction + 1);
  return jump(w, op, w.code + op->extra);
}

const Operation* do_branch_if(Warp& w, const Operation* op, u32) {
  account(w, op->instruction + 1);
  const u32 taken = predicate(w, op->a) & w.active;
  if (taken == w.active) return jump(w, op, w.code + op->extra);
  if (taken == 0) return op + 1;
  return diverge(w, op, taken);
}

/// The lowest frame of this call above the one in which lanes wait for `meeting`, if some of them
/// run inside of it; no_frame when none do.
constexpr u32 no_frame = ~0u;
inline u32 frame_inside(const Warp& w, const Operation* meeting, u32 lanes) {
  for (u32 i = w.depth; i-- > 0 && !w.stack[i].is_call;) {
    const Frame& frame = w.stack[i];
    if (frame.reconverge == meeting && (frame.mask & lanes) == lanes) return i;
  }
  return no_frame;
}
inline u32 frame_of_call(const Warp& w) {
  u32 i = w.depth;
  while (i > 0 && !w.stack[i - 1].is_call) --i;
  return i;
}

/// Before a loop out of which lanes break: they will wait in a frame for its end. At every round,
/// and nothing to do after the first.
const Operation* do_gather(Warp& w, const Operation* op, u32) {
  if (op->imm < 0) return op + 1;
  const Operation* meeting = w.code + op->imm;
  if (w.reconverge == meeting || frame_inside(w, meeting, w.active) != no_frame) return op + 1;
  if (w.depth >= w.stack_limit + frames_of_divergence) {
    return raise_trap(w, op, w.active, TrapKind::stack_overflow);
  }
  push(w, meeting, w.reconverge, w.active, meeting->instruction);
  w.reconverge = meeting;
  return op + 1;
}

/// Lanes that leave a loop while others wait in it: nobody on the way waits for them any more.
/// Operation::b: it is those who do not jump.
const Operation* do_branch_out(Warp& w, const Operation* op, u32) {
  const Operation* meeting = op->imm < 0 ? nullptr : w.code + op->imm;
  const u32 taken = predicate(w, op->a) & w.active;
  const u32 leaving = op->b != 0 ? w.active & ~taken : taken, staying = w.active & ~leaving;
  if (leaving == 0 || w.reconverge == meeting) return do_branch_if(w, op, 0);
  u32 lowest = frame_inside(w, meeting, leaving);
  if (lowest == no_frame) {  // nobody waits there: they go on by themselves
    lowest = frame_of_call(w);
    if (lowest == w.depth) return do_branch_if(w, op, 0);
    meeting = w.stack[lowest].reconverge;
  }
  account(w, op->instruction + 1);
  for (u32 i = lowest; i < w.depth; ++i) w.stack[i].mask &= ~leaving;
  const Operation* const target = w.code + op->extra;
  const Operation* const out = op->b != 0 ? op + 1 : target;
  if (staying != 0) {
    w.parted[op->instruction] = 1;
    const Operation* const stay = op->b != 0 ? target : op + 1;
    push(w, stay, w.reconverge, staying,
         stay == target ? target->instruction : op->instruction + 1);
  }
  w.active = leaving;
  w.reconverge = meeting;
  if (out == meeting) return pop(w);
  if (out == op + 1) return out;
  return jump(w, op, target);
}

const Operation* do_join(Warp& w, const Operation* op, u32) {
  if (w.reconverge != op) return op + 1;
  account(w, op->instruction);
  return pop(w);
}

const Operation* do_leave(Warp& w, const Operation* op, u32 mask) {
  account(w, op->instruction + 1);
  w.alive &= ~mask;
  w.active &= ~mask;
  return w.active != 0 ? op + 1 : pop(w);
}

/// A warp comes as a whole, with those lanes that the guard lets take part.
const Operation* do_barrier(Warp& w, const Operation* op, u32 mask) {
  if (w.active != w.alive) return stop(w, WarpStatus::parted, op);
  w.came = mask;
  account(w, op->instruction + 1);
  return stop(w, WarpStatus::at_barrier, op);
}

const Operation* do_nothing(Warp&, const Operation* op, u32) { return op + 1; }

const Operation* do_trap(Warp& w, const Operation* op, u32 mask) {
  return raise_trap(w, op, mask, TrapKind::trap_instruction);
}

/// Where a call goes: the lanes come back one after the other or all at once, to the operation
/// after it, when the function's end is where they wait for each other. Operation::b: their frame,
/// which is the same one for all lanes that call together.
inline const Operation* enter(Warp& w, const Operation* op, u32 lanes, const FunctionCode& function,
                              u32 counted_from) {
  const u64* frame = row<u64>(w, op->b);
  const bool fits = frame[first_lane(lanes)] <= function.highest_frame;
  if (w.depth >= w.stack_limit || !fits) {
    return raise_trap(w, op, lanes, TrapKind::stack_overflow);
  }
  push(w, op + 1, w.reconverge, lanes, counted_from);
  w.stack[w.depth - 1].is_call = true;
  w.active = lanes;
  w.reconverge = w.code + function.end;
  return jump(w, op, w.code + function.first);
}

const Operation* do_call(Warp& w, const Operation* op, u32) {
  account(w, op->instruction + 1);
  return enter(w, op, w.active, w.functions[op->imm], op->instruction + 1);
}

/// Lanes that call different functions do so in turn, and meet at the join that follows.
const Operation* do_call_indirect(Warp& w, const Operation* op, u32) {
  const u64* a = row<u64>(w, op->a);
  const u64 address = a[first_lane(w.active)];
  const u64 index = (address - first_function) / function_step;
  if (address < first_function || address % function_step != 0 || index >= w.function_count ||
      w.functions[index].end == 0) {
    return raise_trap(w, op, w.active, TrapKind::bad_call);
  }
  const u32 same = w.active & collect([=](u32 l) { return a[l] == address; });
  account(w, op->instruction + 1);
  if (same != w.active) {
    w.parted[op->instruction] = 1;
    if (w.reconverge != op + 1) {
      push(w, op + 1, w.reconverge, w.active, op->instruction + 1);
      w.reconverge = op + 1;
    }
    push(w, op, op + 1, w.active & ~same, op->instruction);
  }
  const u32 counted_from = op->instruction + (w.reconverge == op + 1 ? 0 : 1);
  return enter(w, op, same, w.functions[index], counted_from);
}

const Operation* do_print(Warp& w, const Operation* op, u32 mask) {
  print(w, op, mask);
  return op + 1;
}
const Operation* do_assertion(Warp& w, const Operation* op, u32 mask) {
  note_assertion(w, op, mask);
  return raise_trap(w, op, mask, TrapKind::assertion);
}
const Operation* do_allocate(Warp& w, const Operation* op, u32 mask) {
  allocate(w, op, mask);
  return op + 1;
}
const Operation* do_deallocate(Warp& w, const Operation* op, u32 mask) {
  deallocate(w, op, mask);
  return op + 1;
}

const Operation* do_device_call(Warp& w, const Operation* op, u32 mask) {
  call_device_runtime(w, op, mask);
  return op + 1;
}

const Operation* do_mbarrier(Warp& w, const Operation* op, u32 mask) {
  const bool is_wide = op->f != 0;
  if (!(is_wide ? reach_each<u64>(w, op, mask) : reach_each<u32>(w, op, mask))) return nullptr;
  change_mbarrier(w, op, mask);
  return op + 1;
}

const Operation* do_mbarrier_wait(Warp& w, const Operation* op, u32 mask) {
  const bool is_wide = op->f != 0;
  if (!(is_wide ? reach_each<u64>(w, op, mask) : reach_each<u32>(w, op, mask))) return nullptr;
  const u32 over = change_mbarrier(w, op, mask);
  set_predicate(w, op->d, mask, over);
  if (over == mask) return op + 1;
  account(w, op->instruction + 1);
  return stop(w, WarpStatus::yielded, op + 1);
}

const Operation* do_bulk_copy(Warp& w, const Operation* op, u32 mask) {
  return copy_in_bulk(w, op, mask) ? op + 1 : nullptr;
}

const Operation* do_count_copy(Warp& w, const Operation* op, u32 mask) {
  count_copy(w, op, mask);
  return op + 1;
}

const Operation* do_cluster_arrive(Warp& w, const Operation* op, u32 mask) {
  arrive_in_cluster(w, mask);
  return op + 1;
}

/// Asks again after the other warps, and the other blocks, have gone on.
const Operation* do_cluster_wait(Warp& w, const Operation* op, u32) {
  if (may_leave_cluster_barrier(w)) return op + 1;
  account(w, op->instruction);
  return stop(w, WarpStatus::yielded, op);
}

/// Up to four matrices of 8 × 8 numbers of 16 bits. Lane 8 m + r names row r of matrix m; lane l
/// has numbers 2 (l mod 4) and the next of row l / 4, or of that column when it is transposed.
/// Calls move(where a number is in memory, the lane's two numbers, which of them).
template <class Move>
const Operation* each_of_matrices(Warp& w, const Operation* op, u32 mask, Move move) {
  const u32 count = op->f & 7;
  const bool is_transposed = (op->f & 8) != 0, is_wide = (op->f & 16) != 0;
  const u32 rows = count == 4 ? full_mask : (u32{1} << 8 * count) - 1;
  if ((mask & rows) != rows) return raise_trap(w, op, mask, TrapKind::divergent_barrier);
  if (!(is_wide ? reach_each<u64>(w, op, rows) : reach_each<u32>(w, op, rows))) return nullptr;
  const u16 registers[4] = {op->d, op->b, op->c, op->e};
  for (u32 matrix = 0; matrix < count; ++matrix) {
    u32* const lanes = row<u32>(w, registers[matrix]);
    for (u32 l = 0; l < lane_count; ++l) {
      if ((mask >> l & 1) == 0) continue;
      for (u32 i = 0; i < 2; ++i) {
        const u32 along = 2 * (l % 4) + i, across = l / 4;
        const u32 r = is_transposed ? along : across, c = is_transposed ? across : along;
        move(w.lane_host[8 * matrix + r] + 2 * c, lanes[l], i);
      }
    }
  }
  return op + 1;
}

const Operation* do_load_matrix(Warp& w, const Operation* op, u32 mask) {
  return each_of_matrices(w, op, mask, [](std::byte* from, u32& pair, u32 i) {
    pair = i == 0 ? read<u16>(from) : pair | u32{read<u16>(from)} << 16;
  });
}

const Operation* do_store_matrix(Warp& w, const Operation* op, u32 mask) {
  return each_of_matrices(w, op, mask, [](std::byte* to, u32& pair, u32 i) {
    write(to, static_cast<u16>(pair >> 16 * i));
  });
}
