// SPDX-License-Identifier: MIT
// Where layouts put the bytes of an array, and what they are called.
#include <algorithm>
#include <bit>
#include <map>

#include "collector/model/explain/joined.h"
#include "collector/model/explain/what_if.h"
#include "collector/model/machine/warp/tensor_map.h"

namespace warpmeter::model::explain {

std::string Layout::name() const {
  switch (kind) {
    case Kind::as_is:
      return "as it is";
    case Kind::padding:
      return joined("padding ", amount);
    case Kind::swizzle:
      return amount == 0 ? "swizzle" : joined("swizzle >> ", amount);
    case Kind::transpose:
      return "transpose";
    case Kind::members:
      return "members apart";
    case Kind::boxes:
      return amount == 0 ? "box swizzle none" : joined("box swizzle ", box_chunk << amount, "B");
    case Kind::split:
      break;
  }
  return "split";
}

Moved::Moved(const Layout& layout, std::uint32_t element, std::uint32_t bytes,
             std::span<const Member> members)
    : layout_(layout), members_(members) {
  if (layout.kind == Layout::Kind::as_is || layout.kind == Layout::Kind::split) return;
  if (layout.kind == Layout::Kind::members) {
    row_ = Divisor(layout.row);
    rows_ = (bytes + layout.row - 1) / layout.row;
    return;
  }
  row_ = Divisor(layout.row);
  element_ = Divisor(element);
  if (layout.kind == Layout::Kind::swizzle) elements_ = Divisor(layout.row / element);
  rows_ = (bytes + layout.row - 1) / layout.row;
}

Moved::Moved(const Layout& layout, const TensorBoxes& boxes, std::uint32_t begin)
    : layout_(layout), boxes_(&boxes), begin_(begin) {}

std::uint32_t Moved::operator()(std::uint32_t offset) const {
  const std::uint32_t row = row_.quotient(offset), column = offset - row * layout_.row;
  switch (layout_.kind) {
    case Layout::Kind::padding:
      return offset + row * layout_.amount * word;
    case Layout::Kind::swizzle: {
      const std::uint32_t element = element_.quotient(column);
      const std::uint32_t other = element ^ elements_.remainder(row >> layout_.amount);
      return row * layout_.row + other * element_.number() + column - element * element_.number();
    }
    case Layout::Kind::transpose: {
      const std::uint32_t element = element_.quotient(column);
      return (element * rows_ + row) * element_.number() + column - element * element_.number();
    }
    case Layout::Kind::members: {
      const auto member = std::find_if(members_.begin(), members_.end(), [&](const Member& one) {
        return column < one.begin + one.bytes;
      });
      return member->begin * rows_ + member->bytes * row + column - member->begin;
    }
    case Layout::Kind::boxes:
      return boxes_->moved(begin_ + offset, layout_.amount) - begin_;
    case Layout::Kind::as_is:
    case Layout::Kind::split:
      break;
  }
  return offset;
}

/// Members are what the accesses take of a structure: an access of several is cut where others
/// begin or end. Where a site's lanes take different ones, all members are as wide as the
/// narrowest.
void WhatIf::find_members() {
  const std::uint32_t bytes = array_.element_bytes;
  const bool has_members =
      narrowest_ >= word && narrowest_ < bytes && bytes % narrowest_ == 0 && !has_matrices_;
  if (!has_members) return;
  std::vector<bool> is_cut(bytes + 1, false);
  is_cut[0] = is_cut[bytes] = true;
  std::map<std::size_t, std::uint32_t> begins;  // by site
  bool is_one_each = true;
  for (const Placed& access : array_.accesses) {
    for_each_lane(access.pattern->mask, [&](unsigned lane) {
      const auto place = static_cast<std::uint32_t>(access.place + access.pattern->delta[lane]);
      const std::uint32_t begin = place % bytes;
      const std::uint32_t end = begin + subject_.site(access.site).width;
      is_one_each &= end <= bytes && begins.try_emplace(access.site, begin).first->second == begin;
      if (is_one_each) is_cut[begin] = is_cut[end] = true;
    });
  }
  for (std::uint32_t begin = 0; begin < bytes;) {
    std::uint32_t end = begin + 1;
    while (!is_cut[end]) ++end;
    is_one_each &= std::has_single_bit(end - begin) && end - begin >= word;
    members_.push_back({begin, end - begin});
    begin = end;
  }
  if (is_one_each) return;
  members_.clear();
  for (std::uint32_t begin = 0; begin < bytes; begin += narrowest_) {
    members_.push_back({begin, narrowest_});
  }
}

}  // namespace warpmeter::model::explain
