// SPDX-License-Identifier: MIT
// From a module to the program of one of its kernels, or to why there is none.
#include "collector/model/machine/decode/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/kernel_name.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

std::string reason_of(const Refusal& refusal) {
  if (refusal.instruction.empty()) return "it " + refusal.what;
  return fmt::format("'{}' on line {} of its PTX{} {}", refusal.instruction, refusal.place.ptx_line,
                     refusal.source.empty() ? "" : fmt::format(" ({})", refusal.source),
                     refusal.what);
}

std::string to_string(const Refusal& refusal, std::string_view entry) {
  return fmt::format("the model cannot run kernel '{}': {}", entry, reason_of(refusal));
}

std::string why_not_alone(const Program& program) {
  if (program.texture_accesses.empty()) return {};
  return fmt::format(
      "kernel '{}' reads textures or surfaces, which cannot be given as arguments: run a program "
      "that makes them, with 'warpmeter profile -b model ./program'",
      readable_name(program.kernel));
}

namespace {

/// The program, or at least one reason why there is none.
std::variant<Program, std::vector<Refusal>> decode_entry(const ptx::Module& module,
                                                         const ptx::Function& entry,
                                                         const VariableRooms& rooms) {
  Decoder decoder(module, entry, rooms);
  std::vector<Refusal> reasons;
  try {
    Program program = decoder.decode();
    reasons = decoder.refusals();
    if (reasons.empty()) return program;
  } catch (const Refused& refused) {
    reasons = decoder.refusals();
    reasons.push_back(refused.refusal);
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const Refusal& a, const Refusal& b) {
    return a.place.ptx_line < b.place.ptx_line;
  });
  return reasons;
}

}  // namespace

std::vector<Refusal> refusals(const ptx::Module& module, const ptx::Function& entry) {
  auto decoded = decode_entry(module, entry, {});
  if (auto* reasons = std::get_if<std::vector<Refusal>>(&decoded)) return std::move(*reasons);
  return {};
}

std::variant<Program, ptx::Diagnostic> decode(const ptx::Module& module, std::string_view entry,
                                              const VariableRooms& rooms) {
  const ptx::Function* function = module.find(entry);
  if (function == nullptr || !function->is_entry || function->is_declaration) {
    return ptx::Diagnostic{0, 0, fmt::format("the module has no kernel '{}'", entry)};
  }
  auto decoded = decode_entry(module, *function, rooms);
  if (auto* program = std::get_if<Program>(&decoded)) return std::move(*program);
  const Refusal& first = std::get<std::vector<Refusal>>(decoded).front();
  return ptx::Diagnostic{first.place.ptx_line, 0, to_string(first, entry)};
}

std::variant<Program, ptx::Diagnostic> decode_variables(const ptx::Module& module,
                                                        const VariableRooms& rooms) {
  ptx::Function nothing;
  nothing.is_entry = true;
  auto decoded = decode_entry(module, nothing, rooms);
  if (auto* program = std::get_if<Program>(&decoded)) return std::move(*program);
  const Refusal& first = std::get<std::vector<Refusal>>(decoded).front();
  return ptx::Diagnostic{first.place.ptx_line, 0, reason_of(first)};
}

}  // namespace warpmeter::model
