// SPDX-License-Identifier: MIT
// Any text as PTX: parsed, decoded, and its entries asked whether they can be run. Whatever it
// says, the answer is a module and programs, or diagnostics with a line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "collector/model/machine/decode/acceptance.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"

namespace {

using namespace warpmeter::model;

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = ptx::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
    expect(wrong->line > 0 && !wrong->message.empty());
    return 0;
  }
  const ptx::Module& module = *std::get<0>(parsed);
  for (const Acceptance& entry : accepts(module)) {
    for (const Refusal& refusal : entry.refusals) {
      expect(!to_string(refusal, entry.entry).empty());
    }
    // The two ways to ask have one answer.
    const auto decoded = decode(module, entry.entry);
    const ptx::Function* function = module.find(entry.entry);
    const bool is_same = function != nullptr && function->line == entry.line;
    expect(!is_same || std::holds_alternative<Program>(decoded) == entry.is_accepted());
  }
  return 0;
}
