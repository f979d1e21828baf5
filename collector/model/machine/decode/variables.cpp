// SPDX-License-Identifier: MIT
// Where the variables of a module and of its functions lie, and what they hold at first.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/memory/align.h"
#include "collector/model/ptx/flow/reached.h"

namespace warpmeter::model {
namespace {

/// The limits of a module's requests: of constants and of a thread's own memory what a device has,
/// of shared memory more than any has (a launch knows its device's), of variables what this machine
/// can spare.
constexpr std::uint64_t most_constant_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t most_local_bytes = std::uint64_t{512} << 10;
constexpr std::uint64_t most_shared_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t most_variable_bytes = std::uint64_t{1} << 30;

std::vector<std::byte> initial_bytes(const ptx::Variable& variable) {
  std::vector<std::byte> bytes(variable.bytes);
  std::copy_n(variable.initial.begin(),
              std::min<std::size_t>(variable.initial.size(), bytes.size()), bytes.begin());
  return bytes;
}

}  // namespace

/// Module variables, and the shared variables of every function that may be inlined: those exist
/// once, whoever calls.
void Decoder::place_variables() {
  std::uint64_t next_global = 0, shared = 0;
  std::uint64_t in_global = 0, in_constant = 0, in_shared = 0;
  std::vector<const ptx::Variable*> dynamic;
  const auto limit = [&](std::uint64_t& used, const ptx::Variable& variable, std::uint64_t most,
                         std::string_view memory) {
    used = round_up(used, variable.alignment);
    if (variable.bytes > most || (used += variable.bytes) > most) {
      refuse(
          fmt::format("declares more than {} bytes of {} memory, which is more than there is; "
                      "make '{}' smaller",
                      most, memory, variable.name));
    }
  };
  const auto place_shared = [&](const ptx::Variable& variable, auto& symbols) {
    if (variable.is_extern && variable.bytes == 0) {
      dynamic.push_back(&variable);
    } else {
      limit(in_shared, variable, most_shared_bytes, "shared");
      shared = round_up(shared, variable.alignment);
      symbols[variable.name] = {AddressSpace::shared, shared};
      program_.shared_variables.push_back({std::string(variable.name),
                                           static_cast<std::uint32_t>(shared),
                                           static_cast<std::uint32_t>(variable.bytes)});
      shared += variable.bytes;
    }
  };
  const std::unordered_set<std::string_view> reached = ptx::reached_names(module_, entry_);
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space == ptx::Space::shared) {
      if (reached.contains(variable.name)) place_shared(variable, module_symbols_);
    } else if (variable.space == ptx::Space::constant) {
      limit(in_constant, variable, most_constant_bytes, "constant");
      auto& memory = program_.constant_memory;
      memory.resize(round_up(memory.size(), variable.alignment));
      module_symbols_[variable.name] = {AddressSpace::constant, memory.size()};
      program_.constant_variables.push_back({std::string(variable.name), memory.size()});
      const std::vector<std::byte> initial = initial_bytes(variable);
      memory.insert(memory.end(), initial.begin(), initial.end());
    } else if (variable.space == ptx::Space::global) {
      limit(in_global, variable, most_variable_bytes, "global");
      const std::uint64_t address =
          (variable.is_managed ? rooms_.managed : rooms_.own) + next_global;
      module_symbols_[variable.name] = {AddressSpace::global, address};
      program_.variables.push_back({std::string(variable.name), address, initial_bytes(variable)});
      next_global = round_up(next_global + variable.bytes + 4096, 4096);
    }
  }
  for (const ptx::Function& function : module_.functions) {
    if (!reached.contains(function.name)) continue;
    for (const ptx::Variable& variable : function.variables) {
      if (variable.space == ptx::Space::shared) place_shared(variable, shared_symbols_);
    }
  }
  if (module_.reserves_shared) {
    reserved_shared_ = round_up(shared, 128);
    shared = reserved_shared_ + reserved_shared_bytes;
  }
  program_.static_shared_bytes = static_cast<std::uint32_t>(shared);
  std::uint32_t alignment = 16;
  for (const ptx::Variable* variable : dynamic) {
    alignment = std::max(alignment, variable->alignment);
  }
  program_.dynamic_shared_offset = static_cast<std::uint32_t>(round_up(shared, alignment));
  for (const ptx::Variable* variable : dynamic) {
    module_symbols_[variable->name] = {AddressSpace::shared, program_.dynamic_shared_offset};
    program_.shared_variables.push_back(
        {std::string(variable->name), program_.dynamic_shared_offset, 0});
  }
  relocate_variables();
}

/// Addresses within initial values.
void Decoder::relocate_variables() {
  std::size_t next_global = 0;
  for (const ptx::Variable& variable : module_.variables) {
    std::byte* contents = nullptr;
    if (variable.space == ptx::Space::global) {
      contents = program_.variables[next_global++].initial.data();
    } else if (variable.space == ptx::Space::constant) {
      contents = program_.constant_memory.data() + module_symbols_[variable.name].address;
    }
    for (const auto& relocation : variable.relocations) {
      const auto target = module_symbols_.find(relocation.name);
      if (contents == nullptr) continue;
      std::uint64_t value = static_cast<std::uint64_t>(relocation.addend);
      if (target != module_symbols_.end()) {
        value += target->second.address;
        if (relocation.is_generic) value += window_of(target->second.space);
      } else if (const auto function = function_address(relocation.name)) {
        value += *function;
      } else if (const auto kernel = kernel_address(relocation.name)) {
        value += *kernel;
      }
      value >>= relocation.shift_bits;
      for (std::uint32_t i = 0; i < relocation.bytes && relocation.offset + i < variable.bytes;
           ++i) {
        contents[relocation.offset + i] = static_cast<std::byte>(value >> 8 * i & 255);
      }
    }
  }
}

/// Registers and the variables of one inlined instance of a function.
void Decoder::place_instance(Instance& instance) {
  const ptx::Slots& slots = instance.analysis->slots;
  const auto of = [&](ptx::Width width) { return slots.count[static_cast<std::size_t>(width)]; };
  instance.first_predicate = program_.predicate_count;
  program_.predicate_count += of(ptx::Width::predicate);
  const std::uint64_t units = std::uint64_t{2} * of(ptx::Width::word) +
                              std::uint64_t{4} * of(ptx::Width::pair) +
                              std::uint64_t{8} * of(ptx::Width::quad);
  if (program_.predicate_count > 0x7000 || program_.row_units + units > 0xf000) {
    refuse("needs more registers than the model has");
  }
  instance.first_word = program_.row_units;
  instance.first_pair = instance.first_word + 2 * of(ptx::Width::word);
  instance.first_quad = instance.first_pair + 4 * of(ptx::Width::pair);
  program_.registers.push_back({program_.row_units, static_cast<std::uint32_t>(units)});
  program_.row_units += static_cast<std::uint32_t>(units);

  program_.reaches_functions |= instance.function != &entry_;
  for (const ptx::Variable& variable : instance.function->variables) {
    if (variable.space == ptx::Space::local && instance.function == &entry_) {
      const std::uint64_t at =
          round_up(program_.array_bytes, std::max(variable.alignment, 1u)) + variable.bytes;
      program_.array_bytes = static_cast<std::uint32_t>(std::min(at, most_local_bytes));
    }
    if (variable.space == ptx::Space::shared) {
      const auto placed = shared_symbols_.find(variable.name);
      if (placed != shared_symbols_.end()) instance.symbols[variable.name] = placed->second;
    } else if (variable.space == ptx::Space::local || variable.space == ptx::Space::param) {
      Root& root = *instance.root;
      std::uint32_t& used = root.is_entry ? program_.local_bytes : root.frame_bytes;
      const std::uint64_t at = round_up(used, std::max(variable.alignment, 1u));
      if (variable.bytes > most_local_bytes || at + variable.bytes > most_local_bytes) {
        refuse(fmt::format("needs more local memory than the {} bytes that a thread has",
                           most_local_bytes));
      }
      instance.symbols[variable.name] = {AddressSpace::local, at, !root.is_entry, variable.bytes};
      used = static_cast<std::uint32_t>(at + variable.bytes);
    }
  }
}

}  // namespace warpmeter::model
