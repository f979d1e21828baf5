// `.nv.info` is a list of entries: a byte says of what form it is, a byte what it is about, two how
// many bytes follow (or, in the short forms, are the value). Those read here are of the long form
// and hold two words: the number of a kernel's symbol, and a value for it. cuobjdump -elf names
// them; ptxas -v prints the same values.
#include "collector/model/counts/sass/resources.h"

#include <elf.h>

#include <optional>

namespace warpmeter::model::sass {
namespace {

constexpr std::uint8_t long_form = 4;
constexpr std::uint8_t register_count = 0x2f;  // EIATTR_REGCOUNT
constexpr std::uint8_t least_stack = 0x12;     // EIATTR_MIN_STACK_SIZE: "cumulative stack size"

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
  const Bytes bytes = info->contents;
  std::uint64_t at = 0;
  while (const auto head = number_at<std::uint32_t>(bytes, at)) {
    const auto form = static_cast<std::uint8_t>(*head);
    const auto about = static_cast<std::uint8_t>(*head >> 8);
    const std::uint64_t values = at + sizeof *head;
    at = values + (form == long_form ? *head >> 16 : 0);
    if (form != long_form || (about != register_count && about != least_stack)) continue;
    const auto symbol = number_at<std::uint32_t>(bytes, values);
    const auto value = number_at<std::uint32_t>(bytes, values + sizeof *symbol);
    if (!value || name_of(elf, *symbol) != entry) continue;
    (about == register_count ? resources.registers : resources.local_bytes) = *value;
  }
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
