// SPDX-License-Identifier: MIT
// One instruction: whether it is one that the machine executes, and who decodes it.
#include <fmt/format.h>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// Refuses what the machine does not execute, and what the module may not hold.
void Decoder::expect_executed() const {
  if (instruction_->is(Opcode::unknown)) refuse("is no instruction of PTX");
  const ptx::Row& row = instruction_->row();
  if (module_.version < row.since.ptx || module_.target < row.since.arch) {
    refuse(
        fmt::format("is an instruction of PTX {}.{} for sm_{}, but the module is PTX {}.{} for "
                    "sm_{}; compile it for a newer architecture",
                    row.since.ptx / 10, row.since.ptx % 10, row.since.arch, module_.version / 10,
                    module_.version % 10, module_.target));
  }
  if (!row.is_executed()) {
    refuse(fmt::format("{}, which the model does not do; {}", row.what, row.instead));
  }
  if (!instruction_->is_form) refuse_form();
}

void Decoder::decode_instruction() {
  const Scratch::Lease lease(scratch_);
  if (instruction_->guard) {
    const auto index = predicate_index(instruction_->guard->predicate);
    if (!index) refuse("is guarded by a register that is no predicate");
    guard_ = static_cast<std::uint16_t>(2 * *index + (instruction_->guard->negated ? 1 : 0));
  }
  expect_executed();
  using ptx::Execution;
  switch (instruction_->row().execution) {
    case Execution::refused:
      break;  // expect_executed() has thrown
    case Execution::value:
      return decode_value();
    case Execution::logic:
      return decode_logic();
    case Execution::insert:
      return decode_bfi();
    case Execution::select:
      return decode_selp();
    case Execution::set:
      return decode_set();
    case Execution::set_predicate:
      return decode_setp();
    case Execution::lookup:
      return decode_lop3();
    case Execution::convert:
      return decode_cvt();
    case Execution::convert_address:
      return decode_cvta();
    case Execution::is_in_space:
      return decode_isspacep();
    case Execution::move:
      return decode_mov();
    case Execution::policy:
      return decode_policy();
    case Execution::load:
      return decode_load_store(true);
    case Execution::store:
      return decode_load_store(false);
    case Execution::atomic:
      return decode_atomic(true);
    case Execution::reduction:
      return decode_atomic(false);
    case Execution::copy:
      return decode_copy();
    case Execution::copy_commit:
      note_copy(CopyInfo::Kind::commit);
      break;
    case Execution::copy_wait:
      expect_operands(1, 1);
      note_copy(CopyInfo::Kind::wait, static_cast<std::uint32_t>(instruction_->operands[0].bits));
      break;
    case Execution::copy_wait_all:
      note_copy(CopyInfo::Kind::wait_all);
      break;
    case Execution::copy_arrive:
      return decode_copy_arrival();
    case Execution::bulk_copy:
      return decode_bulk_copy();
    case Execution::box_copy:
      return decode_box_copy();
    case Execution::replace_field:
      return decode_replace_field();
    case Execution::publish_map:
      return decode_publish_map();
    case Execution::bulk_commit:
      program_.bulk_groups.push_back({ordinal_, CopyInfo::Kind::commit, 0});
      break;
    case Execution::bulk_wait:
      expect_operands(1, 1);
      program_.bulk_groups.push_back({ordinal_, CopyInfo::Kind::wait,
                                      static_cast<std::uint32_t>(instruction_->operands[0].bits)});
      break;
    case Execution::counted_store:
      return decode_counted_store();
    case Execution::counted_reduction:
      return decode_counted_reduction();
    case Execution::branch:
      return decode_branch();
    case Execution::indexed_branch:
      return decode_indexed_branch();
    case Execution::call:
      return decode_call();
    case Execution::leave:
      return decode_return();
    case Execution::finish:
      emit(Code::leave);
      return;
    case Execution::trap:
      emit(Code::trap);
      return;
    case Execution::barrier:
    case Execution::barrier_reduction:
      return decode_barrier();
    case Execution::warp_barrier: {
      expect_operands(1, 1);
      const std::uint16_t members = source(instruction_->operands[0], RowType::u32);
      emit(Code::meet).b = members;
      return;
    }
    case Execution::fence:
      note_fence();
      break;
    case Execution::shuffle:
      return decode_shfl();
    case Execution::vote:
      return decode_vote();
    case Execution::match:
      return decode_match();
    case Execution::activemask:
      return decode_activemask();
    case Execution::redux:
      return decode_redux();
    case Execution::elect:
      return decode_elect();
    case Execution::mbarrier:
      return decode_mbarrier();
    case Execution::pending_count:
      return decode_pending_count();
    case Execution::matrix:
      return decode_matrix();
    case Execution::fragment:
      return decode_fragment();
    case Execution::matrix_product:
      return decode_matrix_product();
    case Execution::matrix_transpose:
      return decode_matrix_transpose();
    case Execution::warpgroup_product:
      return decode_warpgroup_product();
    case Execution::warpgroup_wait:
      expect_operands(1, 1);
      emit(Code::await_warpgroup);
      return;
    case Execution::texture:
      return decode_texture();
    case Execution::surface:
      return decode_surface();
    case Execution::ask_texture:
      return decode_texture_question();
    case Execution::stack_take:
      return decode_stack_take();
    case Execution::stack_save:
      return decode_stack_save();
    case Execution::stack_restore:
      return decode_stack_restore();
    case Execution::video:
      return decode_video();
    case Execution::map_address:
      return decode_map_address();
    case Execution::rank_of_address:
      return decode_rank_of_address();
    case Execution::cluster_arrive:
      return decode_cluster_barrier(false);
    case Execution::cluster_wait:
      return decode_cluster_barrier(true);
    case Execution::nothing:
      break;
  }
  emit(Code::nothing);
}

}  // namespace warpmeter::model
