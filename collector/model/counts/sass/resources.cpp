// SPDX-License-Identifier: MIT
// Entries of `.nv.info` that hold two words: the number of a kernel's symbol, and a value for it.
// cuobjdump -elf names them; ptxas -v prints the same values.
#include "collector/model/counts/sass/resources.h"

#include <elf.h>
#include <fmt/format.h>

#include "collector/model/counts/sass/info.h"
#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::sass {
namespace {

/// The name of a symbol.
std::string_view name_of(const Elf& elf, std::uint32_t symbol) {
  const Section* symbols = elf.find(".symtab");
  const Section* names = elf.find(".strtab");
  if (symbols == nullptr || names == nullptr) return {};
  const auto at =
      number_at<std::uint32_t>(symbols->contents, std::uint64_t{symbol} * sizeof(Elf64_Sym));
  return at ? text_at(names->contents, *at) : std::string_view();
}

constexpr std::uint8_t stack_pointer = 1;

void read_code(const Elf& elf, std::string_view entry, Resources& resources) {
  const Section* code = elf.find(fmt::format(".text.{}", entry));
  if (code == nullptr) return;
  resources.code_bytes = static_cast<std::int64_t>(code->contents.size());
  const auto section = static_cast<std::size_t>(code - elf.sections().data());
  for (const Symbol& symbol : elf.symbols()) {
    resources.holds_functions |=
        symbol.section == section && symbol.is_function && !symbol.is_kernel;
  }
  for (std::uint64_t at = 0; at + instruction_bytes <= code->contents.size();
       at += instruction_bytes) {
    const Word word{*number_at<std::uint64_t>(code->contents, at),
                    *number_at<std::uint64_t>(code->contents, at + sizeof(Word::low))};
    const Instruction instruction = decode(word, at, elf.arch());
    if (instruction.never_runs) continue;
    if (instruction.is_local) {
      resources.local_accesses.push_back({instruction.is_local_store,
                                          instruction.base == stack_pointer, instruction.offset,
                                          instruction.width});
    } else if (instruction.result != stack_pointer) {
      resources.takes_address_of_frame |=
          instruction.base == stack_pointer || instruction.second == stack_pointer;
    }
  }
}

}  // namespace

Resources resources_of(const Elf& elf, std::string_view entry) {
  Resources resources;
  read_code(elf, entry, resources);
  const Section* info = elf.find(".nv.info");
  if (info == nullptr) return resources;
  for_each_entry(info->contents, [&](std::uint8_t about, Bytes values) {
    if (about != register_count && about != least_stack) return;
    const auto symbol = number_at<std::uint32_t>(values, 0);
    const auto value = number_at<std::uint32_t>(values, sizeof *symbol);
    if (!value || name_of(elf, *symbol) != entry) return;
    (about == register_count ? resources.registers : resources.local_bytes) = *value;
  });
  return resources;
}

}  // namespace warpmeter::model::sass
