// SPDX-License-Identifier: MIT
// The requests between blocks of a cluster: addresses of each other's shared memory, and the
// barrier of them all.
#include <bit>

#include "collector/model/machine/cluster.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

constexpr int step_shift = std::countr_zero(cluster_step);

}  // namespace

/// d = what an operation of two rows of 32 bits gives.
std::uint16_t Decoder::computed_32(Code code, std::uint16_t a, std::uint16_t b) {
  const std::uint16_t d = scratch(4);
  emit(code, {.d = d, .a = a, .b = b}, false);
  return d;
}

/// The part of an address of 32 or 64 bits that says where in the window of shared memory it is.
std::uint16_t Decoder::lower_half(const Operand& operand, bool is_wide) {
  const std::uint16_t from = source(operand, is_wide ? RowType::u64 : RowType::u32);
  return is_wide ? lower_half(from) : from;
}

std::uint16_t Decoder::lower_half(std::uint16_t from) {
  const std::uint16_t low = scratch(4);
  emit(Code::u32_from_u64, {.d = low, .a = from}, false);
  return low;
}

/// mapa: the place that the address names, in the block of that rank. Only what an address has
/// below a window counts, which its lower half holds.
void Decoder::decode_map_address() {
  expect_operands(3, 3);
  program_.has_clusters = true;
  const bool is_wide = has(Word::u64);
  const std::uint16_t low = lower_half(instruction_->operands[1], is_wide);
  const std::uint16_t rank = source(instruction_->operands[2], RowType::u32);
  const std::uint16_t one = constant(1, 4), shift = constant(step_shift, 4);
  const std::uint16_t place = computed_32(Code::and_b32, low, constant(cluster_step - 1, 4));
  const std::uint16_t number = computed_32(Code::add_u32, rank, one);
  const std::uint16_t part = computed_32(Code::shl_b32, number, shift);
  const std::uint16_t other = computed_32(Code::or_b32, place, part);
  const std::uint16_t is_own = scratch_predicate();
  emit(Code::eq_u32, {.d = is_own, .a = rank, .b = special(Special::cluster_ctarank)}, false);
  const std::uint16_t to =
      destination(instruction_->operands[0], is_wide ? RowType::u64 : RowType::u32);
  const std::uint16_t chosen = is_wide ? scratch(4) : to;
  emit(Code::selp_b32,
       {.d = chosen, .a = place, .b = other, .c = static_cast<std::uint16_t>(2 * is_own)},
       !is_wide);
  if (!is_wide) return;
  const std::uint16_t widened = scratch(8), window = constant(shared_window, 8);
  emit(Code::u64_from_u32, {.d = widened, .a = chosen}, false);
  emit(Code::add_u64, {.d = to, .a = widened, .b = window});
}

/// getctarank: of the block whose shared memory holds the address.
void Decoder::decode_rank_of_address() {
  expect_operands(2, 2);
  program_.has_clusters = true;
  const bool is_wide = has(Word::u64);
  const std::uint16_t low = lower_half(instruction_->operands[1], is_wide);
  const std::uint16_t zero = constant(0, 4);
  const std::uint16_t number = computed_32(Code::shr_u32, low, constant(step_shift, 4));
  const std::uint16_t rank = computed_32(Code::sub_u32, number, constant(1, 4));
  const std::uint16_t is_own = scratch_predicate();
  emit(Code::eq_u32, {.d = is_own, .a = number, .b = zero}, false);
  emit(Code::selp_b32, {.d = destination(instruction_->operands[0], RowType::u32),
                        .a = special(Special::cluster_ctarank),
                        .b = rank,
                        .c = static_cast<std::uint16_t>(2 * is_own)});
}

/// barrier.cluster.arrive and .wait; both order what their threads do in memory, unless relaxed:
/// then c is 1.
void Decoder::decode_cluster_barrier(bool waits) {
  expect_operands(0, 0);
  program_.has_clusters = true;
  program_.has_releases = true;
  emit(waits ? Code::cluster_wait : Code::cluster_arrive, {.c = has(Word::relaxed)});
}

}  // namespace warpmeter::model
