#include "collector/model/ptx/opcodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace warpmeter::model::ptx {
namespace {

constexpr bool writes = true;

constexpr Opcode result(std::string_view name) { return {name, writes}; }
constexpr Opcode effect(std::string_view name) { return {name}; }
constexpr Opcode barrier(std::string_view name, bool writes_first = false) {
  return {name, writes_first, Memory::none, Flow::next, true};
}
constexpr Opcode access(std::string_view name, bool writes_first, Memory memory) {
  return {name, writes_first, memory};
}
constexpr Opcode jump(std::string_view name, Flow flow) {
  return {name, flow == Flow::call, Memory::none, flow};
}

// Grouped as the chapters of the PTX manual are.
constexpr Opcode table[] = {
    // Integer arithmetic
    result("abs"), result("add"), result("addc"), result("bfe"), result("bfi"), result("bfind"),
    result("bmsk"), result("brev"), result("clz"), result("div"), result("dp2a"), result("dp4a"),
    result("fns"), result("mad"), result("mad24"), result("madc"), result("max"), result("min"),
    result("mul"), result("mul24"), result("neg"), result("popc"), result("rem"), result("sad"),
    result("sub"), result("subc"), result("szext"),
    // Floating point
    result("copysign"), result("cos"), result("ex2"), result("fma"), result("lg2"), result("rcp"),
    result("rsqrt"), result("sin"), result("sqrt"), result("tanh"), result("testp"),
    // Comparison and selection
    result("selp"), result("set"), result("setp"), result("slct"),
    // Logic and shifts
    result("and"), result("cnot"), result("lop3"), result("not"), result("or"), result("shf"),
    result("shl"), result("shr"), result("xor"),
    // Movement and conversion
    result("cvt"), result("cvta"), result("isspacep"), result("istypep"), result("mov"),
    result("prmt"), result("shfl"), result("mapa"), result("getctarank"), result("createpolicy"),
    access("ld", writes, Memory::load), access("ldu", writes, Memory::load),
    access("st", false, Memory::store), access("atom", writes, Memory::atomic),
    access("red", false, Memory::reduce), access("cp.async", false, Memory::copy),
    access("cp.reduce.async", false, Memory::copy),
    access("multimem.ld_reduce", writes, Memory::load), access("multimem.st", false, Memory::store),
    access("multimem.red", false, Memory::reduce), effect("multimem.cp"),
    effect("cp.async.commit_group"), effect("cp.async.wait_group"), effect("cp.async.wait_all"),
    effect("cp.async.bulk.commit_group"), effect("cp.async.bulk.wait_group"),
    effect("cp.async.mbarrier"), effect("cp.async.bulk.prefetch"), effect("prefetch"),
    effect("prefetchu"), effect("applypriority"), effect("discard"), effect("tensormap"),
    // Textures and surfaces
    result("tex"), result("tld4"), result("txq"), result("suld"), result("suq"), effect("sust"),
    effect("sured"),
    // Control flow
    jump("bra", Flow::branch), jump("brx.idx", Flow::indexed_branch), jump("call", Flow::call),
    jump("ret", Flow::leave), jump("exit", Flow::finish), jump("trap", Flow::finish),
    // Synchronisation and communication
    barrier("bar"), barrier("bar.red", writes), barrier("bar.cta.red", writes), barrier("barrier"),
    barrier("barrier.red", writes), barrier("barrier.cta.red", writes), effect("bar.warp"),
    effect("membar"), effect("fence"), result("vote"), result("match"), result("activemask"),
    result("redux"), result("elect"), effect("griddepcontrol"),
    result("clusterlaunchcontrol.query_cancel"), effect("clusterlaunchcontrol.try_cancel"),
    effect("mbarrier"), result("mbarrier.arrive"), result("mbarrier.arrive_drop"),
    result("mbarrier.test_wait"), result("mbarrier.try_wait"), result("mbarrier.pending_count"),
    // Matrices
    result("wmma.load"), effect("wmma.store"), result("wmma.mma"), result("mma"),
    result("ldmatrix"), effect("stmatrix"), result("movmatrix"), effect("wgmma"),
    result("wgmma.mma_async"), effect("tcgen05"), result("tcgen05.ld"),
    // The stack
    result("alloca"), result("stacksave"), effect("stackrestore"),
    // Video
    result("vadd"), result("vsub"), result("vabsdiff"), result("vmin"), result("vmax"),
    result("vshl"), result("vshr"), result("vmad"), result("vset"), result("vadd2"),
    result("vsub2"), result("vavrg2"), result("vabsdiff2"), result("vmin2"), result("vmax2"),
    result("vset2"), result("vadd4"), result("vsub4"), result("vavrg4"), result("vabsdiff4"),
    result("vmin4"), result("vmax4"), result("vset4"),
    // The rest
    effect("brkpt"), effect("nanosleep"), effect("pmevent"), effect("setmaxnreg")};

constexpr std::size_t most_components = 4;  // "cp.async.bulk.commit_group"

const std::array<Opcode, std::size(table)>& sorted_table() {
  static const auto sorted = [] {
    std::array<Opcode, std::size(table)> entries{};
    std::copy(std::begin(table), std::end(table), entries.begin());
    std::sort(entries.begin(), entries.end(),
              [](const Opcode& a, const Opcode& b) { return a.name < b.name; });
    return entries;
  }();
  return sorted;
}

const Opcode* find_exactly(std::string_view name) {
  const auto& entries = sorted_table();
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const Opcode& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

const Opcode* find_opcode(const Instruction& instruction) {
  // Prefixes of whole components, the shortest first; the last that is an entry wins.
  const Opcode* best = nullptr;
  std::size_t end = 0;
  for (std::size_t i = 0; i < most_components && end < instruction.text.size(); ++i) {
    end = std::min(instruction.text.find('.', end + (i > 0)), instruction.text.size());
    if (const Opcode* entry = find_exactly(instruction.text.substr(0, end))) best = entry;
  }
  return best;
}

std::optional<Diagnostic> check_opcodes(const Function& function) {
  for (const Instruction& instruction : function.body) {
    if (find_opcode(instruction) != nullptr) continue;
    return Diagnostic{instruction.line, 0,
                      fmt::format("unknown instruction '{}' in function '{}'",
                                  instruction.text.substr(0, 60), function.name.substr(0, 60))};
  }
  return std::nullopt;
}

Space access_space(const Instruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    const std::string_view space = modifier.substr(0, modifier.find(':'));
    if (space == "shared") return Space::shared;
    if (space == "global") return Space::global;
    if (space == "local") return Space::local;
    if (space == "param") return Space::param;
    if (space == "const") return Space::constant;
  }
  return Space::none;
}

std::optional<std::size_t> address_position(const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (instruction.operands[i].kind == Operand::Kind::address) return i;
  }
  return std::nullopt;
}

}  // namespace warpmeter::model::ptx
