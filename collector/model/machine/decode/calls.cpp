// SPDX-License-Identifier: MIT
// Calls: of functions in the module, through pointers, and of the few that the driver provides.
//
// A function is inlined where it is called, so that most kernels need no calls at all. One that may
// call itself, one at the end of a very long chain, and whatever is called through a pointer, has a
// body of its own ("root"). Its variables and parameters lie in a frame of local memory whose base
// is a row like any other (each lane has its own); a caller that may be entered again keeps its
// registers there, too.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/memory/align.h"

namespace warpmeter::model {
namespace {

/// Parameters and results of a body lie one after the other, each at a multiple of this.
constexpr std::uint32_t argument_alignment = 16;
/// Functions are inlined into each other no deeper: each takes stack of ours while it is decoded.
constexpr std::uint32_t most_inlined = 500;

}  // namespace

/// The number of a function's own body, which is decoded after the entry.
std::uint32_t Decoder::body_of(const ptx::Function& function) {
  const auto known = body_numbers_.find(&function);
  if (known != body_numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(bodies_.size());
  body_numbers_[&function] = number;
  Body& body = bodies_.emplace_back();
  body.function = &function;
  body.root.is_entry = false;
  body.root.is_recursive = is_recursive(function);
  return number;
}

std::optional<std::uint64_t> Decoder::function_address(std::string_view name) {
  const ptx::Function* function = module_.find(name);
  if (function == nullptr || function->is_entry || function->is_declaration) return std::nullopt;
  return first_function + function_step * body_of(*function);
}

/// The base of the frame, a row that starts at zero.
std::uint16_t Decoder::frame_row() {
  if (!frame_row_) {
    frame_row_ = allocate_row(8);
    program_.registers.push_back({*frame_row_, 4});
  }
  return *frame_row_;
}

/// A row that will hold how large the frame is, once that is known.
std::uint16_t Decoder::frame_size_row(Root& root) {
  if (root.size_row == no_operand) root.size_row = allocate_row(8);
  return root.size_row;
}

/// Lanes that call different functions through a pointer do not meet behind the call, where no
/// barrier of the machine code has them meet: an H200 made each access behind it once for each
/// function.
void Decoder::note_indirect_calls() {
  for (const Operation& operation : program_.operations) {
    if (operation.code != Code::call_indirect) continue;
    for (SiteInfo& site : program_.sites) site.together.push_back(operation.instruction);
  }
}

/// All bodies that can be reached, after the entry: they are found one by another.
void Decoder::decode_bodies() {
  const auto finish = [&](Root& root) {
    root.frame_bytes = round_up(round_up(root.frame_bytes, 8) + root.saved_bytes, 64);
    if (root.size_row != no_operand) {
      program_.constants.push_back({root.size_row, 8, root.frame_bytes});
    }
  };
  if (direct_calls_.empty() && !has_indirect_calls_) return;
  entry_root_.frame_bytes = program_.local_bytes;
  finish(entry_root_);
  program_.local_bytes = entry_root_.frame_bytes;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Body& body = bodies_[i];
    if (!has_indirect_calls_ && !body.is_called) continue;
    Instance instance;
    instance.function = body.function;
    instance.root = &body.root;
    for (const auto* list : {&body.function->parameters, &body.function->results}) {
      for (const ptx::Variable& variable : *list) {
        const std::uint32_t at = round_up(body.root.frame_bytes, argument_alignment);
        instance.symbols[variable.name] = {AddressSpace::local, at, true, variable.bytes};
        body.root.frame_bytes = at + static_cast<std::uint32_t>(variable.bytes);
      }
    }
    body.first_operation = static_cast<std::uint32_t>(program_.operations.size());
    decode_function(instance, {}, {});
    finish(body.root);
    body.end_operation = instance.operation_of.back();
    kept_.push_back(std::move(instance));
  }
  const std::uint32_t stack_end = program_.local_bytes + stack_bytes;
  program_.functions.assign(bodies_.size(), {});
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const std::uint32_t bytes = std::min(bodies_[i].root.frame_bytes, stack_end);
    program_.functions[i] = {bodies_[i].first_operation, bodies_[i].end_operation,
                             stack_end - bytes};
  }
  note_indirect_calls();
  for (const std::size_t call : direct_calls_) {
    Operation& operation = program_.operations[call];
    operation.extra = program_.functions[static_cast<std::size_t>(operation.imm)].first;
  }
  // Arguments are written before the call finds out that their frame has no room.
  program_.local_bytes = stack_end + most_passed_bytes_;
  program_.has_calls = true;
}

/// A load or store of local memory at a row of addresses.
void Decoder::emit_local(bool is_load, std::uint16_t base, bool is_wide, std::int64_t offset,
                         std::uint16_t row, unsigned bytes, bool guarded) {
  const unsigned row_bytes = std::max(bytes, 2u);
  const AccessCodes* const codes =
      is_load ? find_load(bytes, false, row_bytes) : find_store(bytes, row_bytes);
  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = AddressSpace::local;
  info.width = info.alignment = static_cast<std::uint8_t>(bytes);
  const std::uint32_t site = add_site(info);
  emit(codes->of(is_wide, false), {.d = row, .a = base, .imm = offset, .extra = site}, guarded);
}

/// A variable of local memory as a base row and an offset.
std::pair<std::uint16_t, std::int64_t> Decoder::local_place(const Symbol& symbol) {
  return {symbol.in_frame ? frame_row() : constant(0, 8),
          static_cast<std::int64_t>(symbol.address)};
}

/// Between a variable and an argument of a body, whose frame begins at `base`.
void Decoder::copy_argument(const Symbol& variable, std::uint16_t base, std::int64_t offset,
                            std::uint64_t bytes, bool to_callee) {
  const auto [own, own_offset] = local_place(variable);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t left = bytes - done;
    unsigned step = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    while ((variable.address + done) % step != 0 ||
           (static_cast<std::uint64_t>(offset) + done) % step != 0) {
      step /= 2;
    }
    const Scratch::Lease lease(scratch_);
    const std::uint16_t value = scratch(std::max(step, 2u));
    const auto at = static_cast<std::int64_t>(done);
    note_passing({own, own_offset + at}, {base, offset + at}, step, to_callee);
    emit_local(true, to_callee ? own : base, true, (to_callee ? own_offset : offset) + at, value,
               step, false);
    emit_local(false, to_callee ? base : own, true, (to_callee ? offset : own_offset) + at, value,
               step, false);
    done += step;
  }
}

/// The registers that hold a value across the current call, of this function and of those that it
/// is inlined into.
std::vector<Decoder::Saved> Decoder::registers_across_call() {
  std::vector<Saved> saved;
  std::set<std::pair<bool, std::uint16_t>> seen;  // predicate or row
  std::size_t index = index_;
  for (const Instance* i = instance_; i != nullptr; index = i->call_index, i = i->caller) {
    const Analysis& analysis = *i->analysis;
    const std::vector<ptx::Interval> intervals = ptx::live_intervals(analysis.data, analysis.graph);
    Instance* const current = std::exchange(instance_, const_cast<Instance*>(i));
    for (std::size_t id = 0; id < intervals.size(); ++id) {
      if (intervals[id].first > index || intervals[id].last < index) continue;
      const ptx::Register& known = analysis.data.registers()[id];
      Saved one;
      if (const auto predicate = predicate_index(known.name)) {
        one = {true, *predicate, 4};
      } else if (known.width == ptx::Width::quad) {
        const auto row = static_cast<std::uint16_t>(i->first_quad + analysis.slots.slot[id] * 8);
        if (seen.insert({false, row}).second) saved.push_back({false, row, 8});
        one = {false, static_cast<std::uint16_t>(row + 4), 8};
      } else {
        const auto row = register_row(known.name);
        one = {false, row->first, row->second};
      }
      if (seen.insert({one.is_predicate, one.index}).second) saved.push_back(one);
    }
    instance_ = current;
  }
  return saved;
}

/// Before the row `end`, where the frame ends. The bytes that they take.
std::uint32_t Decoder::save_registers(const std::vector<Saved>& saved, std::uint16_t end,
                                      bool restores) {
  std::uint32_t at = 0;
  for (const Saved& one : saved) {
    at = round_up(at + one.bytes, one.bytes);
    const Scratch::Lease lease(scratch_);
    const std::uint16_t row = one.is_predicate ? scratch(4) : one.index;
    if (one.is_predicate && !restores) {
      const std::uint16_t yes = constant(1, 4), no = constant(0, 4);
      emit(Code::selp_b32,
           {.d = row, .a = yes, .b = no, .c = static_cast<std::uint16_t>(2 * one.index)}, false);
    }
    emit_local(restores, end, true, -static_cast<std::int64_t>(at), row, one.bytes, false);
    if (one.is_predicate && restores) {
      const std::uint16_t no = constant(0, 4);
      emit(Code::ne_u32, {.d = one.index, .a = row, .b = no}, false);
    }
  }
  return round_up(at, 8u);
}

/// A call of a body of its own: `body` is its number, or `pointer` the row that says which.
void Decoder::emit_call(std::optional<std::uint32_t> body, std::uint16_t pointer,
                        const std::vector<Passed>& results, const std::vector<Passed>& arguments) {
  Root& root = *instance_->root;
  const std::uint16_t frame = frame_row(), size = frame_size_row(root);
  const std::uint16_t callee_frame = scratch(8);
  const auto callee_base = [&] {
    emit(Code::add_u64, {.d = callee_frame, .a = frame, .b = size}, false);
  };
  callee_base();
  std::uint32_t at = 0;
  for (const Passed& argument : arguments) {
    at = round_up(at, argument_alignment);
    copy_argument(argument.symbol, callee_frame, at, argument.bytes, true);
    at += static_cast<std::uint32_t>(argument.bytes);
  }
  most_passed_bytes_ = std::max(most_passed_bytes_, at);
  std::vector<Saved> saved;
  if (root.is_recursive) {
    saved = registers_across_call();
    root.saved_bytes = std::max(root.saved_bytes, save_registers(saved, callee_frame, false));
  }
  const auto move_frame = [&](Code code) {
    emit(code, {.d = frame, .a = frame, .b = size}, false);
  };
  move_frame(Code::add_u64);
  if (body) {
    bodies_[*body].is_called = true;
    direct_calls_.push_back(program_.operations.size());
    emit(Code::call, {.b = frame, .imm = *body}, false);
  } else {
    has_indirect_calls_ = true;
    emit(Code::call_indirect, {.a = pointer, .b = frame}, false);
    emit(Code::join, false);
  }
  move_frame(Code::sub_u64);
  if (!results.empty() || !saved.empty()) callee_base();
  for (const Passed& result : results) {
    at = round_up(at, argument_alignment);
    copy_argument(result.symbol, callee_frame, at, result.bytes, false);
    at += static_cast<std::uint32_t>(result.bytes);
  }
  save_registers(saved, callee_frame, true);
}

/// Arguments and results are variables of the caller, which an inlined callee uses under its own
/// names.
void Decoder::decode_plain_call() {
  const auto& operands = instruction_->operands;
  if (guard_ != no_guard) refuse("is guarded, which the model does not do; branch around it");
  if (operands.size() < 3 || operands[1].kind != Operand::Kind::name) {
    refuse("has a form that the model does not have");
  }
  const std::string_view name = operands[1].name;
  const auto passed = [&](const Operand& list) {
    std::vector<Passed> found;
    for (const Operand& part : list.parts) {
      const std::optional<Symbol> variable =
          part.kind == Operand::Kind::name ? symbol(part.name) : std::nullopt;
      if (!variable) refuse("passes something else than a .param variable");
      found.push_back({*variable, variable->bytes});
    }
    return found;
  };
  const std::vector<Passed> results = passed(operands[0]), arguments = passed(operands[2]);
  if (const auto pointer = register_row(name)) {
    if (pointer->second != 8) refuse("calls through a pointer of less than 64 bits");
    return emit_call(std::nullopt, pointer->first, results, arguments);
  }
  if (decode_system_call(name, results, arguments)) return;
  const ptx::Function* callee = module_.find(name);
  if (callee == nullptr || callee->is_declaration) {
    refuse(
        fmt::format("calls {}, which the module does not define; link it before (nvcc -rdc "
                    "makes such modules)",
                    name));
  }
  if (results.size() != callee->results.size() || arguments.size() != callee->parameters.size()) {
    refuse(fmt::format("has another number of operands than {}", name));
  }
  if (is_recursive(*callee) || instance_->depth >= most_inlined) {
    return emit_call(body_of(*callee), 0, results, arguments);
  }
  Instance instance;
  instance.function = callee;
  instance.caller = instance_;
  instance.call_index = index_;
  instance.depth = instance_->depth + 1;
  instance.root = instance_->root;
  std::vector<Symbol> result_symbols, argument_symbols;
  for (const Passed& one : results) result_symbols.push_back(one.symbol);
  for (const Passed& one : arguments) argument_symbols.push_back(one.symbol);
  decode_function(instance, result_symbols, argument_symbols);
  kept_.push_back(std::move(instance));
}

/// Between a variable of the current function and an argument of the one that it calls, by the
/// operation that comes next.
void Decoder::note_passing(RowAndOffset own, RowAndOffset passed, std::uint32_t bytes,
                           bool to_callee) {
  const auto place = [](const RowAndOffset& from) {
    UnsetStep::Place made;
    made.base.row = from.first;
    made.base.bits = 64;
    made.offset = from.second;
    return made;
  };
  UnsetStep step;
  step.operation = static_cast<std::uint32_t>(program_.operations.size());
  step.instruction = ordinal_;
  step.copy =
      UnsetStep::Copy{place(to_callee ? own : passed), place(to_callee ? passed : own), bytes};
  passings_.push_back(std::move(step));
}

}  // namespace warpmeter::model
