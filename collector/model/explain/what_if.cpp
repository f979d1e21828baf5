// SPDX-License-Identifier: MIT
#include "collector/model/explain/what_if.h"

#include <algorithm>
#include <array>
#include <bit>

#include "collector/model/explain/joined.h"
#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {
namespace {

/// Requests that are counted again for one layout, and paddings that are tried.
constexpr std::size_t most_evaluations = 1 << 15;
constexpr unsigned most_shift = 4;
/// The bytes of a lane of ldmatrix or stmatrix, whose bytes have to stay together; wmma's strides
/// are multiples of it.
constexpr std::uint32_t matrix_row_bytes = 16;

}  // namespace

Counted counted_as(const SiteInfo& site) {
  const bool is_load = site.kind == AccessKind::load;
  if (site.is_atomic()) return {&LayoutCost::atomic_wavefronts, &LayoutCost::atomic_requests};
  if (site.carrier == Carrier::matrix) {
    return is_load
               ? Counted{&LayoutCost::matrix_load_wavefronts, &LayoutCost::matrix_load_requests}
               : Counted{&LayoutCost::matrix_store_wavefronts, &LayoutCost::matrix_store_requests};
  }
  return is_load ? Counted{&LayoutCost::load_wavefronts, &LayoutCost::load_requests}
                 : Counted{&LayoutCost::store_wavefronts, &LayoutCost::store_requests};
}

WhatIf::WhatIf(const Subject& subject, const SharedArray& array)
    : subject_(subject), array_(array), copies_(subject, array), boxes_(subject, array) {
  element_ = 16;  // the narrowest access
  std::uint32_t widest = 1;
  number_of_site_.resize(subject.program.sites.size());
  for (std::size_t i = 0; i < array.sites.size(); ++i) {
    number_of_site_[array.sites[i]] = i;
    const SiteInfo& site = subject.site(array.sites[i]);
    element_ = std::min<std::uint32_t>(element_, site.width);
    widest = std::max<std::uint32_t>(widest, site.width);
    for (const Request& request : site.requests) {
      if (request.is_window || request.width > site.width) {
        merged_bytes_ = std::max<std::uint32_t>(merged_bytes_, request.width);
      }
    }
    has_stride_ |= site.has_stride;
    has_matrices_ |= site.has_stride || site.carrier == Carrier::matrix;
    if (site.carrier == Carrier::product || site.is_apart || site.retries) {
      impossible_ = "some of its accesses are of a kind whose change cannot be predicted";
    }
  }
  is_merged_ = merged_bytes_ != 0;
  merged_bytes_ = std::max(merged_bytes_, widest > element_ ? widest : 0);
  are_words_ = merged_bytes_ == 0 && are_words();
  narrowest_ = element_;
  if (array.element_bytes != 0) element_ = std::max(element_, array.element_bytes);
  if (has_matrices_) element_ = std::max(element_, matrix_row_bytes);
  find_members();
  find_copies();
  if (!array.is_whole) {
    impossible_ = "its accesses lie in more ways than are kept";
  }
}

/// An asynchronous copy of 8 or 16 bytes needs them together, and aligned as much, in any layout.
void WhatIf::find_copies() {
  for (const std::size_t number : array_.copies) {
    const SiteInfo& site = subject_.site(number);
    copied_ = std::max<std::uint32_t>(copied_, site.width);
    has_bulk_copies_ |= site.is_bulk;
  }
  if (!boxes_.impossible().empty()) impossible_ = boxes_.impossible();
  if (boxes_.are_there() && has_stride_) {
    impossible_ = "wmma reads it, whose lines are equally far apart in no swizzle";
  }
  if (array_.offset % copied_ != 0) impossible_ = "its copies are not aligned to its beginning";
}

bool WhatIf::are_alike(const Placed& first, const Placed& second) const {
  return first.site == second.site && first.pattern == second.pattern &&
         (first.place - second.place) % grain() == 0;
}

/// True if accesses that ptxas merged can stay so; else it makes each of its own.
bool WhatIf::keeps_merged(const Layout& layout) const {
  return layout.kind == Layout::Kind::as_is ||
         (layout.kind == Layout::Kind::boxes && !is_merged_) ||
         (layout.kind == Layout::Kind::padding && layout.amount * word % merged_bytes_ == 0);
}

std::vector<Layout> WhatIf::layouts(std::uint32_t row) const {
  std::vector<Layout> all;
  all.reserve(most_padding + most_shift + 3);
  if (boxes_.are_there()) {
    if (!boxes_.impossible().empty() || row != boxes_.row_bytes() || has_stride_) return all;
    for (const unsigned mode : boxes_.other_modes()) {
      all.push_back({Layout::Kind::boxes, row, mode});
    }
    return all;
  }
  if (row < word || row % kept() != 0 || row >= array_.bytes) return all;
  // A word may be added to each element of an array of structures; else whole elements are.
  const bool is_of_elements = array_.extents.size() == 1 && row == element_ && element_ > word;
  if (row % word == 0) {
    for (unsigned words = 1; words <= most_padding; ++words) {
      const std::uint32_t step = is_of_elements ? std::lcm(narrowest_, copied_) : kept();
      if (words * word % step == 0) {
        all.push_back({Layout::Kind::padding, row, words});
      }
    }
  }
  const bool is_innermost = !array_.extents.empty() &&
                            (is_of_elements || row == array_.extents.back() * array_.element_bytes);
  if (!members_.empty() && is_innermost && copied_ <= narrowest_) {
    const bool are_equal = std::all_of(members_.begin(), members_.end(), [&](const Member& one) {
      return one.bytes == members_[0].bytes;
    });
    all.push_back({Layout::Kind::members, array_.element_bytes, are_equal ? members_[0].bytes : 0});
  }
  if (is_of_elements || has_stride_ || has_bulk_copies_) return all;
  // A swizzle leads to any place of a row: the last one has to lie in the array too.
  const bool has_whole_rows =
      (array_.bytes + row - 1) / row * row <= std::max(array_.bytes, array_.declared);
  const std::uint32_t columns = row / swizzled();
  if (has_whole_rows && row % swizzled() == 0 && std::has_single_bit(columns) && columns >= 2) {
    const std::uint32_t last_row = (array_.bytes - 1) / row;
    for (unsigned shift = 0; shift <= most_shift && last_row >> shift != 0; ++shift) {
      all.push_back({Layout::Kind::swizzle, row, shift});
    }
  }
  if (has_matrices_) return all;
  if (array_.bytes % row == 0 && copied_ <= element_) {
    all.push_back({Layout::Kind::transpose, row, 0});
  }
  if (element_ >= 8 && copied_ <= word && copies_.sites().empty())
    all.push_back({Layout::Kind::split, row, 0});
  return all;
}

std::vector<std::uint32_t> WhatIf::rows() const {
  const bool has_boxes = boxes_.are_there() && boxes_.impossible().empty();
  return has_boxes ? std::vector{boxes_.row_bytes()} : row_lengths(subject_, array_);
}

std::vector<std::size_t> WhatIf::counted_sites() const {
  std::vector<std::size_t> sites = array_.sites;
  if (copies_.are_known()) {
    sites.insert(sites.end(), copies_.sites().begin(), copies_.sites().end());
  }
  return sites;
}

std::uint32_t WhatIf::bytes_of_padding(std::uint32_t row) const {
  std::uint32_t bytes = array_.extents.empty() ? 0 : array_.element_bytes;
  for (const std::uint32_t extent : array_.extents) bytes *= extent;
  bytes = std::max(bytes, array_.bytes);  // where not all of it is accessed
  return (bytes + row - 1) / row * word;
}

namespace {

/// Calls visit(begin, width) for what the machine takes of a part of an access that lies apart.
template <class Visit>
void take_part(const SiteInfo& site, std::uint32_t part, std::uint32_t size, Visit visit) {
  if (!makes_parts(site)) return visit(part, size);
  for (const Request& request : site.requests) {
    const auto offset = static_cast<std::uint32_t>(+request.offset);
    const std::uint32_t begin = std::max(part, offset);
    const std::uint32_t end = std::min(part + size, offset + request.width);
    if (begin < end) visit(begin, end - begin);
  }
}

}  // namespace

template <class Visit>
void WhatIf::for_each_member(const Placed& access, Visit visit) const {
  const SiteInfo& site = subject_.site(access.site);
  std::uint32_t at = access.place % array_.element_bytes;
  for (std::uint32_t part = 0; part < site.width;) {
    const auto member = std::find_if(members_.begin(), members_.end(),
                                     [&](const Member& one) { return at < one.begin + one.bytes; });
    const std::uint32_t bytes = std::min(member->begin + member->bytes - at, site.width - part);
    take_part(site, part, bytes, visit);
    part += bytes;
    at = (at + bytes) % array_.element_bytes;
  }
}

template <class Visit>
void WhatIf::for_each_request(const Moved& moved, const Placed& placed, Visit visit) const {
  const SiteInfo& site = subject_.site(placed.site);
  const Layout& layout = moved.layout();
  WarpAccess access;
  const auto make = [&](unsigned width, const auto& place) {
    access.mask = placed.pattern->mask;
    access.width = width;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      access.address[lane] =
          place(static_cast<std::uint32_t>(placed.place + placed.pattern->delta[lane]));
    }
  };
  if (layout.kind == Layout::Kind::split) {
    const std::uint32_t plane = array_.bytes / element_ * word;
    const Divisor element(element_);
    const auto take = [&](std::uint32_t begin, std::uint32_t width) {
      make(width, [&](std::uint32_t at) {
        const std::uint32_t byte = at + begin;
        const std::uint32_t number = element.quotient(byte);
        return (byte - number * element_) / word * plane + number * word;
      });
      visit(access);
    };
    for (std::uint32_t part = 0; part < site.width; part += word) take_part(site, part, word, take);
    return;
  }
  if (layout.kind == Layout::Kind::members) {
    for_each_member(placed, [&](std::uint32_t begin, std::uint32_t width) {
      make(width, [&](std::uint32_t at) { return moved(at + begin); });
      const bool is_elected = !site.requests.empty() && site.requests[0].is_elected;
      if (is_elected) access.mask &= ~access.mask + 1;
      visit(access);
    });
    return;
  }
  const bool is_apart = merged_bytes_ != 0 && !keeps_merged(layout);
  if (is_apart) {
    // Merged accesses, and vectors of PTX, are made element by element.
    make(site.width, moved);
    visit(access);
    return;
  }
  for (const Request& request : site.requests) {
    const std::uint32_t kept_bits = request.is_window ? ~(request.width - 1u) : ~0u;
    make(request.width, [&](std::uint32_t at) {
      return moved((at + static_cast<std::uint32_t>(request.offset)) & kept_bits);
    });
    if (request.is_elected) access.mask &= ~access.mask + 1;
    visit(access);
  }
}

std::vector<WarpAccess> WhatIf::requests(const Layout& layout, const Placed& placed) const {
  std::vector<WarpAccess> all;
  all.reserve(1);
  for_each_request(moved(layout), placed, [&](const WarpAccess& access) { all.push_back(access); });
  return all;
}

std::span<LayoutCost> WhatIf::costs(std::size_t count, const LayoutCost* as) const {
  std::pmr::polymorphic_allocator<> memory(&memory_);
  const std::size_t sites = array_.sites.size() + copies_.sites().size();
  const std::span made(memory.allocate_object<LayoutCost>(count), count);
  std::uint64_t* of_site = memory.allocate_object<std::uint64_t>(count * sites);
  for (LayoutCost& cost : made) {
    std::construct_at(&cost, as == nullptr ? LayoutCost() : *as);
    cost.of_site = {of_site, sites};
    if (as == nullptr) {
      std::fill_n(of_site, sites, 0);
    } else {
      std::copy(as->of_site.begin(), as->of_site.end(), of_site);
    }
    of_site += sites;
  }
  return made;
}

const LayoutCost* WhatIf::cost(const Layout& layout) const {
  if (!impossible_.empty()) return nullptr;
  const bool breaks = merged_bytes_ != 0 && !keeps_merged(layout);
  if (breaks && layout.kind != Layout::Kind::members) {
    // It has to be sure that ptxas can merge nothing any more, and that no vector of PTX is cut.
    if (layout.kind != Layout::Kind::padding || layout.amount % 2 == 0) return nullptr;
    for (const std::size_t site : array_.sites) {
      if (subject_.site(site).parts > 1) return nullptr;
    }
  }
  const Different& known = different(layout);
  if (known.accesses.size() > most_evaluations) return nullptr;
  if (!known.by_amount.empty()) return &known.by_amount[layout.amount];
  if (is_useless(layout, known.accesses)) {
    has_useless_ = true;
    return nullptr;
  }
  LayoutCost& cost = costs(1, known.of_rows).front();
  const Moved to = moved(layout);
  for (const Placed& access : known.accesses) add_cost(to, access, cost);
  add_copies(layout, cost);
  return &cost;
}

const WhatIf::Different& WhatIf::different(const Layout& layout) const {
  const bool is_padded = layout.kind == Layout::Kind::padding;
  if (layout.kind == Layout::Kind::boxes) {  // a few modes: each access is moved
    Different& all = different_[{layout.kind, layout.row, 1}];
    if (all.accesses.empty()) all.accesses = array_.accesses;
    return all;
  }
  if (is_padded && padded_.second != nullptr && padded_.first == layout.row) return *padded_.second;
  Likeness likeness;
  likeness.kind = layout.kind;
  likeness.height = (array_.bytes + layout.row - 1) / layout.row;
  likeness.element = element_;
  likeness.grain = grain();
  if (layout.kind == Layout::Kind::swizzle) {
    likeness.element = swizzled();
    // Where bits are turned those are alike that are so for every shift.
    likeness.rows = likeness.turns_bits()
                        ? likeness.height
                        : std::min(layout.row / swizzled() << layout.amount, likeness.height);
  }
  const auto [place, is_new] = different_.try_emplace({layout.kind, layout.row, likeness.rows});
  Different& known = place->second;
  if (is_padded) padded_ = {layout.row, &known};
  if (!is_new) return known;
  const auto [rows, are_new] = of_rows_.try_emplace(layout.row);
  OfRows& of_rows = rows->second;
  if (are_new) of_rows.lying.emplace(subject_, array_.accesses, layout.row);
  // A row that is padded moves as a whole, and one that is swizzled exchanges its banks.
  const bool keeps_rows = layout.kind == Layout::Kind::padding ||
                          (layout.kind == Layout::Kind::swizzle && std::has_single_bit(element_) &&
                           std::has_single_bit(kept()));
  likeness.has_rows = merged_bytes_ != 0 || !keeps_rows;
  known.accesses = of_rows.lying->different(likeness);
  if (!likeness.has_rows) known.of_rows = cost_in_rows(of_rows);
  count_amounts(layout, of_rows, known);
  return known;
}

const LayoutCost* WhatIf::cost_in_rows(OfRows& of_rows) const {
  if (of_rows.in_rows != nullptr) return of_rows.in_rows;
  LayoutCost& cost = costs(1, nullptr).front();
  const Moved to = moved({Layout::Kind::as_is, array_.bytes, 0});
  for (const Placed& access : of_rows.lying->different_in_rows(grain())) {
    add_cost(to, access, cost);
  }
  return of_rows.in_rows = &cost;
}

bool WhatIf::are_words() const {
  return std::all_of(array_.sites.begin(), array_.sites.end(), [&](std::size_t i) {
    const SiteInfo& site = subject_.site(i);
    return site.width == word && shared_access(site) != SharedAccess::atomic &&
           site.requests.size() == 1 && !site.requests[0].is_elected &&
           site.requests[0].offset == 0 && site.requests[0].width == word;
  });
}

namespace {

/// True if accesses by words lie in the same ones.
bool lie_in_the_same_words(const Placed& one, const Placed& other) {
  return one.place == other.place && one.pattern->mask == other.pattern->mask &&
         one.pattern->delta == other.pattern->delta;
}

}  // namespace

/// Counts all layouts of the kind and row at once, where each lane's request is a word and stays
/// one: the words are found once.
void WhatIf::count_amounts(const Layout& layout, OfRows& of_rows, Different& known) const {
  if (!are_words_ || layout.row % word != 0 || known.accesses.size() > most_evaluations) return;
  std::uint32_t last = 0;
  switch (layout.kind) {
    case Layout::Kind::padding:
      last = most_padding;
      break;
    case Layout::Kind::swizzle:
      if (element_ != word || swizzled() != word) return;
      last = most_shift;
      break;
    case Layout::Kind::transpose:
      if (element_ != word) return;
      break;
    case Layout::Kind::as_is:
    case Layout::Kind::split:
    case Layout::Kind::members:
    case Layout::Kind::boxes:
      return;
  }
  const Divisor row_length(layout.row);
  const std::uint32_t columns = layout.row / word;
  const std::uint32_t rows = (array_.bytes + layout.row - 1) / layout.row;
  known.by_amount = costs(last + 1, known.of_rows);
  RequestWords::ByPadding wavefronts{};
  const Placed* counted_last = nullptr;
  for (std::size_t i = 0; i < known.accesses.size(); ++i) {
    const Placed& access = known.accesses[i];
    // The same lanes often load a stored value.
    if (counted_last == nullptr || !lie_in_the_same_words(*counted_last, access)) {
      const RequestWords& words = words_of(of_rows, i, access, row_length);
      if (layout.kind == Layout::Kind::padding) {
        wavefronts = words.padded();
      } else {
        for (std::uint32_t amount = 0; amount <= last; ++amount) {
          wavefronts[amount] = layout.kind == Layout::Kind::swizzle
                                   ? words.swizzled(amount, columns)
                                   : words.transposed(rows, columns);
        }
      }
    }
    counted_last = &access;
    const std::size_t number = number_of_site_[access.site];
    const Counted counted = counted_as(subject_.site(access.site));
    for (std::uint32_t amount = 0; amount <= last; ++amount) {
      LayoutCost& cost = known.by_amount[amount];
      const std::uint64_t transactions = wavefronts[amount] * access.times;
      cost.of_site[number] += transactions;
      cost.*counted.wavefronts += transactions;
      cost.*counted.requests += access.times;
    }
  }
  for (std::uint32_t amount = 0; amount <= last; ++amount) {
    const bool is_tried = layout.kind != Layout::Kind::padding || amount * word % copied_ == 0;
    if (is_tried) add_copies({layout.kind, layout.row, amount}, known.by_amount[amount]);
  }
}

/// The kinds of layouts mostly tell the accesses of small arrays apart.
const RequestWords& WhatIf::words_of(OfRows& of_rows, std::size_t number, const Placed& access,
                                     const Divisor& row_length) {
  constexpr std::size_t most_kept = 16;
  if (of_rows.words.empty()) of_rows.words.reserve(4);
  const std::size_t at = std::min(number, most_kept);
  auto& [of, words] = of_rows.words.size() > at ? of_rows.words[at] : of_rows.words.emplace_back();
  const bool is_same = words && of.pattern == access.pattern && of.place == access.place;
  if (!is_same) {
    words.emplace(access, row_length);
    of = access;
  }
  return *words;
}

void WhatIf::add_copies(const Layout& layout, LayoutCost& cost) const {
  if (!copies_.are_known() || copies_.sites().empty()) return;
  const std::vector<CopyCost> of_site = copies_.with(moved(layout), cost.are_copies_measured);
  for (std::size_t i = 0; i < of_site.size(); ++i) {
    cost.of_site[array_.sites.size() + i] += of_site[i].wavefronts;
    cost.copy_wavefronts += of_site[i].wavefronts;
    if (!copies_.bypass_l1(i)) continue;
    cost.bypass_wavefronts += of_site[i].wavefronts;
    cost.bypass_sectors += of_site[i].sectors;
  }
}

void WhatIf::add_cost(const Moved& to, const Placed& access, LayoutCost& cost) const {
  const SiteInfo& site = subject_.site(access.site);
  std::uint64_t transactions = 0, count = 0;
  for_each_request(to, access, [&](const WarpAccess& request) {
    transactions += wavefronts_of(site, request).transactions * access.times;
    count += access.times;
  });
  const Counted counted = counted_as(site);
  cost.of_site[number_of_site_[access.site]] += transactions;
  cost.*counted.wavefronts += transactions;
  cost.*counted.requests += count;
}

}  // namespace warpmeter::model::explain
