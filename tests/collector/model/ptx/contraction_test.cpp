// SPDX-License-Identifier: MIT
// Which products ptxas of CUDA 13.0 rounds together with a sum: for each body, the instructions of
// its sm_90 machine code that compute. The module was compiled with -O3; with -O0 none is
// contracted.
#include <gtest/gtest.h>

#include <string>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// "sum product" for each contraction: numbers of instructions that compute, "-" for one taken in.
std::string contractions(const std::string& body, const std::string& target = "sm_90") {
  const auto module = parsed(".version 8.6\n.target " + target +
                             "\n.address_size 64\n"
                             ".visible .entry k(.param .u64 p) {\n"
                             ".reg .u64 %a; .reg .u32 %i; .reg .pred %c;\n"
                             ".reg .f32 %x, %y, %z, %w, %v, %t, %r, %s, %u, %d;\n"
                             ".reg .f64 %dx, %dy, %dz, %dt; .reg .b16 %hx, %hy, %hz, %ht;\n" +
                             body + "\nret; }\n");
  std::string found;
  for (const Instruction& instruction : module->functions[0].body) {
    const bool computes = instruction.is(Opcode::mul) || instruction.is(Opcode::add) ||
                          instruction.is(Opcode::sub) || instruction.is(Opcode::div);
    if (!computes) continue;
    if (!found.empty()) found += ' ';
    if (instruction.is_taken_in) {
      found += '-';
      continue;
    }
    std::string name(instruction.text.substr(0, instruction.text.find('.')));
    if (instruction.contraction == Contraction::none) {
      found += name;
      continue;
    }
    const std::string product =
        std::string(instruction.operands[1].name) + std::string(instruction.operands[2].name);
    found += instruction.contraction == Contraction::adds        ? "+" + product
             : instruction.contraction == Contraction::subtracts ? product + "-"
                                                                 : "-" + product;
  }
  return found;
}

struct Case {
  const char* body;
  const char* expected;
};
constexpr Case cases[] = {
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%z,%t;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; sub.f32 %u,%t,%z;", "- %x%y-"},
    {"mul.f32 %t,%x,%y; sub.f32 %u,%z,%t;", "- -%x%y"},
    {"mul.rn.f32 %t,%x,%y; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; add.rn.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; add.rz.f32 %u,%t,%z;", "mul add"},
    {"mul.ftz.f32 %t,%x,%y; add.f32 %u,%t,%z;", "mul add"},
    {"mul.ftz.f32 %t,%x,%y; add.ftz.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; add.sat.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.sat.f32 %t,%x,%y; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%t;", "mul add"},
    {"mul.f32 %t,%x,%y; abs.f32 %t,%t; add.f32 %u,%t,%z;", "mul add"},
    // Whoever else reads the product.
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z; st.global.f32 [%a],%t;", "mul add"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z; fma.rn.f32 %d,%v,%w,%t;", "mul add"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z; mul.f32 %d,%t,%w; st.global.f32 [%a],%d;", "mul add mul"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z; sub.f32 %d,%w,%t;", "- +%x%y -%x%y"},
    // Two products.
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%r;", "- mul +%x%y"},
    {"mul.f32 %r,%z,%w; mul.f32 %t,%x,%y; add.f32 %u,%t,%r;", "mul - +%x%y"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; sub.f32 %u,%t,%r;", "- mul %x%y-"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; sub.f32 %u,%t,%r; st.global.f32 [%a],%t;", "mul - -%z%w"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%r; add.f32 %d,%t,%v;", "mul - +%z%w add"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%r; sub.f32 %d,%t,%r;",
     "- mul +%x%y %x%y-"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%r; add.f32 %d,%r,%v;", "- mul +%x%y add"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%v; add.f32 %d,%r,%t; add.f32 %s,%r,%w;",
     "mul - +%x%y +%z%w +%z%w"},
    {"mul.f32 %t,%x,%y; mul.f32 %r,%z,%w; add.f32 %u,%t,%v; add.f32 %d,%t,%r; add.f32 %s,%r,%w;",
     "- mul +%x%y +%x%y add"},
    // Blocks.
    {"mul.f32 %t,%x,%y; @%c bra L; add.f32 %u,%t,%z; L: st.global.f32 [%a],%u;", "mul add"},
    {"mul.f32 %t,%x,%y; @%c bra L; bar.sync 0; L: add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; bra L; L: add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; bar.sync 0; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; @%c add.f32 %u,%t,%z;", "- +%x%y"},
    {"@%c mul.f32 %t,%x,%y; @%c add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; @%c add.f32 %t,%t,%z; st.global.f32 [%a],%t;", "mul add"},
    {"mul.f32 %t,%x,%y; add.f32 %u,%t,%z; mul.f32 %t,%v,%w; st.global.f32 [%a],%t;", "- +%x%y mul"},
    // Forms that become several blocks of machine code, and what does not.
    {"mul.f32 %t,%x,%y; rcp.rn.f32 %v,%w; mul.f32 %r,%z,%v; sub.f32 %u,%t,%r;", "mul - -%z%v"},
    {"mul.f32 %t,%x,%y; div.rn.f32 %v,%w,%s; add.f32 %u,%t,%v;", "mul div add"},
    {"mul.ftz.f32 %t,%x,%y; sqrt.rn.ftz.f32 %v,%w; add.ftz.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; rcp.rz.f64 %dx,%dy; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; rcp.approx.f32 %v,%w; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; rsqrt.approx.f64 %dx,%dy; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; rsqrt.approx.ftz.f64 %dx,%dy; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; rem.u32 %i,%i,7; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; rem.s32 %i,%i,7; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; rem.u64 %a,%a,7; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; rem.u16 %hx,%hy,%hz; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; bfind.u32 %i,%i; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; bfind.u64 %i,%a; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; membar.gl; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; fence.sc.cta; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; fence.proxy.async; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; griddepcontrol.wait; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; griddepcontrol.launch_dependents; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; atom.global.add.f32 %v,[%a],%w; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; st.global.f32 [%a],%w; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; @%c st.global.f32 [%a],%w; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,%y; @%c mov.f32 %v,%w; add.f32 %u,%t,%z;", "- +%x%y"},
    {"mul.f32 %t,%x,%y; @%c bar.sync 0; add.f32 %u,%t,%z;", "mul add"},
    // A product with a number or a parameter is made again in whichever block needs it.
    {"mul.f32 %t,%x,0f3F576AA4; @%c bra L; bar.sync 0; L: add.f32 %u,%t,%z;", "- +%x"},
    {"mul.f32 %t,%x,0f3F576AA4; membar.gl; @%c add.f32 %u,%z,%t;", "- +%x"},
    {"mul.f32 %t,%x,0f3F576AA4; div.rn.f32 %v,%w,%s; sub.f32 %u,%t,%z;", "- div %x-"},
    {"mov.f32 %r,0f3F576AA4; mul.f32 %t,%x,%r; membar.gl; add.f32 %u,%t,%z;", "- +%x%r"},
    {"ld.param.f32 %r,[p]; mul.f32 %t,%x,%r; L: add.f32 %u,%u,%t; @%c bra L;", "- +%x%r"},
    {"ld.param.f32 %r,[p]; mul.f32 %t,%r,%x; L: sub.f32 %u,%u,%t; @%c bra L;", "- -%r%x"},
    {"ld.param.f32 %r,[p]; neg.f32 %s,%r; mul.f32 %t,%x,%s; membar.gl; add.f32 %u,%t,%z;",
     "- +%x%s"},
    {"ld.param.u32 %i,[p]; mov.b32 %r,%i; mul.f32 %t,%x,%r; membar.gl; add.f32 %u,%t,%z;",
     "- +%x%r"},
    {"ld.param.f32 %r,[p]; add.f32 %s,%r,%z; mul.f32 %t,%x,%s; membar.gl; add.f32 %u,%t,%z;",
     "add mul add"},
    {"mul.f32 %t,%x,%y; L: add.f32 %u,%u,%t; @%c bra L;", "mul add"},
    {"mul.f32 %t,%x,0f3F576AA4; add.f32 %d,%t,%v; membar.gl; add.f32 %u,%t,%z;", "- +%x +%x"},
    {"mul.f32 %t,%x,0f3F576AA4; add.f32 %d,%t,%v; membar.gl; mul.f32 %u,%t,%z;", "mul add mul"},
    {"mul.f32 %t,%x,0f3F576AA4; st.global.f32 [%a],%t; membar.gl; add.f32 %u,%t,%z;", "mul add"},
    {"mul.rn.f32 %t,%x,0f3F576AA4; membar.gl; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f32 %t,%x,0f3F576AA4; @%c bra L; mul.f32 %t,%z,%w; L: add.f32 %u,%t,%v;", "mul mul add"},
    {"mul.f32 %t,%x,0f3F576AA4; membar.gl; mul.f32 %r,%y,%z; add.f32 %u,%r,%t;", "mul - +%y%z"},
    {"mul.f32 %t,%x,0f3F576AA4; membar.gl; mul.f32 %r,%y,%z; add.f32 %u,%t,%r;", "- mul +%x"},
    {"mul.f32 %t,%x,0f3F576AA4; membar.gl; mul.f32 %r,%y,%z; add.f32 %u,%t,%r; membar.gl; "
     "add.f32 %d,%t,%v;",
     "mul - +%y%z add"},
    {"mov.f32 %r,0f3F576AA4; mul.f32 %t,%r,0f40490FDB; add.f32 %u,%t,%z;", "mul add"},
    {"mul.f64 %dt,%dx,0d3FD3333333333333; membar.gl; add.f64 %dz,%dy,%dt;", "- +%dx"},
    {"mul.f64 %dt,%dx,%dy; membar.gl; add.f64 %dz,%dy,%dt;", "mul add"},
    {"div.full.f32 %t,%x,0f40400000; membar.gl; add.f32 %u,%t,%z;", "- +%x"},
    {"div.approx.f32 %t,0f40400000,%x; membar.gl; add.f32 %u,%t,%z;", "div add"},
    // Other types, and quotients.
    {"mul.f64 %dt,%dx,%dy; add.f64 %dx,%dt,%dz;", "- +%dx%dy"},
    {"mul.f16 %ht,%hx,%hy; add.f16 %hx,%ht,%hz;", "- +%hx%hy"},
    {"mul.rn.f16 %ht,%hx,%hy; add.rn.f16 %hx,%ht,%hz;", "mul add"},
    {"mul.bf16 %ht,%hx,%hy; sub.bf16 %hx,%hz,%ht;", "- -%hx%hy"},
    {"div.full.f32 %t,%x,%y; add.f32 %u,%t,%z;", "- +%x%y"},
    {"div.approx.ftz.f32 %t,%x,%y; sub.ftz.f32 %u,%z,%t;", "- -%x%y"},
    {"div.rn.f32 %t,%x,%y; add.f32 %u,%t,%z;", "div add"},
};

TEST(Contraction, IsAsPtxasHasIt) {
  for (const Case& each : cases) EXPECT_EQ(contractions(each.body), each.expected) << each.body;
}
TEST(Contraction, NeedsFactorsThatStay) {
  EXPECT_EQ(contractions("mul.f32 %t,%x,%y; mov.f32 %x,%v; add.f32 %u,%t,%z;"), "mul add");
}
TEST(Contraction, IsNotDoneWhereNothingIsOptimised) {
  EXPECT_EQ(contractions("mul.f32 %t,%x,%y; add.f32 %u,%t,%z;", "sm_90, debug"), "mul add");
}

}  // namespace
}  // namespace warpmeter::model::ptx
