// SPDX-License-Identifier: MIT
// Every name of the decode table, every form and type that the machine takes of the instructions
// beside the table, and every operation that they are turned into has a case: a GPU's answer
// (data/), or the reference's (forms.h). Who adds one without a case learns it here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>

#include "collector/model/machine/decode/table.h"
#include "tests/collector/model/forms.h"
#include "tests/collector/model/instruction_kernel.h"
#include "tests/collector/model/random_program.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Names = std::set<std::string>;

/// The operations of an entry; none where it is refused.
std::vector<Operation> operations_of(const std::string& ptx, std::string_view entry) {
  auto parsed = ptx::parse(ptx);
  if (!std::holds_alternative<std::unique_ptr<ptx::Module>>(parsed)) return {};
  auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), entry);
  return std::holds_alternative<Program>(decoded) ? std::get<Program>(decoded).operations
                                                  : std::vector<Operation>();
}
std::vector<Operation> operations_of(const std::string& line) {
  return operations_of(kernel_of({{reference::Node::Kind::line, line, {}, {}}}), "k");
}

const std::vector<InstructionCase>& recorded() {
  static const std::vector<InstructionCase> all = [] {
    std::vector<InstructionCase> read;
    for (const char* name : {"h200_instructions.txt", "h200_narrow_instructions.txt",
                             "h200_video_instructions.txt", "h100_instructions.txt"}) {
      std::ifstream file(source_dir() + "/tests/collector/model/data/" + name);
      const std::vector<InstructionCase> more = read_cases(file);
      read.insert(read.end(), more.begin(), more.end());
    }
    return read;
  }();
  return all;
}

/// The table tells min and max of three numbers by what follows the name.
std::string name_of(const std::string& name, std::size_t operands) {
  const bool is_extreme = name.starts_with("min.") || name.starts_with("max.");
  return is_extreme && operands == 4 ? name + ".3" : name;
}
/// Without what is wrapped around an instruction of floats.
std::string unwrapped(std::string name) {
  for (const char* wrapping : {".ftz", ".sat", ".relu"}) {
    if (const std::size_t at = name.find(wrapping); at != std::string::npos)
      name.erase(at, std::string_view(wrapping).size());
  }
  return name;
}

/// The names that have a case.
const Names& known() {
  static const Names names = [] {
    Names all;
    const auto add = [&](const std::string& name, std::size_t operands) {
      all.insert(name_of(name, operands));
      all.insert(name_of(unwrapped(name), operands));
    };
    for (const Form& form : every_form()) add(form.name, form.operands.size());
    for (const InstructionCase& a_case : recorded()) {
      std::istringstream body(a_case.body);
      for (std::string line; std::getline(body, line, ';');) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        if (name.starts_with("@")) words >> name;
        if (name.empty()) continue;
        add(name, static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1);
      }
    }
    return all;
  }();
  return names;
}

Names names_of_table() {
  Names names;
  const auto add = [&](const char* choices) {
    for (const std::string& name : expanded(choices)) {
      if (!name.empty()) names.insert(name);
    }
  };
#define UNARY(code, choices, ...) add(choices);
#define BINARY(code, choices, ...) add(choices);
#define TERNARY(code, choices, ...) add(choices);
#define CLASSIFY(code, choices, ...) add(choices);
#define CARRY(code, choices, ...) add(choices);
#include "collector/model/machine/warp/operations.h"
  return names;
}

TEST(Table, HasACaseForEveryName) {
  const Names names = names_of_table();
  EXPECT_GT(names.size(), 400u);
  for (const std::string& name : names) {
    const ptx::Mnemonic mnemonic = ptx::read_mnemonic(name);
    EXPECT_NE(find_value_operation(mnemonic.opcode, mnemonic.words), nullptr) << name;
    EXPECT_TRUE(known().contains(name)) << name << " has no case";
  }
}

/// A register of the kind (forms.h) that an instruction takes for a type.
std::string kind_of(std::string_view type) {
  if (type == "f16") return "x";
  if (type == "bf16") return "y";
  if (type == "f16x2") return "v";
  if (type == "bf16x2") return "w";
  if (type == "f32") return "f";
  if (type == "f64") return "g";
  if (type == "pred") return "p";
  return type.ends_with("64") ? "d" : type.ends_with("32") ? "r" : "h";
}

/// Choices that the machine takes have to have a case. `operands` are those of a type, of which `T`
/// is the last in the name and `D` the one before it.
void expect_cases(const std::string& choices, const std::vector<std::string>& operands,
                  std::size_t least) {
  Generator generator(1);
  std::size_t taken = 0;
  for (const std::string& name : expanded(choices)) {
    std::vector<std::string> parts;
    std::istringstream words(name);
    for (std::string word; std::getline(words, word, '.');) parts.push_back(word);
    const std::string type = kind_of(parts.back()), before = kind_of(parts[parts.size() - 2]);
    const std::size_t vector = name.find(".v");
    const std::size_t count =
        vector == std::string::npos ? 1 : static_cast<std::size_t>(name[vector + 2] - '0');
    Form form{name, {}};
    for (const std::string& operand : operands) {
      std::string kind;
      for (const char c : operand) {
        kind += c == 'T' ? type : c == 'D' ? before : std::string(1, c);
      }
      const bool repeats = count > 1 && operand == "T";
      form.operands.push_back(repeats ? std::string(count, kind[0]) : kind);
    }
    if (operations_of(generator.line(form)).empty()) continue;
    ++taken;
    EXPECT_TRUE(known().contains(name)) << name << " has no case";
  }
  EXPECT_GE(taken, least) << choices;
}

TEST(Table, HasACaseForEveryComparisonAndChoice) {
  const std::string integers = "{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}";
  const std::string floats = "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}";
  expect_cases("setp.{eq,ne,lt,le,gt,ge}.{u16,s16,u32,s32,u64,s64}", {"p", "T", "T"}, 36);
  expect_cases("setp.{eq,ne}.{b16,b32,b64}", {"p", "T", "T"}, 6);
  expect_cases("setp." + floats + "{,.ftz}.{f32,f16}", {"p|p", "T", "T"}, 56);
  expect_cases("setp." + floats + ".{f64,bf16,f16x2,bf16x2}", {"p|p", "T", "T"}, 56);
  expect_cases("set.{eq,ne,lt,le,gt,ge}.{u32,s32,f32}.{u16,s16,u32,s32,u64,s64}", {"D", "T", "T"},
               108);
  expect_cases("set." + floats + ".{u32,s32,f32}.{f32,f64}", {"D", "T", "T"}, 84);
  expect_cases("set." + floats + ".{u16,s16,u32,s32,f16}.f16", {"D", "T", "T"}, 70);
  expect_cases("set." + floats + ".{u16,s16,u32,s32,bf16}.bf16", {"D", "T", "T"}, 70);
  expect_cases("set." + floats + ".{f16x2.f16x2,bf16x2.bf16x2}", {"T", "T", "T"}, 28);
  expect_cases("selp.{b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", {"T", "T", "T", "p"}, 11);
  expect_cases("slct.{b32,u32,s32,b64,u64,s64,f32,f64}.{s32,f32}", {"D", "D", "D", "T"}, 16);
  expect_cases("mov.{pred,b16,u16,s16,b32,u32,s32,b64,u64,s64,f32,f64}", {"T", "T"}, 12);
}

TEST(Table, HasACaseForEveryConversion) {
  const std::string integers = "{u8,s8,u16,s16,u32,s32,u64,s64}";
  expect_cases("cvt{,.sat}." + integers + "." + integers, {"D", "T"}, 128);
  expect_cases("cvt.{rn,rz,rm,rp}{,.sat}.{f16,f32,f64}." + integers, {"D", "T"}, 192);
  expect_cases("cvt.{rn,rz,rm,rp}.bf16." + integers, {"D", "T"}, 32);
  expect_cases("cvt.{rni,rzi,rmi,rpi}{,.sat}." + integers + ".{f16,f32,f64}", {"D", "T"}, 192);
  expect_cases("cvt.{rni,rzi,rmi,rpi}.ftz." + integers + ".f32", {"D", "T"}, 32);
  expect_cases("cvt.{rni,rzi,rmi,rpi}." + integers + ".bf16", {"D", "T"}, 32);
  expect_cases("cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.{f32.f64,f16.f32}", {"D", "T"}, 32);
  expect_cases("cvt.{rn,rz,rm,rp}{,.sat}.f16.f64", {"D", "T"}, 8);
  expect_cases("cvt.{rn,rz,rm,rp}.{bf16.f32,bf16.f64,f16.bf16}", {"D", "T"}, 12);
  expect_cases("cvt{,.ftz}{,.sat}.{f64.f32,f32.f16}", {"D", "T"}, 8);
  expect_cases("cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.{f16.f16,f32.f32,f64.f64}", {"D", "T"}, 30);
  expect_cases("cvt.{rn,rz}{,.relu}{,.satfinite}.{f16,bf16}.f32", {"D", "T"}, 16);
  expect_cases("cvt.{rn,rz}{,.relu}{,.satfinite}.{f16x2,bf16x2}.f32", {"D", "T", "T"}, 16);
  expect_cases("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f32", {"h", "T", "T"}, 4);
  expect_cases("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", {"h", "T"}, 4);
  expect_cases("cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2}", {"D", "h"}, 4);
  expect_cases("cvt.rna{,.satfinite}.tf32.f32", {"r", "f"}, 2);
  expect_cases("cvt.pack.sat.{u16,s16}.s32", {"r", "r", "r"}, 2);
  expect_cases("cvt.pack.sat.{u8,s8}.s32.b32", {"r", "r", "r", "r"}, 2);
}

TEST(Table, HasACaseForEveryAccess) {
  const std::string types = "{u8,s8,b8,u16,s16,b16,u32,s32,b32,u64,s64,b64,f32,f64}";
  const std::string spaces = "{,.global,.shared,.local}";
  expect_cases("ld" + spaces + "." + types, {"T", "M"}, 56);
  expect_cases("st" + spaces + "." + types, {"M", "T"}, 56);
  expect_cases("ld" + spaces + ".v2." + types, {"T", "M"}, 56);
  expect_cases("st" + spaces + ".v2." + types, {"M", "T"}, 56);
  expect_cases("ld" + spaces + ".v4.{u8,s8,b8,u16,s16,b16,u32,s32,b32,f32}", {"T", "M"}, 40);
  expect_cases("st" + spaces + ".v4.{u8,s8,b8,u16,s16,b16,u32,s32,b32,f32}", {"M", "T"}, 40);
}

TEST(Table, HasACaseForEveryAtomicOperation) {
  for (const char* operation :
       {"add.{u32,s32,u64,f32,f64}", "{min,max}.{u32,s32,u64,s64}", "{and,or,xor}.{b32,b64}",
        "{inc,dec}.u32", "add.noftz.{f16,f16x2,bf16,bf16x2}"}) {
    const std::string name = std::string("{,.global,.shared}.") + operation;
    const std::size_t count = expanded(name).size();
    expect_cases("atom" + name, {"T", "M", "T"}, count);
    expect_cases("red" + name, {"M", "T"}, count);
  }
  expect_cases("atom{,.global,.shared}.exch.{b32,b64}", {"T", "M", "T"}, 6);
  expect_cases("atom{,.global,.shared}.cas.{b16,b32,b64}", {"T", "M", "T", "T"}, 9);
}

TEST(Table, HasACaseForEveryExchange) {
  expect_cases("shfl.sync.{up,down,bfly,idx}.b32", {"r|p", "r", "o", "s", "K"}, 4);
  expect_cases("vote.sync.{all,any,uni}.pred", {"p", "p", "K"}, 3);
  expect_cases("vote.sync.ballot.b32", {"r", "p", "K"}, 1);
  expect_cases("match.{any,all}.sync.{b32,b64}", {"r", "T", "K"}, 4);
  expect_cases("redux.sync.{add,min,max}.{u32,s32}", {"r", "r", "K"}, 6);
  expect_cases("redux.sync.{and,or,xor}.b32", {"r", "r", "K"}, 3);
}

/// Instructions that have tests of their own, where it needs more than a line.
const std::set<ptx::Opcode>& instructions_tested_elsewhere() {
  using enum ptx::Opcode;
  static const std::set<ptx::Opcode> all = {
      // memory_test.cpp
      cp_async, cp_async_commit_group, cp_async_wait_group, cp_async_wait_all, cp_async_mbarrier,
      mbarrier_init, mbarrier_inval, mbarrier_arrive, mbarrier_arrive_drop, mbarrier_expect_tx,
      mbarrier_complete_tx, mbarrier_test_wait, mbarrier_try_wait, mbarrier_pending_count, tex,
      tld4, txq, suld, suq, sust, sured, ldmatrix, stmatrix, cvta, isspacep, ldu, createpolicy,
      prefetch, prefetchu, applypriority, discard,
      // tensor_test.cpp
      wmma_load, wmma_store, wmma_mma, mma, mma_sparse, movmatrix,
      // control_test.cpp, programs_test.cpp
      bra, brx, call, ret, exit, trap, brkpt, bar_sync, bar_arrive, bar_red, bar_warp, membar,
      fence, griddepcontrol, nanosleep, pmevent, setmaxnreg, activemask, elect, alloca, stacksave,
      stackrestore,
      // cluster_test.cpp
      mapa, getctarank, cluster_arrive, cluster_wait,
      // bulk_test.cpp, and bulk_copies.cu and tensor_copies.cu of tests/runtime
      cp_async_bulk, cp_async_bulk_commit_group, cp_async_bulk_wait_group, cp_async_bulk_prefetch,
      cp_reduce_async_bulk, cp_async_bulk_tensor, cp_async_bulk_prefetch_tensor,
      cp_reduce_async_bulk_tensor, st_async, red_async,
      // tensor_map_test.cpp
      replace_global_address, replace_rank, replace_box_dim, replace_global_dim,
      replace_global_stride, replace_element_stride, replace_elemtype, replace_interleave_layout,
      replace_swizzle_mode, replace_swizzle_atomicity, replace_fill_mode, tensormap_cp_fenceproxy,
      // warpgroup_products.cu of tests/runtime
      wgmma_fence, wgmma_mma, wgmma_commit_group, wgmma_wait_group};
  return all;
}

TEST(Table, HasACaseForEveryInstruction) {
  std::set<ptx::Opcode> with_case;
  for (const std::string& name : known()) with_case.insert(ptx::read_mnemonic(name).opcode);
  for (std::size_t i = 0; i < ptx::row_count; ++i) {
    const ptx::Row& row = ptx::row_of(static_cast<ptx::Opcode>(i));
    if (!row.is_executed()) continue;
    EXPECT_TRUE(with_case.contains(row.opcode) ||
                instructions_tested_elsewhere().contains(row.opcode))
        << row.names << " has no case";
  }
}

/// Operations by their names, in the order of their codes.
const std::vector<std::string>& codes() {
  static const std::vector<std::string> names = {
#define UNARY(code, ...) #code,
#define BINARY(code, ...) #code,
#define TERNARY(code, ...) #code,
#define COMPARE(code, ...) #code,
#define CLASSIFY(code, ...) #code,
#define CONVERT(code, ...) #code,
#define CARRY(code, ...) #code,
#define LOAD(code, ...) #code "_a32", #code "_a64", #code "_v_a32", #code "_v_a64",
#define STORE(code, ...) #code "_a32", #code "_a64", #code "_v_a32", #code "_v_a64",
#define OTHER(code, ...) #code,
#include "collector/model/machine/warp/operations.h"
  };
  return names;
}

/// The names with tests of their own, where it needs more than a line.
const Names& tested_elsewhere() {
  static const Names names = {
      "mbarrier",
      "mbarrier_wait",
      "load_matrix",
      "store_matrix",  // matrix_test.cpp
      "matrix_addresses",
      "multiply_matrices",
      "multiply_sparse",
      "transpose_matrix",  // tensor_test.cpp
      "texture",           // texture_test.cpp, and programs in tests/runtime
      "clock_32",
      "clock_64",
      "count_copy",  // programs in tests/runtime: CopyPatterns
      "branch",
      "branch_if",
      "branch_out",
      "join",  // control_test.cpp
      "gather",
      "trap",
      "call",
      "call_indirect",
      "print",
      "assertion",
      "allocate",
      "deallocate",   // programs_test.cpp
      "device_call",  // programs in tests/runtime
      "cluster_arrive",
      "cluster_wait",  // cluster_test.cpp
      "bulk_copy",     // bulk_test.cpp
      "multiply_by_warpgroup",
      "await_warpgroup",  // programs in tests/runtime
  };
  return names;
}

TEST(Table, HasACaseForEveryOperation) {
  std::set<std::size_t> emitted;
  const auto add = [&](const std::vector<Operation>& operations) {
    for (const Operation& operation : operations)
      emitted.insert(static_cast<std::size_t>(operation.code));
  };
  Generator generator(1);
  reference::Block lines;
  const std::vector<Form> forms = every_form();
  for (std::size_t i = 0; i < forms.size(); ++i) {
    lines.push_back({reference::Node::Kind::line, generator.line(forms[i]), {}, {}});
    if (lines.size() < 100 && i + 1 < forms.size()) continue;
    const std::vector<Operation> operations = operations_of(kernel_of(lines), "k");
    EXPECT_FALSE(operations.empty()) << "refused, near " << lines.back().text;
    add(operations);
    lines.clear();
  }
  for (const InstructionCase& a_case : recorded()) {
    add(operations_of(instruction_kernel(a_case), "instruction"));
  }
  ASSERT_EQ(codes().size(), static_cast<std::size_t>(Code::count));
  for (std::size_t code = 0; code < codes().size(); ++code) {
    EXPECT_NE(emitted.contains(code), tested_elsewhere().contains(codes()[code]))
        << codes()[code] << (emitted.contains(code) ? " has a case here" : " has no case");
  }
}

}  // namespace
}  // namespace warpmeter::model
