// SPDX-License-Identifier: MIT
// Entries of `.nv.info` that hold two words: the number of a kernel's symbol, and a value for it.
// cuobjdump -elf names them; ptxas -v prints the same values.
#include "collector/model/counts/sass/resources.h"

#include <elf.h>

#include "collector/model/counts/sass/info.h"

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

}  // namespace

Resources resources_of(const Elf& elf, std::string_view entry) {
  Resources resources;
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

std::string why_not_known(const Program& program) {
  if (program.is_audited()) {
    const Resources& known = program.resources;
    return known.registers && known.local_bytes ? "" : "the machine code does not say it";
  }
  const std::size_t colon = program.why_unaudited.find(": ");  // "counted at PTX level: …"
  return program.why_unaudited.substr(colon == std::string::npos ? 0 : colon + 2);
}

}  // namespace warpmeter::model::sass
