// SPDX-License-Identifier: MIT
// The decoder's working state. decoder.cpp walks the functions, operands.cpp turns operands into
// rows, calls.cpp the calls, and arithmetic.cpp, convert.cpp, memory.cpp, control.cpp and the other
// files of this folder each decode a group of instructions.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/model/machine/access.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/decode/analysis.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/decode/scratch.h"
#include "collector/model/machine/decode/table.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/mbarrier.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// Thrown inside the decoder. That of one instruction is kept and decoding goes on with the next,
/// so that all reasons are found; one without an instruction ends it.
struct Refused {
  Refusal refusal;
};

/// Where a variable lies: in its own space's addresses.
struct Symbol {
  AddressSpace space = AddressSpace::global;
  std::uint64_t address = 0;
  bool in_frame = false;    ///< the address counts from the base of the frame (see calls.cpp)
  std::uint64_t bytes = 0;  ///< the bytes of a variable in local memory
};

/// Code that is not inlined anywhere: the entry, or a function's own body.
struct Root {
  bool is_entry = true;
  bool is_recursive = false;
  std::uint32_t frame_bytes = 0;
  std::uint32_t saved_bytes =
      0;  ///< the saved bytes of it, at its end: registers across calls, one call at a time
  std::uint16_t size_row = no_operand;  ///< the row that holds frame_bytes; see frame_size_row()
};

/// A function, at one place where it is inlined, or at its root.
struct Instance {
  const ptx::Function* function = nullptr;
  const Analysis* analysis = nullptr;
  const Instance* caller = nullptr;  ///< null: a root
  std::size_t call_index = 0;        ///< the call index of the caller's call
  std::uint32_t depth = 0;           ///< how many callers there are
  Root* root = nullptr;
  std::uint32_t first_predicate = 0, first_word = 0, first_pair = 0, first_quad = 0;

  /// True if its threads go on somewhere after its end.
  bool returns() const { return caller != nullptr || !root->is_entry; }
  std::unordered_map<std::string_view, Symbol> symbols;
  std::vector<std::uint32_t> operation_of;                 ///< for each instruction and of the end
  std::unordered_map<std::size_t, std::uint32_t> site_of;  ///< for loads and stores, by instruction
};

using ptx::Opcode;
using ptx::Type;
using ptx::Word;

class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& entry, const VariableRooms& rooms);

  /// The program, of use only when nothing was refused.
  Program decode();
  const std::vector<Refusal>& refusals() const { return refusals_; }

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;

  /// A branch whose operation numbers are known when its function is complete.
  struct Branch {
    std::size_t operation = 0;
    std::size_t target = 0;   ///< instruction
    std::size_t meeting = 0;  ///< instruction; ptx::nowhere: none
  };

  // decoder.cpp
  void decode_function(Instance& instance, const std::vector<Symbol>& results,
                       const std::vector<Symbol>& arguments);
  void note_early_joins(const Instance& instance, const std::vector<std::size_t>& sites_before);
  void note_ordered_sites(const Instance& instance, const std::vector<std::size_t>& sites_before);
  void finish_function(Instance& instance, const Place& place, const std::vector<Branch>& branches);
  void note_members();
  void note_fence();
  void note_order(SiteInfo& info);
  Scope scope();
  const Analysis& analyse(const ptx::Function& function);
  void analyse_alone(const ptx::Function& function);
  [[noreturn]] void refuse(const std::string& what) const;  ///< the current instruction
  void keep(const Refusal& refusal);
  [[noreturn]] void refuse_form_of_operand() const;
  [[noreturn]] void refuse_form() const;
  bool has(Word word) const { return instruction_->has(word); }

  // instruction.cpp
  void decode_instruction();
  void expect_executed() const;

  // loop_states.cpp
  /// Operations of a loop, and what of the registers decides nothing in it.
  struct IdleRows {
    std::vector<RowRange> operations;
    std::set<std::uint32_t> rows, predicates;
    bool stores = true;
  };
  void note_asking_loops(const Instance& instance);
  static std::vector<std::size_t> places_in(const Instance& instance, const ptx::AskingLoop& loop);
  template <class Decides>
  static IdleRows idle_rows_of(const Instance& instance, const std::set<ptx::RegisterId>& named,
                               const Decides& decides);
  void place_loop_states();

  // variables.cpp
  void place_variables();
  void relocate_variables();
  void place_instance(Instance& instance);

  // operands.cpp
  void expect_operands(std::size_t least, std::size_t most) const;
  std::uint16_t allocate_row(unsigned element_bytes);
  std::uint16_t scratch(unsigned element_bytes);
  std::uint16_t scratch_rows(unsigned element_bytes, unsigned count);
  std::uint16_t constant(std::uint64_t bits, unsigned element_bytes);
  std::uint16_t special(Special what);
  std::uint16_t scratch_predicate();
  /// The row of a register, with its width; nothing for another name.
  std::optional<std::pair<std::uint16_t, unsigned>> register_row(std::string_view name) const;
  std::optional<std::uint16_t> predicate_index(std::string_view name) const;
  std::optional<Symbol> symbol(std::string_view name) const;
  std::uint64_t immediate(const Operand& operand, RowType type) const;
  std::uint16_t source(const Operand& operand, RowType type);
  std::uint16_t destination(const Operand& operand, RowType type);
  std::uint16_t predicate_source(const Operand& operand);       ///< 2 × index + negated
  std::uint16_t predicate_destination(const Operand& operand);  ///< index
  std::optional<std::uint64_t> reserved_shared(ptx::Special special) const;
  std::uint64_t grid_workspace();
  std::optional<std::uint16_t> special_row(ptx::Special special_register, RowType type);

  // value.cpp
  void decode_value();
  bool find_and_emit_value();
  void emit_value(Code code, RowType type, const std::array<std::uint16_t, 3>& rows,
                  std::span<const Code> last);
  void decode_contraction();

  // arithmetic.cpp
  void decode_logic();
  void decode_mov();
  void decode_pack(const Operand& whole, const Operand& parts, bool packs);
  void pack_bytes(const Operand& whole, const Operand& parts);
  void unpack_bytes(const Operand& whole, const Operand& parts);
  void decode_selp();
  void decode_bfi();
  void decode_lop3();
  void decode_shfl();
  void decode_vote();
  void decode_match();
  void decode_redux();
  void decode_activemask();
  void decode_elect();

  // compare.cpp
  struct Test {
    Comparison comparison;
    std::array<std::uint16_t, 2> rows{};
    Combine combine = Combine::none;
    std::uint16_t other = 0;  ///< predicate operand
  };
  Test test_of(Type type);
  void emit_test(const Test& test, std::uint16_t a, std::uint16_t b, std::uint16_t d,
                 std::uint16_t e, bool guarded);
  std::array<std::uint16_t, 2> halves_of(std::uint16_t row);
  void decode_setp();
  void decode_set();

  // convert.cpp
  /// What a conversion starts from, comes by or ends at: 8-bit integers live in rows of 16.
  struct Number {
    ptx::Kind kind = ptx::Kind::u;
    unsigned bits = 32;

    bool is_float() const {
      return kind == ptx::Kind::f || kind == ptx::Kind::bf || kind == ptx::Kind::tf;
    }
    bool is_narrow() const { return kind == ptx::Kind::tf || (is_float() && bits == 16); }
    bool is_signed() const { return kind == ptx::Kind::s; }
    unsigned row_bytes() const { return bits < 16 ? 2 : bits / 8; }
  };
  static std::optional<Number> number_of(Type type);
  static Code float_from(const Number& from, bool to_f64);
  static Code integer_from_float(const Number& to, bool from_f64);
  static Code clamp(bool is_signed, const Number& to);
  void decode_cvt();
  void convert_to_float(std::uint16_t row, const Number& from, const Number& to);
  void convert_to_narrow(std::uint16_t row, const Number& from, const Number& to);
  bool decode_packed_cvt();
  std::int64_t narrowing(NarrowFormat format) const;
  std::uint16_t narrow(std::uint16_t f64_row, NarrowFormat format);
  std::uint16_t convert_source(const Operand& operand, const Number& from);
  std::uint16_t resized(std::uint16_t row, unsigned from_bytes, bool is_signed, unsigned bytes);
  std::uint16_t unary(Code code, std::uint16_t row, unsigned result_bytes);
  void finish_convert(std::uint16_t row, unsigned bytes, bool is_signed);

  // memory.cpp
  struct Accessed {
    ptx::TypeInfo type;
    unsigned bytes = 0;     ///< the bytes of the type
    std::size_t parts = 1;  ///< registers
  };
  Accessed accessed() const;
  std::vector<std::uint16_t> data_rows(const Operand& data, const Accessed& what, bool is_load,
                                       unsigned& row_bytes);
  std::uint16_t quad_row(const Operand& operand) const;
  void move_row(std::uint16_t to, std::uint16_t from, unsigned bytes, bool guarded);
  std::uint16_t atomic_operand(const Operand& operand, RowType type, unsigned parts, bool is_quad);
  void decode_load_store(bool is_load);
  struct AtomicForm {
    AtomicKind kind = AtomicKind::add;
    AtomicType type = AtomicType::u32;
    RowType row = RowType::u32;
    /// Operation::c, but for the width of the address.
    unsigned code() const {
      return static_cast<unsigned>(kind) | static_cast<unsigned>(type) << atomic_type_shift;
    }
  };
  AtomicKind atomic_kind() const;
  AtomicForm atomic_form() const;
  void decode_atomic(bool returns);
  void decode_cvta();
  void decode_isspacep();
  AddressSpace access_space() const;
  struct Target {
    std::uint16_t row = 0;
    bool is_wide = true;
    std::int64_t offset = 0;
    AddressSpace space = AddressSpace::generic;
  };
  Target address(const Operand& operand, AddressSpace space);
  std::uint32_t add_site(const SiteInfo& info);
  void note_array(SiteInfo& site) const;
  bool is_here_or_in_callers(std::vector<bool> Analysis::*marks) const;

  // asynchronous.cpp
  void note_copy(CopyInfo::Kind kind, std::uint32_t groups = 0);
  void decode_copy();
  void emit_count(const Target& to, const Target& from, std::uint32_t load, std::uint16_t bytes);
  void emit_copy(bool is_load, const Target& place, std::uint16_t rows, unsigned first_word,
                 unsigned words, std::uint16_t guard, bool is_part = false);
  void decode_copy_arrival();
  void decode_mbarrier();
  bool is_answer_ignored() const;
  void emit_mbarrier(MbarrierKind kind, const Target& target, std::uint16_t value, std::uint16_t d);
  void decode_pending_count();

  // bulk.cpp
  BulkCopy::Place bulk_place(const Operand& operand, const SiteInfo& info, std::uint16_t& row);
  void decode_bulk_copy();
  std::uint32_t box_sites(SiteInfo info);
  void decode_box_copy();
  void decode_counted_store();
  void decode_counted_reduction();
  void count_bytes();

  // tensor_map.cpp
  void decode_replace_field();
  void replace_bits(const Target& map, const TensorMapField& field, std::uint16_t value);
  std::uint16_t one_less(const Operand& operand);
  void replace_stride(const Target& map, unsigned axis, const Operand& operand);
  unsigned map_axis(unsigned count) const;
  std::uint64_t number_of_table(unsigned count) const;
  void decode_publish_map();
  void emit_plain(bool is_load, const Target& place, std::int64_t more, std::uint16_t row,
                  unsigned bytes);

  // matrix.cpp
  void decode_matrix();
  std::vector<std::uint16_t> matrix_rows(const Operand& operand, unsigned count, RowType type,
                                         bool is_written);
  void decode_fragment();
  void decode_matrix_product();
  void take_metadata(MatrixProduct& product);
  void decode_matrix_transpose();
  void decode_warpgroup_product();  // warpgroup.cpp
  void transpose_rows(const std::vector<std::uint16_t>& from, const std::vector<std::uint16_t>& to);
  // video.cpp
  void decode_video();
  std::uint64_t parts_of_numbers(unsigned at_once) const;
  std::uint64_t parts_of_number(VideoKind kind) const;
  std::uint16_t lower_half(const Operand& operand, bool is_wide);
  std::uint16_t lower_half(std::uint16_t from);  ///< for a row of 64 bits
  std::uint16_t computed_32(Code code, std::uint16_t a, std::uint16_t b);
  void decode_map_address();
  void decode_rank_of_address();
  void decode_cluster_barrier(bool waits);
  // texture.cpp
  TextureAccess texture_access(const Operand& place, unsigned rows_of_coordinates);
  void decode_texture();
  void decode_surface();
  void decode_texture_question();
  void emit_texture(const TextureAccess& access);

  // control.cpp
  void note_decider();
  void decode_branch();
  void decode_indexed_branch();
  void decode_return();
  void decode_barrier();
  void decode_policy();
  std::size_t label(std::string_view name) const;
  void add_branch(std::uint16_t predicate, std::size_t target, std::size_t meeting);

  // stack.cpp
  void decode_stack_take();
  void decode_stack_save();
  void decode_stack_restore();
  void combine(Code code, std::uint16_t d, std::uint16_t a, std::uint16_t b, bool guarded = false);
  void move_to(const Operand& to, std::uint16_t address, bool is_wide);
  std::uint16_t stack_base_row();
  std::uint16_t stack_used_row();
  void place_stack();
  void decode_call();

  // calls.cpp
  struct Passed {
    Symbol symbol;
    std::uint64_t bytes = 0;
  };
  /// A register that is kept in the frame.
  struct Saved {
    bool is_predicate = false;
    std::uint16_t index = 0;
    unsigned bytes = 4;
  };
  struct Body {
    const ptx::Function* function = nullptr;
    Root root;
    bool is_called = false;  ///< not only through pointers
    std::uint32_t first_operation = 0, end_operation = 0;
  };
  void decode_plain_call();
  bool decode_system_call(std::string_view name, const std::vector<Passed>& results,
                          const std::vector<Passed>& arguments);
  void decode_bodies();
  void note_indirect_calls();
  bool is_recursive(const ptx::Function& function);
  void find_circles(const ptx::Function& first);
  std::vector<const ptx::Function*> callees_of(const ptx::Function* function);
  void note_waiting(const ptx::Function& function, Analysis& analysis);
  const Analysis* analysis_of_call(const ptx::Instruction& instruction);
  std::vector<ptx::Unknowns> given_by_calls(const ptx::Function& function);
  const std::vector<const ptx::Function*>& addresses_taken();
  std::uint32_t body_of(const ptx::Function& function);
  std::optional<std::uint64_t> function_address(std::string_view name);
  std::optional<std::uint64_t> kernel_address(std::string_view name);
  bool decode_device_call(std::string_view name, const std::vector<Passed>& results,
                          const std::vector<Passed>& arguments);
  void emit_device_call(DeviceCall call, std::uint16_t result);
  std::uint16_t frame_row();
  std::uint16_t frame_size_row(Root& root);
  void emit_local(bool is_load, std::uint16_t base, bool is_wide, std::int64_t offset,
                  std::uint16_t row, unsigned bytes, bool guarded);
  std::pair<std::uint16_t, std::int64_t> local_place(const Symbol& symbol);
  void copy_argument(const Symbol& variable, std::uint16_t base, std::int64_t offset,
                     std::uint64_t bytes, bool to_callee);
  std::vector<Saved> registers_across_call();
  std::uint32_t save_registers(const std::vector<Saved>& saved, std::uint16_t end, bool restores);
  void emit_call(std::optional<std::uint32_t> body, std::uint16_t pointer,
                 const std::vector<Passed>& results, const std::vector<Passed>& arguments);

  // unset_finder.h
  class UnsetFinder;
  using RowAndOffset = std::pair<std::uint16_t, std::int64_t>;
  void note_passing(RowAndOffset own, RowAndOffset passed, std::uint32_t bytes, bool to_callee);
  void find_unset();

  /// The operands of an operation, by the names that they have in it.
  struct Operands {
    std::uint16_t d = 0, a = 0, b = 0, c = 0, e = no_operand, f = 0;
    std::int64_t imm = 0;
    std::uint32_t extra = 0;
  };
  /// Appends an operation of the current instruction, under its guard unless `guarded` is false.
  Operation& emit(Code code, const Operands& operands, bool guarded = true);
  Operation& emit(Code code, bool guarded = true) { return emit(code, Operands(), guarded); }

  const VariableRooms rooms_;
  const ptx::Module& module_;
  const ptx::Function& entry_;
  Program program_;
  std::map<const ptx::Function*, Analysis> analyses_;
  std::unordered_map<std::string_view, Symbol> module_symbols_;
  mutable std::set<std::string_view>
      used_variables_;  ///< the used variables of the module, by this kernel
  static constexpr std::uint64_t reserved_shared_bytes = 1024;
  std::uint64_t reserved_shared_ = 0;  ///< where they begin, if the module asks for it
  std::unordered_map<std::string_view, Symbol>
      shared_symbols_;  ///< the shared symbols of functions, by unique name
  std::map<std::pair<std::uint64_t, unsigned>, std::uint16_t> constants_;
  std::map<Special, std::uint16_t> specials_;
  std::map<std::pair<bool, unsigned>, std::uint16_t> workspace_rows_;  ///< by half and bytes
  Scratch scratch_;

  std::vector<Refusal> refusals_;
  std::deque<Instance> kept_;        ///< functions that are decoded, for what looks at all of them
  std::vector<IdleRows> idle_rows_;  ///< inner functions before those that they are inlined into
  std::vector<UnsetStep> passings_;  ///< the passings of arguments and results, for UnsetTable

  Root entry_root_;
  std::deque<Body> bodies_;
  std::map<const ptx::Function*, std::uint32_t> body_numbers_;
  std::map<const ptx::Function*, bool> recursive_;
  std::optional<std::vector<const ptx::Function*>> addresses_taken_;
  std::vector<std::size_t> direct_calls_;  ///< operations
  bool has_indirect_calls_ = false;
  std::uint32_t most_passed_bytes_ = 0;  ///< arguments of a call
  std::optional<std::uint16_t> frame_row_;
  std::optional<std::uint16_t> stack_base_, stack_used_;

  // The instance of the decoded instruction.
  Instance* instance_ = nullptr;
  const Instruction* instruction_ = nullptr;
  std::size_t index_ = 0;      ///< in its function
  std::uint32_t ordinal_ = 0;  ///< in the program
  std::uint16_t guard_ = no_guard;
  std::vector<Branch>* branches_ = nullptr;
};

}  // namespace warpmeter::model
