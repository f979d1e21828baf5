// SPDX-License-Identifier: MIT
// Any bytes as a cubin: its sections, what it declares, the code of every kernel in it, and the
// audit of a kernel of ours against that code.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "collector/model/counts/sass/audit.h"
#include "collector/model/counts/sass/declarations.h"
#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/machine_code.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"

namespace {

using namespace warpmeter::model;

/// The source of the corpus's cubins, with -lineinfo.
constexpr std::string_view source = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 to)
{
 .reg .b32 %r<9>;
 .reg .b64 %d<4>;
 .shared .align 16 .b8 s[1024];
 mov.u32 %r1, %tid.x;
 shl.b32 %r2, %r1, 4;
 mov.u32 %r3, s;
 add.u32 %r4, %r3, %r2;
 st.shared.u32 [%r4], %r1;
 bar.sync 0;
 ld.shared.u32 %r5, [%r4];
 ld.shared.u32 %r6, [%r4+4];
 add.u32 %r7, %r5, %r6;
 atom.shared.add.u32 %r8, [s], %r7;
 ld.param.u64 %d1, [to];
 mul.wide.u32 %d2, %r1, 4;
 add.u64 %d3, %d1, %d2;
 st.global.u32 [%d3], %r8;
 ret;
}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto parsed = ptx::parse(std::string(source));
  static const ptx::Module& module = *std::get<0>(parsed);
  static const Program program = std::get<Program>(decode(module, "k"));
  const warpmeter::Bytes file(reinterpret_cast<const std::byte*>(data), size);
  const auto elf = sass::Elf::read(file);
  if (const auto* sections = std::get_if<sass::Elf>(&elf)) {
    for (const sass::KernelDeclaration& kernel : sass::declarations_of(*sections).kernels) {
      // Each number of a parameter that is said is 16 bits.
      if (kernel.name.empty() || kernel.parameter_bytes.size() > 1 << 16) std::abort();
    }
    for (const sass::Section& section : sections->sections()) {
      constexpr std::string_view prefix = ".text.";
      if (!section.name.starts_with(prefix)) continue;
      const auto code = sass::read_machine_code(file, section.name.substr(prefix.size()));
      if (const auto* wrong = std::get_if<std::string>(&code); wrong != nullptr && wrong->empty()) {
        std::abort();
      }
      if (section.name != ".text.k") break;  // one is enough: a file may name thousands
    }
  }
  Program audited = program;
  if (sass::audit(audited, module, file).empty() && audited.sites.size() != program.sites.size()) {
    std::abort();
  }
  return 0;
}
