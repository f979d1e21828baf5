// SPDX-License-Identifier: MIT
#include "collector/model/machine/decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "collector/model/counts/rules/measured.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/memory/align.h"
#include "collector/model/ptx/flow/early_joins.h"
#include "collector/model/ptx/flow/leaders.h"
#include "collector/model/ptx/flow/one_value.h"
#include "collector/model/ptx/flow/partings.h"
#include "collector/model/ptx/flow/waiting.h"
#include "collector/model/ptx/memory/copied_loads.h"
#include "collector/model/ptx/memory/deciding_reads.h"
#include "collector/model/ptx/memory/shared_variables.h"
#include "collector/model/ptx/memory/thread_numbers.h"
#include "collector/model/ptx/memory/verified_loads.h"

namespace warpmeter::model {
namespace {

/// Past this many, calls have been inlined into calls into calls.
constexpr std::size_t most_operations = std::size_t{1} << 21;

/// The most refusals of one kernel; further ones are dropped.
constexpr std::size_t most_refusals = 1000;

/// The type of a parameter, as an error prints it.
std::string type_of(const ptx::Variable& parameter) {
  if (parameter.bytes * 8 == ptx::info_of(parameter.type).bits) {
    return std::string(ptx::text_of(parameter.type));
  }
  return fmt::format("b8[{}]", parameter.bytes);
}

std::uint8_t traits_of(const ptx::Instruction& instruction) {
  const ptx::Type to = instruction.first_type(), from = instruction.last_type();
  const bool is_double = from == ptx::Type::f64;
  if (instruction.is(ptx::Opcode::cvt)) {
    if (to == ptx::Type::f64 && from == ptx::Type::f32) return trait_widens;
    if (to == ptx::Type::f32 && is_double) return trait_narrows;
    if (to == ptx::Type::f64 && ptx::info_of(from).is_integer()) return trait_begins;
    return is_double && ptx::info_of(to).is_integer() ? trait_ends : 0;
  }
  if (instruction.space != ptx::Space::none) return is_double ? trait_keeps : 0;
  if (!is_double || instruction.is(ptx::Opcode::mov) || instruction.is(ptx::Opcode::selp)) return 0;
  constexpr std::uint8_t comparison = trait_double | trait_judges;
  return instruction.is(ptx::Opcode::setp) ? comparison : trait_double;
}

}  // namespace

std::vector<Parameter> parameters_of(const ptx::Function& entry) {
  std::vector<Parameter> parameters;
  std::uint32_t offset = 0;
  for (const ptx::Variable& parameter : entry.parameters) {
    offset = static_cast<std::uint32_t>(round_up(offset, parameter.alignment));
    const auto bytes = static_cast<std::uint32_t>(parameter.bytes);
    parameters.push_back({offset, bytes, type_of(parameter)});
    offset += bytes;
  }
  return parameters;
}

Decoder::Decoder(const ptx::Module& module, const ptx::Function& entry, const VariableRooms& rooms)
    : rooms_(rooms), module_(module), entry_(entry) {}

void Decoder::refuse(const std::string& what) const {
  Refusal refusal;
  refusal.what = what;
  if (instruction_ == nullptr) throw Refused{refusal};
  refusal.instruction = instruction_->text;
  refusal.place.ptx_line = instruction_->line;
  const auto& location = instruction_->location;
  if (location && location->line > 0 &&
      static_cast<std::size_t>(location->file) < module_.files.size()) {
    refusal.place.file = location->file;
    refusal.place.line = location->line;
    refusal.source = fmt::format("{}:{}", module_.files[static_cast<std::size_t>(location->file)],
                                 location->line);
  }
  throw Refused{refusal};
}

/// A function that is inlined twice gives its reasons twice.
void Decoder::keep(const Refusal& refusal) {
  for (const Refusal& known : refusals_) {
    if (known.place.ptx_line == refusal.place.ptx_line && known.what == refusal.what) return;
  }
  if (refusals_.size() < most_refusals) refusals_.push_back(refusal);
}

void Decoder::refuse_form() const {
  const std::string_view name = instruction_->text.substr(0, instruction_->text.find('.'));
  refuse(fmt::format("is a form of {} that the model does not have; measure this kernel on a GPU",
                     name));
}

ptx::Spaces spaces_of(const ptx::Module& module) {
  ptx::Spaces spaces;
  for (const ptx::Variable& variable : module.variables) {
    spaces.emplace(variable.name, variable.space);
  }
  return spaces;
}

/// The functions that it calls come first, by a list rather than by recursion: a chain of calls may
/// be long.
const Analysis& Decoder::analyse(const ptx::Function& function) {
  std::vector<const ptx::Function*> work = {&function};
  while (!work.empty()) {
    const ptx::Function& next = *work.back();
    const std::size_t size = work.size();
    if (!analyses_.contains(&next)) {
      for (const ptx::Function* callee : callees_of(&next)) {
        if (callee == nullptr || callee->is_declaration || analyses_.contains(callee)) continue;
        if (!is_recursive(*callee)) work.push_back(callee);
      }
      if (work.size() > size) continue;
      analyse_alone(next);
    }
    work.pop_back();
  }
  return analyses_.at(&function);
}

/// The functions that it calls are analysed already.
void Decoder::analyse_alone(const ptx::Function& function) {
  auto graph = ptx::control_flow(function);
  if (auto* wrong = std::get_if<ptx::Diagnostic>(&graph)) {
    Refusal refusal;
    refusal.place.ptx_line = wrong->line;
    refusal.what = wrong->message;
    throw Refused{refusal};
  }
  Analysis analysis;
  analysis.graph = std::move(std::get<ptx::ControlFlow>(graph));
  analysis.data = ptx::data_flow(function);
  analysis.slots = ptx::allocate(analysis.data, analysis.graph);
  analysis.leader = ptx::leading_accesses(function, analysis.graph, analysis.data);
  analysis.waits = ptx::waiting_loops(function, analysis.graph, analysis.data);
  analysis.asking_loops = ptx::asking_loops(function, analysis.graph, analysis.data);
  note_waiting(function, analysis);
  program_.polls |= ptx::polls(function, analysis.graph, analysis.data);
  analysis.order =
      ptx::order_flow(function, analysis.graph, analysis.data, spaces_of(module_),
                      {ptx::retried_loops(function, analysis.graph, analysis.data), analysis.waits},
                      given_by_calls(function));
  analysis.is_copied = ptx::copied_loads(function, analysis.data);
  analysis.decides = ptx::deciding_reads(function, analysis.data);
  analysis.partings = ptx::partings(function, analysis.graph, analysis.data);
  analysis.is_verified = ptx::verified_loads(function, analysis.data);
  analysis.stores_same = ptx::stores_of_one_value(function, analysis.data);
  program_.numbers_threads |= ptx::numbers_threads_of_grid(function, analysis.data);
  analysis.deciders = ptx::deciding_comparisons(function, analysis.data);
  std::unordered_set<std::string_view> shared;
  for (const auto* variables : {&module_.variables, &function.variables}) {
    for (const ptx::Variable& variable : *variables) {
      if (variable.space == ptx::Space::shared) shared.insert(variable.name);
    }
  }
  if (shared.size() < 2) shared.clear();  // then none runs over into another
  analysis.meant = ptx::meant_variables(function, analysis.data, shared);
  analysis.early_joins = ptx::early_joins(analysis.graph);
  analysis.is_meeting.resize(function.body.size() + 1);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const std::size_t meeting = analysis.graph.reconvergence(i);
    if (meeting != ptx::nowhere) analysis.is_meeting[meeting] = true;
  }
  for (const ptx::Block& block : analysis.graph.blocks) {
    if (block.behind != ptx::nowhere)
      analysis.is_meeting[analysis.graph.place(block.behind)] = true;
  }
  analyses_.emplace(&function, std::move(analysis));
}

Program Decoder::decode() {
  program_.kernel = entry_.name;
  program_.arch = module_.target;
  program_.why_not_exact = why_not_exact(module_.target);
  program_.files = module_.files;
  program_.max_threads = entry_.max_threads.value_or(1024);
  program_.cluster = {entry_.cluster.x, entry_.cluster.y, entry_.cluster.z};
  Instance instance;
  program_.parameters = parameters_of(entry_);
  for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
    const Parameter& parameter = program_.parameters[i];
    instance.symbols[entry_.parameters[i].name] = {AddressSpace::param, parameter.offset};
    program_.parameter_bytes = parameter.offset + parameter.bytes;
  }
  place_variables();
  instance.function = &entry_;
  instance.root = &entry_root_;
  decode_function(instance, {}, {});
  kept_.push_back(std::move(instance));
  decode_bodies();
  if (refusals_.empty()) find_unset();
  program_.local_bytes = static_cast<std::uint32_t>(round_up(program_.local_bytes, 16));
  place_stack();
  place_loop_states();
  // Dynamic memory has a name in each kernel of the module.
  std::erase_if(program_.shared_variables, [&](const SharedVariable& variable) {
    return variable.bytes == 0 && !used_variables_.contains(variable.name);
  });
  return std::move(program_);
}

void Decoder::decode_function(Instance& instance, const std::vector<Symbol>& results,
                              const std::vector<Symbol>& arguments) {
  const ptx::Function& function = *instance.function;
  instance.analysis = &analyse(function);
  place_instance(instance);
  for (std::size_t i = 0; i < results.size(); ++i) {
    instance.symbols[function.results[i].name] = results[i];
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    instance.symbols[function.parameters[i].name] = arguments[i];
  }
  instance.operation_of.resize(function.body.size() + 1);

  // The caller goes on where it was when this is an inlined call.
  Instance* const caller = std::exchange(instance_, &instance);
  const ptx::Instruction* const call = instruction_;
  const std::size_t call_index = index_;
  std::vector<Branch> branches;
  std::vector<Branch>* const callers_branches = std::exchange(branches_, &branches);
  std::vector<std::size_t> sites_before;  // for each instruction, those of inlined calls included
  // Code without lines of its own is that of its call.
  Place place = instance.caller != nullptr ? program_.places.back() : Place{};
  for (index_ = 0; index_ < function.body.size(); ++index_) {
    sites_before.push_back(program_.sites.size());
    instruction_ = &function.body[index_];
    place.ptx_line = instruction_->line;
    if (instruction_->location && instruction_->location->line > 0) {
      place.file = instruction_->location->file;
      place.line = instruction_->location->line;
      place.own_line = instruction_->location->own_line;
      place.code_file = instruction_->location->code_file;
      place.code_line = instruction_->location->code_line;
    }
    ordinal_ = static_cast<std::uint32_t>(program_.places.size());
    guard_ = no_guard;
    instance.operation_of[index_] = static_cast<std::uint32_t>(program_.operations.size());
    if (instance.analysis->is_meeting[index_]) emit(Code::join);
    const ptx::Block& block =
        instance.analysis->graph.blocks[instance.analysis->graph.block_of[index_]];
    if (block.gathers && block.first == index_) {
      branches.push_back(
          {program_.operations.size(), index_, instance.analysis->graph.place(block.behind)});
      emit(Code::gather);
    }
    program_.places.push_back(place);
    program_.traits.push_back(traits_of(*instruction_));
    try {
      decode_instruction();
      note_members();
    } catch (const Refused& refused) {
      if (refused.refusal.instruction.empty()) throw;
      keep(refused.refusal);
    }
    if (program_.operations.size() > most_operations) {
      instruction_ = nullptr;
      refuse("grows too large when its calls are inlined; split it");
    }
  }
  sites_before.push_back(program_.sites.size());
  note_early_joins(instance, sites_before);
  note_ordered_sites(instance, sites_before);
  finish_function(instance, place, branches);
  instance_ = caller;
  instruction_ = call;
  index_ = call_index;
  branches_ = callers_branches;
}

/// Where hardware may let lanes meet that here go on apart, the requests are certain only as long
/// as none part.
void Decoder::note_early_joins(const Instance& instance,
                               const std::vector<std::size_t>& sites_before) {
  const auto& blocks = instance.analysis->graph.blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (const std::size_t branch : instance.analysis->early_joins[b]) {
      const std::uint32_t ordinal =
          branch == ptx::nowhere ? any_instruction
                                 : program_.operations[instance.operation_of[branch]].instruction;
      for (std::size_t i = sites_before[blocks[b].first]; i < sites_before[blocks[b].end]; ++i) {
        program_.sites[i].together.push_back(ordinal);
      }
    }
  }
}

/// The end of the body: threads of an entry leave, those of a device function meet and go on.
void Decoder::finish_function(Instance& instance, const Place& place,
                              const std::vector<Branch>& branches) {
  ordinal_ = static_cast<std::uint32_t>(program_.places.size());
  guard_ = no_guard;
  const auto end = static_cast<std::uint32_t>(program_.operations.size());
  instance.operation_of.back() = end;
  if (instance.returns()) {
    emit(Code::join);
  } else {
    program_.places.push_back(place);
    program_.traits.push_back(0);
    emit(Code::leave);
  }
  for (const Branch& branch : branches) {
    Operation& operation = program_.operations[branch.operation];
    operation.extra = instance.operation_of[branch.target];
    if (branch.meeting != ptx::nowhere) {
      operation.imm = instance.operation_of[branch.meeting];
    } else {
      operation.imm = instance.returns() ? static_cast<std::int64_t>(end) : -1;
    }
  }
  note_asking_loops(instance);
}

Operation& Decoder::emit(Code code, const Operands& of, bool guarded) {
  program_.operations.push_back({code, guarded ? guard_ : no_guard, of.d, of.a, of.b, of.c, of.e,
                                 of.f, of.imm, of.extra, ordinal_});
  return program_.operations.back();
}

/// Notes the members of an instruction that makes the lanes of a warp wait for each other, which
/// ones: always the last operand.
void Decoder::note_members() {
  if (!instruction_->row().effects.names_lanes || !has(Word::sync)) return;
  program_.syncs.push_back({ordinal_, source(instruction_->operands.back(), RowType::u32)});
}

}  // namespace warpmeter::model
