// SPDX-License-Identifier: MIT
// Textures and surfaces: tex and tld4, suld, sust and sured, txq and suq. They name what they reach
// by a handle in a register; a variable of type .texref or .surfref, which nvcc has not made since
// CUDA 12, is refused.
#include <fmt/format.h>

#include <utility>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

/// An observer hears of the bytes that it reaches. A sample's width depends on the texture.
SiteInfo site_of(const TextureAccess& access) {
  using Work = TextureAccess::Work;
  SiteInfo site;
  site.space = AddressSpace::global;
  site.kind = access.work == Work::sample || access.work == Work::load ? AccessKind::load
              : access.work == Work::change                            ? AccessKind::reduction
                                                                       : AccessKind::store;
  site.is_apart = site.is_texture = true;
  // The texture's cache keeps what it has, whatever the kernel stores.
  site.is_read_only = access.work == Work::sample;
  if (!access.is_surface) return site;
  site.parts = access.parts;
  site.width = static_cast<std::uint8_t>(access.data_bytes * access.parts);
  site.alignment = site.width;
  if (access.work == Work::store) site.row_bytes = access.row_bytes;
  return site;
}

}  // namespace

/// [handle, {coordinates}].
TextureAccess Decoder::texture_access(const Operand& place, unsigned rows_of_coordinates) {
  if (place.kind != Operand::Kind::address) refuse("names no texture or surface in brackets");
  const bool has_coordinates = place.parts.size() == 1 &&
                               place.parts[0].kind == Operand::Kind::vector &&
                               place.parts[0].parts.size() >= rows_of_coordinates;
  if (rows_of_coordinates > 0 && !has_coordinates) {
    refuse("has a sampler of its own, or too few coordinates");
  }
  const auto handle = register_row(place.address.base);
  if (!handle || handle->second != 8) {
    refuse(
        fmt::format("names '{}' of the module; the model knows textures and surfaces by objects, "
                    "whose handle is in a register of 64 bits",
                    place.address.base));
  }
  TextureAccess access;
  access.handle = handle->first;
  return access;
}

void Decoder::emit_texture(const TextureAccess& access) {
  Operation& operation = emit(Code::texture);
  if (access.work != TextureAccess::Work::ask) operation.extra = add_site(site_of(access));
  operation.imm = static_cast<std::int64_t>(program_.texture_accesses.size());
  program_.texture_accesses.push_back(access);
}

/// tex.level.a2d.v4.f32.f32 {…}|p, [handle, {layer, x, y, y}], level; of a gradient two vectors
/// follow.
void Decoder::decode_texture() {
  const bool gathers = instruction_->is(Opcode::tld4);
  const bool has_level = has(Word::level), has_gradients = has(Word::grad);
  const std::size_t operands = has_level ? 3 : has_gradients ? 4 : 2;
  expect_operands(operands, operands);
  SamplingKind kind;
  kind.is_cube = has(Word::cube) || has(Word::acube);
  kind.is_layered = has(Word::a1d) || has(Word::a2d) || has(Word::acube);
  kind.axes = has(Word::d1) || has(Word::a1d) ? 1 : has(Word::d2) || has(Word::a2d) ? 2 : 3;
  kind.has_level = has_level;
  kind.has_gradients = has_gradients;
  kind.gathers = gathers;
  kind.channel = has(Word::g) ? 1 : has(Word::b) ? 2 : has(Word::a) ? 3 : 0;
  kind.is_by_number = instruction_->last_type() == Type::s32;
  if (kind.is_by_number && (has_level || has_gradients || !has(Word::d1))) {
    refuse(
        "numbers the elements of a texture that has more than a line of them; read through a "
        "pointer instead, or measure on a GPU");
  }
  const unsigned layers = kind.is_layered ? 1 : 0;
  TextureAccess access = texture_access(instruction_->operands[1], kind.axes + layers);
  access.sampling = kind;
  const auto& coordinates = instruction_->operands[1].parts[0].parts;
  if (kind.is_layered) access.layer = source(coordinates[0], RowType::u32);
  for (unsigned axis = 0; axis < kind.axes; ++axis) {
    access.at[axis] = source(coordinates[axis + layers], RowType::f32);
  }
  if (has_level) access.level = source(instruction_->operands[2], RowType::f32);
  for (unsigned i = 0; has_gradients && i < 2; ++i) {
    const Operand& gradient = instruction_->operands[2 + i];
    if (gradient.parts.size() < kind.axes) refuse("has gradients of too few parts");
    for (unsigned axis = 0; axis < kind.axes; ++axis) {
      access.gradients[i][axis] = source(gradient.parts[axis], RowType::f32);
    }
  }
  const Operand& result = instruction_->operands[0];
  const bool says_resident = result.kind == Operand::Kind::pair;
  const Operand& numbers = says_resident ? result.parts[0] : result;
  if (numbers.parts.size() != 4) refuse("has another number of registers than it says");
  for (unsigned i = 0; i < 4; ++i) access.data[i] = destination(numbers.parts[i], RowType::u32);
  if (says_resident) access.is_resident = predicate_destination(result.parts[1]);
  emit_texture(access);
}

/// suld.b.2d.v2.b32.trap {…}, [handle, {x, y}]; sust and sured have what they store behind it.
void Decoder::decode_surface() {
  expect_operands(2, 2);
  const bool loads = instruction_->is(Opcode::suld);
  const Operand& place = instruction_->operands[loads ? 1 : 0];
  const Operand& numbers = instruction_->operands[loads ? 0 : 1];
  SamplingKind kind;
  kind.is_layered = has(Word::a1d) || has(Word::a2d);
  kind.axes = has(Word::d1) || has(Word::a1d) ? 1 : has(Word::d2) || has(Word::a2d) ? 2 : 3;
  const unsigned layers = kind.is_layered ? 1 : 0;
  TextureAccess access = texture_access(place, kind.axes + layers);
  access.sampling = kind;
  access.is_surface = true;
  using Work = TextureAccess::Work;
  access.work = loads                             ? Work::load
                : instruction_->is(Opcode::sured) ? Work::change
                : has(Word::p)                    ? Work::store_formatted
                                                  : Work::store;
  access.beyond_edge = has(Word::clamp)  ? BeyondEdge::clamp
                       : has(Word::zero) ? BeyondEdge::zero
                                         : BeyondEdge::trap;
  using enum SurfaceChange;
  access.change = has(Word::min)    ? minimum
                  : has(Word::max)  ? maximum
                  : has(Word::and_) ? bit_and
                  : has(Word::or_)  ? bit_or
                                    : add;
  const auto& coordinates = place.parts[0].parts;
  if (kind.is_layered) access.layer = source(coordinates[0], RowType::u32);
  for (unsigned axis = 0; axis < kind.axes; ++axis) {
    access.at[axis] = source(coordinates[axis + layers], RowType::u32);
  }
  const ptx::TypeInfo type = ptx::info_of(instruction_->last_type());
  access.is_signed = type.is_signed();
  access.data_bytes = static_cast<std::uint8_t>(type.bytes());
  access.row_bytes = static_cast<std::uint8_t>(std::max(2u, type.bytes()));
  const unsigned count = has(Word::v4) ? 4 : has(Word::v2) ? 2 : 1;
  access.parts = static_cast<std::uint8_t>(count);
  const bool is_vector = numbers.kind == Operand::Kind::vector;
  if (is_vector ? numbers.parts.size() != count : count != 1) {
    refuse("has another number of registers than it says");
  }
  const RowType row = access.row_bytes == 2   ? RowType::u16
                      : access.row_bytes == 4 ? RowType::u32
                                              : RowType::u64;
  for (unsigned i = 0; i < count; ++i) {
    const Operand& part = is_vector ? numbers.parts[i] : numbers;
    access.data[i] = loads ? destination(part, row) : source(part, row);
  }
  if (access.work == Work::change) program_.blocks_communicate = true;
  emit_texture(access);
}

/// txq.level.width.b32 d, [handle], level; suq.width.b32 d, [handle].
void Decoder::decode_texture_question() {
  const bool has_level = has(Word::level);
  expect_operands(has_level ? 3 : 2, has_level ? 3 : 2);
  TextureAccess access = texture_access(instruction_->operands[1], 0);
  access.work = TextureAccess::Work::ask;
  access.is_surface = instruction_->is(Opcode::suq);
  access.asked_axis = has(Word::width) ? 0 : has(Word::height) ? 1 : 2;
  if (has_level) access.level = source(instruction_->operands[2], RowType::u32);
  access.data[0] = destination(instruction_->operands[0], RowType::u32);
  emit_texture(access);
}

}  // namespace warpmeter::model
