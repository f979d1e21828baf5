// SPDX-License-Identifier: MIT
// Basic blocks and what leads from one to the next.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "collector/model/machine/native/code.h"
#include "collector/model/machine/native/emitter.h"
#include "collector/model/machine/native/flow.h"

namespace warpmeter::model::native {
namespace {

/// Programs that are larger stay with the interpreter.
constexpr std::size_t most_operations = 100'000;
/// This space is reserved, not used: much more than an operation takes.
constexpr std::size_t bytes_of_operation = 4096, bytes_of_program = 1 << 16;

class Translation : private Emitter {
 public:
  /// `liveness` may be null: then all rows go back to memory at the end of a block.
  Translation(const Program& program, const Unit& unit, Lanes lanes,
              std::span<const std::uint8_t> watched, const Liveness* liveness, const Uses* uses,
              const LoadGroups* groups)
      : Emitter(program, unit, lanes, watched, uses, groups,
                bytes_of_program + program.operations.size() * bytes_of_operation),
        liveness_(liveness),
        effects_(program.operations.size()),
        labels_(program.operations.size() + 1),
        begins_(block_begins(program)),
        entries_(program.operations.size() + 1),
        inlined_(static_cast<std::size_t>(Code::count)) {
    L(enter_);
    emit_prologue();
    for (const Operation& op : program_.operations) emit(op);
    exit_to(program_.operations.size());  // which the last operation does not come to
    emit_epilogue();
    finish();
    emit_entries();
    if (liveness_ != nullptr) find_cleared();
    ready();
    setProtectModeRE();
    labels_.clear();
    if (liveness_ != nullptr) effects_.clear();
    const auto begin = reinterpret_cast<std::uintptr_t>(getCode());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (offsets_[i]) entries_[i] = reinterpret_cast<NativeEntry>(begin + *offsets_[i]);
    }
  }

  /// The effects of its operations' instructions.
  std::vector<Effect> take_effects() { return std::move(effects_); }

  const NativeEntry* entries() const { return entries_.data(); }
  const std::vector<RowRange>& cleared() const { return cleared_; }
  std::uint32_t inlined(Code code) const { return inlined_[static_cast<std::size_t>(code)]; }
  bool has_code() const { return lanes_ == Lanes::all || set_->has_some_lanes(); }

 private:
  void find_cleared() {
    const auto is_live = [&](std::uint32_t unit) {
      const std::int32_t first = piece_of(static_cast<std::uint16_t>(unit));
      for (int i = 0; i < pieces_of_unit_; ++i) {
        if (liveness_->is_live(first + i, 0)) return true;
      }
      return false;
    };
    for (const RowRange& range : program_.registers) {
      for (std::uint32_t unit = range.first; unit < range.first + range.count; ++unit) {
        if (!is_live(unit)) continue;
        const bool goes_on =
            !cleared_.empty() && cleared_.back().first + cleared_.back().count == unit;
        if (goes_on) {
          ++cleared_.back().count;
        } else {
          cleared_.push_back({unit, 1});
        }
      }
    }
  }

  void emit(const Operation& op) {
    const std::size_t i = index_of(op);
    if (begins_[i]) {
      leave_block({i});
      L(labels_[i]);
    }
    begin_operation(i, effects_[i]);
    const Flow flow = flow_of(op.code);
    if (flow != Flow::on && (op.guard != no_guard || is_observed(op))) return exit_to(i);
    switch (flow) {
      case Flow::on:
        if (op.guard != no_guard) {
          emit_guarded_call(op);
        } else if (!is_observed(op) && emit_inline(op)) {
          note(op);
          ++inlined_[static_cast<std::size_t>(op.code)];
          effects_[i].is_inlined = true;
        } else {
          emit_call(op);
        }
        break;
      case Flow::interpreted:
        exit_to(i);
        break;
      case Flow::join:
        lea(rax, ptr[code_ + place_of(op)]);
        cmp(rax, ptr[warp_ + offsetof(Warp, reconverge)]);
        je(returned_);
        break;
      case Flow::gather:
        emit_gather(op);
        break;
      case Flow::branch:
        leave_block({op.extra});
        account(op);
        jump(op);
        break;
      case Flow::branch_if:
      case Flow::branch_out:
        emit_branch(op);
        break;
    }
  }

  /// Rows that are read where the code leads from here go back to memory.
  void leave_block(std::initializer_list<std::size_t> successors) {
    if (liveness_ != nullptr) {
      forget([&](std::int32_t piece) {
        return std::none_of(successors.begin(), successors.end(), [&](std::size_t successor) {
          return liveness_->is_live(piece, successor);
        });
      });
    }
    flush();
    tell_last();
  }

  /// To the interpreter, which goes on with this operation.
  void exit_to(std::size_t i) {
    leave_block({i});
    lea(rax, ptr[code_ + static_cast<std::int32_t>(i * sizeof(Operation))]);
    jmp(returned_);
  }

  void emit_gather(const Operation& op) {
    if (op.imm < 0) return;
    flush();
    Xbyak::Label known;
    lea(rax, ptr[code_ + static_cast<std::int32_t>(op.imm * std::int64_t{sizeof(Operation)})]);
    cmp(rax, ptr[warp_ + offsetof(Warp, reconverge)]);
    je(known);
    emit_call(op);
    L(known);
  }

  /// account() of execute/control.h. Both counts at once, as compilers have them:
  /// a processor waits long for 16 bytes that two instructions have stored.
  void account(const Operation& op) {
    static_assert(offsetof(Warp, thread_instructions) == offsetof(Warp, warp_instructions) + 8);
    const Xbyak::Address counts = ptr[warp_ + offsetof(Warp, warp_instructions)];
    mov(eax, op.instruction + 1);
    sub(eax, dword[warp_ + offsetof(Warp, counted_from)]);
    vmovq(xmm0, rax);
    if (lanes_ == Lanes::all) {
      shl(rax, 5);
    } else {
      popcnt(ecx, active());
      imul(rax, rcx);
    }
    vpinsrq(xmm0, xmm0, rax, 1);
    vpaddq(xmm0, xmm0, counts);
    vmovdqu(counts, xmm0);
    record_issue(op);
  }

  /// The part of account() for an InstructionRecording, which few launches have.
  void record_issue(const Operation& op) {
    const auto recorded = std::make_shared<Xbyak::Label>(),
               known = std::make_shared<Xbyak::Label>();
    cmp(qword[warp_ + offsetof(Warp, issues)], 0);
    jne(*recorded);
    L(*known);
    const auto end = static_cast<std::int32_t>(8 * (op.instruction + 1));
    later([=, this] {
      L(*recorded);
      mov(r9, ptr[warp_ + offsetof(Warp, issues)]);
      mov(ecx, dword[warp_ + offsetof(Warp, counted_from)]);
      inc(qword[r9 + rcx * 8]);
      dec(qword[r9 + end]);
      mov(r9, ptr[warp_ + offsetof(Warp, issued_lanes)]);
      popcnt(eax, active());
      add(ptr[r9 + rcx * 8], rax);
      sub(ptr[r9 + end], rax);
      jmp(*known);
    });
  }

  /// jump() of execute/control.h.
  void jump(const Operation& op) {
    mov(dword[warp_ + offsetof(Warp, counted_from)], program_.operations.at(op.extra).instruction);
    if (op.extra <= index_of(op)) {
      mov(rax, ptr[warp_ + offsetof(Warp, warp_instructions)]);
      cmp(rax, ptr[warp_ + offsetof(Warp, yield_at)]);
      jb(labels_[op.extra]);
      mov(byte[warp_ + offsetof(Warp, status)], static_cast<int>(WarpStatus::yielded));
      lea(rax, ptr[code_ + static_cast<std::int32_t>(op.extra * sizeof(Operation))]);
      mov(ptr[warp_ + offsetof(Warp, pc)], rax);
      jmp(stopped_);
    } else {
      jmp(labels_[op.extra]);
    }
  }

  /// Where all active lanes jump, or none does. For a branch out of a loop, where none leaves.
  void emit_branch(const Operation& op) {
    leave_block({op.extra, index_of(op) + 1});
    const bool leaves_by_jumping = op.code == Code::branch_out && op.b == 0;
    const bool leaves_by_staying = op.code == Code::branch_out && op.b != 0;
    Xbyak::Label taken, interpreted;
    load_predicate(ecx, op.a);
    if (lanes_ == Lanes::all) {
      cmp(ecx, -1);
    } else {
      and_(ecx, active());
      cmp(ecx, active());
    }
    je(leaves_by_jumping ? interpreted : taken);
    test(ecx, ecx);
    jnz(interpreted);
    if (leaves_by_staying) {
      jmp(interpreted);
    } else {
      account(op);
      mov(dword[warp_ + offsetof(Warp, counted_from)], op.instruction + 1);
      jmp(labels_[index_of(op) + 1]);
    }
    if (!leaves_by_jumping) {
      L(taken);
      account(op);
      jump(op);
    }
    L(interpreted);
    exit_to(index_of(op));
  }

  /// Where the interpreter comes in: at blocks that do not begin with what it has to do itself.
  void emit_entries() {
    const std::size_t count = program_.operations.size();
    offsets_.assign(count + 1, std::nullopt);
    for (std::size_t i = 0; i < count; ++i) {
      if (!begins_[i] || flow_of(program_.operations[i].code) == Flow::interpreted) continue;
      offsets_[i] = getSize();
      lea(rax, ptr[rip + labels_[i]]);
      jmp(enter_);
    }
    // Nobody comes to the end of the last operation.
    if (begins_[count]) {
      L(labels_[count]);
      ud2();
    }
  }

  const Liveness* liveness_;
  std::vector<Effect> effects_;
  std::vector<Xbyak::Label> labels_;
  std::vector<bool> begins_;
  std::vector<std::optional<std::size_t>> offsets_;
  std::vector<NativeEntry> entries_;
  std::vector<std::uint32_t> inlined_;
  std::vector<RowRange> cleared_;
  Xbyak::Label enter_;
};

/// The code is written twice: the first time to see what is read and written where. Null where the
/// set has no instructions for such lanes. `loads`: the groups that it asks for; null: none.
std::unique_ptr<Translation> translation(const Program& program, const Unit& unit, Lanes lanes,
                                         std::span<const std::uint8_t> watched,
                                         std::vector<LoadGroup>* loads) {
  std::optional<Translation> first;
  first.emplace(program, unit, lanes, watched, nullptr, nullptr, nullptr);
  if (!first->has_code()) return nullptr;
  const int pieces_of_unit = static_cast<int>(row_unit_bytes / unit.vector_bytes);
  std::vector<Effect> effects = first->take_effects();
  first.reset();
  const Liveness liveness(program, effects, pieces_of_unit);
  std::optional<LoadGroups> groups;
  if (loads != nullptr) *loads = groups.emplace(program, effects, pieces_of_unit).all();
  const Uses uses(program, std::move(effects), liveness);
  return std::make_unique<Translation>(program, unit, lanes, watched, &liveness, &uses,
                                       groups ? &*groups : nullptr);
}

class Translations : public NativeCode {
 public:
  /// An observer is told of each access by itself: no groups then.
  Translations(const Program& program, const Unit& unit, std::span<const std::uint8_t> watched)
      : all_(translation(program, unit, Lanes::all, watched, watched.empty() ? &groups_ : nullptr)),
        some_(translation(program, unit, Lanes::some, watched, nullptr)),
        none_(program.operations.size() + 1) {}

  const NativeEntry* entries() const override { return all_->entries(); }
  const NativeEntry* entries_of_some() const override {
    return some_ != nullptr ? some_->entries() : none_.data();
  }
  const std::vector<RowRange>& cleared() const override { return all_->cleared(); }
  const std::vector<LoadGroup>& groups() const override { return groups_; }
  std::uint32_t inlined(Code code) const override { return all_->inlined(code); }

 private:
  std::vector<LoadGroup> groups_;
  std::unique_ptr<Translation> all_, some_;
  std::vector<NativeEntry> none_;
};

}  // namespace
}  // namespace warpmeter::model::native

namespace warpmeter::model {

std::unique_ptr<NativeCode> translate(const Program& program, const Unit& unit,
                                      std::span<const std::uint8_t> watched) {
  if (unit.vector_bytes == 0 || program.operations.size() > native::most_operations) {
    return nullptr;
  }
  try {
    return std::make_unique<native::Translations>(program, unit, watched);
  } catch (const Xbyak::Error&) {  // no memory that may be executed, or not enough
    return nullptr;
  }
}

}  // namespace warpmeter::model
