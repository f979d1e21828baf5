// Random straight-line programs, by the machine and by the reference (scalar_reference.h): whatever
// stands next to what, guarded or not, with registers used again and again, every lane ends with
// the same registers and memory.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "collector/model/execute/units.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/collector/model/scalar_reference.h"

namespace warpmeter::model {
namespace {

constexpr unsigned each_kind = 6;  // registers of each kind
constexpr std::string_view kinds = "hrdfgp";

/// Instructions and their operands by kind: h, r, d integers of 16, 32 and 64 bits, f and g floats,
/// p predicates, i any integer (of the size before it), o a shift or a position, M memory.
/// {a,b} stands for each of its words.
constexpr const char* forms[] = {
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u16,s16} h h h",
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u32,s32} r r i",
    "{add,sub,mul.lo,mul.hi,div,rem,min,max}.{u64,s64} d d i",
    "{mad.lo,mad.hi,sad}.{u16,s16} h h h h",
    "{mad.lo,mad.hi,sad}.{u32,s32} r r i r",
    "{mad.lo,mad.hi,sad}.{u64,s64} d d d d",
    "mul.wide.{u16,s16} r h h",
    "mul.wide.{u32,s32} d r i",
    "mad.wide.{u16,s16} r h h r",
    "mad.wide.{u32,s32} d r r d",
    "mul24.{lo,hi}.{u32,s32} r r r",
    "mad24.{lo,hi}.{u32,s32} r r r r",
    "{add,sub}.sat.s32 r r i",
    "{abs,neg}.s16 h h",
    "{abs,neg}.s32 r r",
    "{abs,neg}.s64 d d",
    "{and,or,xor}.b16 h h h",
    "{and,or,xor}.b32 r r i",
    "{and,or,xor}.b64 d d i",
    "{not,cnot}.b16 h h",
    "{not,cnot}.b32 r r",
    "{not,cnot}.b64 d d",
    "shl.b16 h h o",
    "shl.b32 r r o",
    "shl.b64 d d o",
    "shr.{u16,s16,b16} h h o",
    "shr.{u32,s32,b32} r r o",
    "shr.{u64,s64,b64} d d o",
    "shf.{l,r}.{wrap,clamp}.b32 r r r o",
    "{popc,clz}.b32 r r",
    "{popc,clz}.b64 r d",
    "brev.b32 r r",
    "brev.b64 d d",
    "{bfind,bfind.shiftamt}.{u32,s32} r r",
    "{bfind,bfind.shiftamt}.{u64,s64} r d",
    "bfe.{u32,s32} r r o o",
    "bfe.{u64,s64} d d o o",
    "bfi.b32 r r r o o",
    "bfi.b64 d d d o o",
    "prmt.b32 r r r r",
    "lop3.b32 r r r r t",
    "{add,addc,addc.cc,add.cc,sub.cc,subc,subc.cc}.u32 r r r",
    "{add,addc,addc.cc,add.cc,sub.cc,subc,subc.cc}.u64 d d d",
    "{add,sub,mul,div}.{rn,rz,rm,rp}.f32 f f f",
    "{add,sub,mul,div}.{rn,rz,rm,rp}.ftz.f32 f f f",
    "{add,mul}.{rn,rz}.sat.f32 f f f",
    "{add,sub,mul,div}.{rn,rz,rm,rp}.f64 g g g",
    "fma.{rn,rz,rm,rp}.f32 f f f f",
    "fma.rn.{ftz,sat,ftz.sat}.f32 f f f f",
    "fma.{rn,rz,rm,rp}.f64 g g g g",
    "{rcp,sqrt}.{rn,rz,rm,rp}.f32 f f",
    "{rcp,sqrt}.{rn,rz,rm,rp}.f64 g g",
    "{min,max,min.ftz,max.NaN}.f32 f f f",
    "{min,max}.f64 g g g",
    "{abs,neg,abs.ftz}.f32 f f",
    "{abs,neg}.f64 g g",
    "setp.{eq,ne,lt,le,gt,ge}.{u16,s16} p h h",
    "setp.{eq,ne,lt,le,gt,ge}.{u32,s32} p r i",
    "setp.{eq,ne,lt,le,gt,ge}.{u64,s64} p d i",
    "setp.{lo,ls,hi,hs}.u32 p r r",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f32 p f f",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 p g g",
    "setp.{lt,ge}.{and,or,xor}.s32 p r i p",
    "setp.{lt,ne}.{and,or,xor}.f32 p f f p",
    "set.{lt,eq,ge}.u32.{u32,s32} r r i",
    "set.{lt,neu}.u32.f32 r f f",
    "{and,or,xor}.pred p p p",
    "not.pred p p",
    "mov.{u16,b16} h h",
    "mov.{u32,b32,s32} r i",
    "mov.{u64,b64,s64} d i",
    "mov.f32 f f",
    "mov.f64 g g",
    "mov.pred p p",
    "selp.b16 h h h p",
    "selp.b32 r r i p",
    "selp.b64 d d d p",
    "selp.f32 f f f p",
    "selp.f64 g g g p",
    "slct.b32.s32 r r r r",
    "slct.u64.f32 d d d f",
    "cvt.{u16,s16,u8,s8}.{u16,s16,u8,s8} h h",
    "cvt.{u16,s16,u8,s8}.{u32,s32} h r",
    "cvt.{u16,s16,u8,s8}.{u64,s64} h d",
    "cvt.{u32,s32}.{u16,s16,u8,s8} r h",
    "cvt.{u32,s32}.{u64,s64} r d",
    "cvt.{u64,s64}.{u16,s16,u8,s8} d h",
    "cvt.{u64,s64}.{u32,s32} d r",
    "cvt.sat.{u16,s16,u8,s8}.{s32,u32} h r",
    "cvt.sat.{u16,s16}.{s64,u64} h d",
    "cvt.sat.{u32,s32}.{s64,u64} r d",
    "cvt.sat.u64.s64 d d",
    "cvt.{rn,rz,rm,rp}.f32.{u16,s16} f h",
    "cvt.{rn,rz,rm,rp}.f32.{u32,s32} f r",
    "cvt.{rn,rz,rm,rp}.f32.{u64,s64} f d",
    "cvt.{rn,rz,rm,rp}.f64.{u32,s32} g r",
    "cvt.{rn,rz,rm,rp}.f64.{u64,s64} g d",
    "cvt.{rni,rzi,rmi,rpi}.{u16,s16,u8,s8}.f32 h f",
    "cvt.{rni,rzi,rmi,rpi}.{u32,s32}.f32 r f",
    "cvt.{rni,rzi,rmi,rpi}.{u64,s64}.f32 d f",
    "cvt.rzi.ftz.{u32,s32}.f32 r f",
    "cvt.{rni,rzi,rmi,rpi}.{u16,s16}.f64 h g",
    "cvt.{rni,rzi,rmi,rpi}.{u32,s32}.f64 r g",
    "cvt.{rni,rzi,rmi,rpi}.{u64,s64}.f64 d g",
    "cvt.{rni,rzi,rmi,rpi}.f32.f32 f f",
    "cvt.{rni,rzi,rmi,rpi}.f64.f64 g g",
    "cvt.{rn,rz,rm,rp,rn.ftz,rn.sat}.f32.f64 f g",
    "cvt.{f64.f32,ftz.f64.f32} g f",
    "ld.shared.{u8,s8,u16,s16} h M",
    "ld.shared.{u8,s8,u16,s16,u32,b32} r M",
    "ld.shared.{u8,s8,u16,s16,u32,s32,u64} d M",
    "ld.shared.{v2.u32,v4.u32,v2.u16,v4.u8} V M",
    "st.shared.{u8,u16} M h",
    "st.shared.{u8,u16,u32} M r",
    "st.shared.{u8,u16,u32,u64} M d",
    "st.shared.{v2.u32,v4.u32,v2.u16,v4.u8} M V",
};

void expand(const std::string& form, std::vector<std::string>& all) {
  const std::size_t open = form.find('{');
  if (open == std::string::npos) {
    all.push_back(form);
    return;
  }
  const std::size_t close = form.find('}', open);
  for (std::size_t at = open + 1; at <= close;) {
    const std::size_t end = std::min(form.find(',', at), close);
    expand(form.substr(0, open) + form.substr(at, end - at) + form.substr(close + 1), all);
    at = end + 1;
  }
}
const std::vector<std::string>& instructions() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> expanded;
    for (const char* form : forms) expand(form, expanded);
    return expanded;
  }();
  return all;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  /// A number at whose neighbours instructions behave otherwise, or any.
  std::uint64_t integer() {
    const auto near = [&](std::uint64_t value) { return value + below(3) - 1; };
    switch (below(4)) {
      case 0:
        return near(std::uint64_t{1} << below(64));
      case 1:
        return near(0);
      case 2:
        return near(~std::uint64_t{0} >> below(64));
      default:
        return random_() >> below(64);
    }
  }
  double real(bool is_double) {
    static const double special[] = {0,     -0.0,   1,        -1,      0.5,      1.5,       2.5,
                                     1e-45, 1e-40,  0x1p-126, 3.4e38,  INFINITY, -INFINITY, NAN,
                                     1e300, 0x1p31, 0x1p63,   -0x1p31, 65535.5,  127.5,     -128.5};
    if (below(2) == 0) return special[below(std::size(special))];
    const int range = is_double && below(4) == 0 ? 1000 : 60;
    const double fraction = static_cast<double>(random_() >> 11) * 0x1p-53 - 0.5;
    return std::ldexp(fraction, static_cast<int>(below(2 * static_cast<unsigned>(range))) - range);
  }
  std::string any(char kind) { return fmt::format("%{}{}", kind, below(each_kind)); }

  std::string line(const std::string& instruction) {
    const std::size_t space = instruction.find(' ');
    const std::string name = instruction.substr(0, space);
    std::string text =
        below(4) == 0 ? fmt::format("@{}{} ", below(2) == 0 ? "!" : "", any('p')) : "";
    text += name;
    char size = 'r';
    for (std::size_t i = space + 1; i < instruction.size(); i += 2) {
      text += i == space + 1 ? " " : ", ";
      text += operand(name, instruction[i], size);
      if (std::string_view("hrd").find(instruction[i]) != std::string_view::npos)
        size = instruction[i];
    }
    return text + ";";
  }

 private:
  std::string operand(const std::string& name, char kind, char size) {
    switch (kind) {
      case 'i':
        if (below(3) != 0) return any(size);
        return fmt::format("{:#x}", size == 'r' ? integer() & 0xffffffff : integer());
      case 'o':
        return below(2) == 0 ? any('r') : fmt::format("{}", below(70));
      case 't':
        return fmt::format("{}", below(256));
      case 'M': {
        const unsigned width = static_cast<unsigned>(std::stoul(
                                   name.substr(name.find_last_not_of("0123456789") + 1))) /
                               8;
        const unsigned parts = name.find(".v") == std::string::npos
                                   ? 1
                                   : static_cast<unsigned>(name[name.find(".v") + 2] - '0');
        return fmt::format("[%m+{}]", width * parts * below(64 / (width * parts)));
      }
      case 'V': {
        const unsigned parts = static_cast<unsigned>(name[name.find(".v") + 2] - '0');
        const char kind_of_part = name.ends_with("u32") ? 'r' : 'h';
        const std::uint64_t first = below(each_kind);
        std::string text = "{";
        for (unsigned i = 0; i < parts; ++i) {
          text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", kind_of_part, (first + i) % each_kind);
        }
        return text + "}";
      }
      default:
        return any(kind);
    }
  }

  std::mt19937_64 random_;
};

constexpr std::size_t values_of_lane = kinds.size() * each_kind;

/// Loads every register from the second parameter, runs the lines, stores registers and memory to
/// the first.
std::string kernel(const std::vector<std::string>& lines) {
  std::string load, body, store;
  for (std::size_t i = 0; i < values_of_lane; ++i) {
    const char kind = kinds[i / each_kind];
    const std::string name = fmt::format("%{}{}", kind, i % each_kind);
    const std::string_view type = kind == 'h'   ? "u16"
                                  : kind == 'r' ? "u32"
                                  : kind == 'd' ? "u64"
                                  : kind == 'f' ? "f32"
                                                : "f64";
    if (kind == 'p') {
      load += fmt::format("ld.global.u32 %t, [%in+{}]; setp.ne.u32 {}, %t, 0;\n", 8 * i, name);
      store += fmt::format("selp.u32 %t, 1, 0, {}; st.global.u32 [%out+{}], %t;\n", name, 8 * i);
    } else {
      load += fmt::format("ld.global.{} {}, [%in+{}];\n", type, name, 8 * i);
      store += fmt::format("st.global.{} [%out+{}], {};\n", type, 8 * i, name);
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    store += fmt::format("ld.shared.u64 %in, [%m+{}]; st.global.u64 [%out+{}], %in;\n", 8 * i,
                         8 * (values_of_lane + i));
  }
  for (const std::string& line : lines) body += line + "\n";
  return module_with(
      ".param .u64 to, .param .u64 from",
      fmt::format(R"(.reg .b16 %h<6>; .reg .b32 %r<6>, %t, %m, %lane; .reg .b64 %d<6>;
.reg .f32 %f<6>; .reg .f64 %g<6>; .reg .pred %p<6>; .reg .b64 %in, %out;
.shared .align 16 .b8 memory[2048];
mov.u32 %lane, %tid.x;
mov.u32 %m, memory;
mad.lo.u32 %m, %lane, 64, %m;
ld.param.u64 %in, [from];
mad.wide.u32 %in, %lane, {}, %in;
{}
{}
ld.param.u64 %out, [to];
mad.wide.u32 %out, %lane, {}, %out;
{}
ret;)",
                  8 * values_of_lane, load, body, 8 * (values_of_lane + 8), store));
}

/// Which NaN it is is not compared.
std::uint64_t without_payload(char kind, std::uint64_t bits) {
  if (kind == 'f' && std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits))))
    return 0x7fffffff;
  if (kind == 'g' && std::isnan(std::bit_cast<double>(bits))) return 0x7fffffffffffffff;
  return bits;
}

/// Runs the lines both ways on 32 lanes of random registers; what differs, in words.
std::string difference(const std::vector<std::string>& lines, Generator& generator,
                       const Unit& unit) {
  std::vector<std::uint64_t> in;
  std::vector<ScalarLane> lanes(32);
  for (ScalarLane& lane : lanes) {
    for (std::size_t i = 0; i < values_of_lane; ++i) {
      const char kind = kinds[i / each_kind];
      std::uint64_t bits = generator.integer();
      if (kind == 'h') bits &= 0xffff;
      if (kind == 'r') bits &= 0xffffffff;
      if (kind == 'p') bits &= 1;
      if (kind == 'f')
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(generator.real(false)));
      if (kind == 'g') bits = std::bit_cast<std::uint64_t>(generator.real(true));
      in.push_back(bits);
      lane.registers[fmt::format("%{}{}", kind, i % each_kind)] = bits;
    }
  }
  LaunchOptions options;
  options.unit = &unit;
  const TestRun run =
      run_ptx(kernel(lines), "k", geometry(1, 32),
              {TestArgument::buffer(std::vector<std::uint64_t>(32 * (values_of_lane + 8))),
               TestArgument::buffer(in)},
              options);
  if (!run.refusal.empty()) return run.refusal;
  if (run.outcome.trap) return run.trap();
  const std::vector<std::uint64_t> out = run.buffer<std::uint64_t>(0);
  for (std::size_t l = 0; l < 32; ++l) {
    for (const std::string& line : lines) execute(line, lanes[l]);
    for (std::size_t i = 0; i < values_of_lane + 8; ++i) {
      const char kind = i < values_of_lane ? kinds[i / each_kind] : 'M';
      const std::string name = kind == 'M' ? fmt::format("memory {}", 8 * (i - values_of_lane))
                                           : fmt::format("%{}{}", kind, i % each_kind);
      std::uint64_t wanted = 0;
      if (kind == 'M') {
        std::memcpy(&wanted, lanes[l].memory.data() + 8 * (i - values_of_lane), 8);
      } else {
        wanted = lanes[l].registers.at(name);
      }
      const std::uint64_t got = out[l * (values_of_lane + 8) + i];
      if (without_payload(kind, got) != without_payload(kind, wanted)) {
        return fmt::format("lane {}, {}: machine {:#x}, reference {:#x}", l, name, got, wanted);
      }
    }
  }
  return "";
}

/// Every instruction alone, so that a difference names it.
TEST(Differential, EveryInstructionAgreesAlone) {
  Generator generator(1);
  EXPECT_GT(instructions().size(), 500u);
  for (const std::string& instruction : instructions()) {
    for (int i = 0; i < 3; ++i) {
      const std::string line = generator.line(instruction);
      const std::string wrong = difference({line}, generator, best_unit());
      EXPECT_EQ(wrong, "") << line;
      if (!wrong.empty()) break;
    }
  }
}

void expect_programs_to_agree(unsigned first_seed, const Unit& unit) {
  if (!unit.is_supported) GTEST_SKIP() << "this processor has no " << unit.name;
  for (unsigned seed = first_seed; seed < first_seed + 150; ++seed) {
    Generator generator(seed);
    std::vector<std::string> lines;
    for (int i = 0; i < 60; ++i) {
      lines.push_back(generator.line(instructions()[generator.below(instructions().size())]));
    }
    const std::string wrong = difference(lines, generator, unit);
    if (wrong.empty()) continue;
    // The shortest beginning that differs ends with the culprit.
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    ADD_FAILURE() << "seed " << seed << ": " << wrong << "\n" << text;
    return;
  }
}

TEST(Differential, RandomProgramsAgreeOnPlainProcessors) {
  expect_programs_to_agree(1000, units()[0]);
}

TEST(Differential, RandomProgramsAgreeOnTheBestUnit) {
  expect_programs_to_agree(2000, best_unit());
}

}  // namespace
}  // namespace warpmeter::model
