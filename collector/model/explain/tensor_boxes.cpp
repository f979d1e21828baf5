// SPDX-License-Identifier: MIT
#include "collector/model/explain/tensor_boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collector/model/machine/warp/tensor_map.h"

namespace warpmeter::model::explain {
namespace {

constexpr unsigned last_mode = 3;

/// The bytes of a row that a mode swizzles.
constexpr std::uint32_t span_of(unsigned mode) { return box_chunk << mode; }

std::uint32_t swizzled(std::uint32_t place, unsigned mode) {
  TensorMap map;
  map.swizzle_shift = static_cast<std::uint8_t>(mode);
  return static_cast<std::uint32_t>(map.swizzled(place));
}

std::uint32_t bytes_of(const BoxPlace& box) { return box.row_bytes * box.rows; }

}  // namespace

TensorBoxes::TensorBoxes(const Subject& subject, const SharedArray& array) {
  find(subject, array);
  if (boxes_.empty() || !impossible_.empty()) return;
  const BoxPlace& first = boxes_.front();
  for (std::size_t i = 1; i < boxes_.size(); ++i) {
    const BoxPlace &last = boxes_[i - 1], &box = boxes_[i];
    if (box.row_bytes != first.row_bytes || box.swizzle_shift != first.swizzle_shift) {
      impossible_ = "boxes of tensor maps that differ lie in it";
    } else if (box.place < last.place + bytes_of(last)) {
      impossible_ = "boxes of its tensor map overlap";
    }
  }
  if (!impossible_.empty()) return;
  if (mode() != 0 && row_bytes() < span_of(mode())) {
    impossible_ = "the swizzle of its tensor map leaves a part of each row free";
  } else if (other_modes().empty()) {
    impossible_ = fmt::format("no swizzle of a tensor map fits its rows of {} bytes", row_bytes());
  }
}

void TensorBoxes::find(const Subject& subject, const SharedArray& array) {
  const auto has = [&](const BulkCopy::Place& place) {
    return std::any_of(array.copies.begin(), array.copies.end(), [&](std::size_t site) {
      return subject.site(site).instruction == subject.site(place.site).instruction;
    });
  };
  const Program& program = subject.program;
  std::set<BoxPlace> boxes;
  std::set<std::uint32_t> instructions;  // that copy boxes
  for (std::size_t i = 0; i < program.bulk_copies.size(); ++i) {
    const BulkCopy& copy = program.bulk_copies[i];
    const BulkCopy::Place& near = copy.is_store ? copy.from : copy.to;
    if (copy.rank == 0 || copy.kind == BulkCopy::Kind::prefetch || !has(near)) continue;
    instructions.insert(subject.site(near.site).instruction);
    if (!copy.is_store) load_requests_ += subject.outcome.counts[near.site].shared.requests;
    if (i >= subject.recording.boxes.size() || subject.recording.boxes[i].is_full()) {
      impossible_ = "boxes of its tensor map lie at more places than are kept";
      return;
    }
    for (const BoxPlace& box : subject.recording.boxes[i].places()) boxes.insert(box);
  }
  if (boxes.empty()) return;
  boxes_.assign(boxes.begin(), boxes.end());
  const bool has_others = std::any_of(
      array.copies.begin(), array.copies.end(),
      [&](std::size_t site) { return !instructions.contains(subject.site(site).instruction); });
  if (has_others) impossible_ = "copies of other kinds reach it beside the boxes of a tensor map";
}

std::vector<unsigned> TensorBoxes::other_modes() const {
  std::vector<unsigned> modes;
  if (mode() != 0) modes.push_back(0);
  const bool has_rows = boxes_.front().rows > 1;
  for (unsigned other = 1; other <= last_mode; ++other) {
    const bool fits = has_rows && row_bytes() % span_of(other) == 0;
    if (other != mode() && fits) modes.push_back(other);
  }
  return modes;
}

std::uint32_t TensorBoxes::boxes_of_one(unsigned mode) const {
  return mode == 0 ? 1 : row_bytes() / span_of(mode);
}

std::uint32_t TensorBoxes::moved(std::uint32_t place, unsigned mode) const {
  const std::uint32_t plain = swizzled(place, this->mode());
  const auto behind =
      std::upper_bound(boxes_.begin(), boxes_.end(), plain,
                       [](std::uint32_t at, const BoxPlace& box) { return at < box.place; });
  if (behind == boxes_.begin()) return place;
  const BoxPlace& box = *std::prev(behind);
  const std::uint32_t byte = plain - box.place;
  if (byte >= bytes_of(box)) return place;
  const std::uint32_t row = byte / box.row_bytes, column = byte % box.row_bytes;
  const std::uint32_t span = box.row_bytes / boxes_of_one(mode);
  const std::uint32_t part = column / span;
  return swizzled(box.place + (part * box.rows + row) * span + column % span, mode);
}

const char* name_of_mode(unsigned mode) {
  constexpr const char* names[] = {"CU_TENSOR_MAP_SWIZZLE_NONE", "CU_TENSOR_MAP_SWIZZLE_32B",
                                   "CU_TENSOR_MAP_SWIZZLE_64B", "CU_TENSOR_MAP_SWIZZLE_128B"};
  return names[mode];
}

}  // namespace warpmeter::model::explain
