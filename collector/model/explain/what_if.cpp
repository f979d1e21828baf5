#include "collector/model/explain/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "collector/model/explain/alike.h"
#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {
namespace {

/// Requests that are counted again for one layout, and paddings that are tried.
constexpr std::size_t most_evaluations = 1 << 15;
constexpr unsigned most_padding = 32;

}  // namespace

std::string Layout::name() const {
  switch (kind) {
    case Kind::as_is:
      return "as it is";
    case Kind::padding:
      return fmt::format("padding {}", amount);
    case Kind::swizzle:
      return amount == 0 ? "swizzle" : fmt::format("swizzle >> {}", amount);
    case Kind::transpose:
      return "transpose";
    case Kind::split:
      break;
  }
  return "split";
}

WhatIf::WhatIf(const Subject& subject, const SharedArray& array)
    : subject_(subject), array_(array) {
  element_ = 16;  // the narrowest access
  std::uint32_t widest = 1;
  for (const std::size_t index : array.sites) {
    const SiteInfo& site = subject.site(index);
    element_ = std::min<std::uint32_t>(element_, site.width);
    widest = std::max<std::uint32_t>(widest, site.width);
    for (const Request& request : site.requests) {
      if (request.is_window || request.width > site.width) {
        merged_bytes_ = std::max<std::uint32_t>(merged_bytes_, request.width);
      }
    }
    if (site.is_matrix || site.is_apart || site.retries) {
      impossible_ = "some of its accesses are of a kind whose change cannot be foretold";
    }
  }
  merged_bytes_ = std::max(merged_bytes_, widest > element_ ? widest : 0);
  narrowest_ = element_;
  if (array.element_bytes != 0) element_ = std::max(element_, array.element_bytes);
  if (!array.is_whole) {
    impossible_ = "its accesses lie in more ways than are kept";
  }
}

std::uint32_t WhatIf::moved(const Layout& layout, std::uint32_t offset) const {
  const std::uint32_t row = offset / layout.row, column = offset % layout.row;
  switch (layout.kind) {
    case Layout::Kind::padding:
      return offset + row * layout.amount * word;
    case Layout::Kind::swizzle: {
      const std::uint32_t elements = layout.row / element_;
      const std::uint32_t of_element = column % element_;
      const std::uint32_t other = column / element_ ^ (row >> layout.amount) % elements;
      return row * layout.row + other * element_ + of_element;
    }
    case Layout::Kind::transpose: {
      const std::uint32_t rows = (array_.bytes + layout.row - 1) / layout.row;
      return (column / element_ * rows + row) * element_ + column % element_;
    }
    case Layout::Kind::as_is:
    case Layout::Kind::split:
      break;
  }
  return offset;
}

/// Whether accesses that ptxas merged can stay so; else it makes each of its own.
bool WhatIf::keeps_merged(const Layout& layout) const {
  return layout.kind == Layout::Kind::as_is ||
         (layout.kind == Layout::Kind::padding && layout.amount * word % merged_bytes_ == 0);
}

std::vector<Layout> WhatIf::layouts(std::uint32_t row) const {
  std::vector<Layout> all;
  if (row < word || row % element_ != 0 || row >= array_.bytes) return all;
  // Of an array of structures a word may be added to each element; else whole elements are.
  const bool is_of_elements = array_.extents.size() == 1 && row == element_ && element_ > word;
  if (row % word == 0) {
    for (unsigned words = 1; words <= most_padding; ++words) {
      if (is_of_elements ? words * word % narrowest_ == 0 : words * word % element_ == 0) {
        all.push_back({Layout::Kind::padding, row, words});
      }
    }
  }
  if (is_of_elements) return all;
  if (std::has_single_bit(row / element_) && row / element_ >= 2) {
    for (unsigned shift = 0; shift <= 4; ++shift) {
      all.push_back({Layout::Kind::swizzle, row, shift});
    }
  }
  if (array_.bytes % row == 0) all.push_back({Layout::Kind::transpose, row, 0});
  if (element_ >= 8) all.push_back({Layout::Kind::split, row, 0});
  return all;
}

std::uint32_t WhatIf::more_bytes(const Layout& layout) const {
  if (layout.kind != Layout::Kind::padding) return 0;
  std::uint32_t bytes = array_.extents.empty() ? 0 : array_.element_bytes;
  for (const std::uint32_t extent : array_.extents) bytes *= extent;
  bytes = std::max(bytes, array_.bytes);  // where not all of it is accessed
  return (bytes + layout.row - 1) / layout.row * layout.amount * word;
}

std::vector<WarpAccess> WhatIf::requests(const Layout& layout, const Placed& placed) const {
  const SiteInfo& site = subject_.site(placed.site);
  std::vector<WarpAccess> all;
  const auto at = [&](unsigned lane) {
    return static_cast<std::uint32_t>(placed.place + placed.pattern->delta[lane]);
  };
  const auto add = [&](unsigned width, const auto& place) {
    WarpAccess& access = all.emplace_back();
    access.mask = placed.pattern->mask;
    access.width = width;
    access.address.fill(0);
    for_each_lane(access.mask, [&](unsigned lane) { access.address[lane] = place(lane); });
    return &access;
  };
  if (layout.kind == Layout::Kind::split) {
    const std::uint32_t plane = array_.bytes / element_ * word;
    for (std::uint32_t part = 0; part < site.width / word; ++part) {
      add(word, [&](unsigned lane) {
        const std::uint32_t byte = at(lane) + part * word;
        return byte % element_ / word * plane + byte / element_ * word;
      });
    }
    return all;
  }
  const bool is_apart = merged_bytes_ != 0 && !keeps_merged(layout);
  if (is_apart) {
    // What was merged, or is a vector in PTX, is made element by element.
    add(site.width, [&](unsigned lane) { return moved(layout, at(lane)); });
    return all;
  }
  for (const Request& request : site.requests) {
    WarpAccess* access = add(request.width, [&](unsigned lane) {
      std::uint32_t place = at(lane) + static_cast<std::uint32_t>(request.offset);
      if (request.is_window) place &= ~(request.width - 1u);
      return moved(layout, place);
    });
    if (request.is_elected) access->mask &= ~access->mask + 1;
  }
  return all;
}

std::optional<LayoutCost> WhatIf::cost(const Layout& layout) const {
  if (!impossible_.empty()) return std::nullopt;
  const bool breaks = merged_bytes_ != 0 && !keeps_merged(layout);
  if (breaks) {
    // It has to be sure that ptxas can merge nothing any more, and that no vector of PTX is cut.
    if (layout.kind != Layout::Kind::padding || layout.amount % 2 == 0) return std::nullopt;
    for (const std::size_t site : array_.sites) {
      if (subject_.site(site).parts > 1) return std::nullopt;
    }
  }
  const std::vector<Placed>& accesses = different(layout);
  if (accesses.size() > most_evaluations) return std::nullopt;
  return cost_of(layout, accesses);
}

/// Wavefronts of the known accesses of these sites, beyond one a request.
std::uint64_t WhatIf::beyond_requests(const Layout& layout,
                                      const std::vector<std::size_t>& sites) const {
  std::uint64_t beyond = 0;
  for (const Placed& access : array_.accesses) {
    if (std::find(sites.begin(), sites.end(), access.site) == sites.end()) continue;
    for (const WarpAccess& request : requests(layout, access)) {
      beyond +=
          (wavefronts_of(subject_.site(access.site), request).transactions - 1) * access.times;
    }
  }
  return beyond;
}

bool WhatIf::may_help(const std::vector<std::size_t>& sites) const {
  const std::uint64_t now = beyond_requests({Layout::Kind::as_is, array_.bytes, 0}, sites);
  for (const std::uint32_t row : row_lengths(subject_, array_)) {
    for (const Layout& layout : layouts(row)) {
      if (2 * beyond_requests(layout, sites) <= now) return true;
    }
  }
  return false;
}

const std::vector<Placed>& WhatIf::different(const Layout& layout) const {
  const bool has_period = layout.kind == Layout::Kind::swizzle;
  const std::uint32_t rows = has_period ? layout.row / element_ << layout.amount : 1;
  const auto [known, is_new] = different_.try_emplace({layout.kind, layout.row, rows});
  if (is_new) {
    known->second = different_accesses(subject_, array_.accesses,
                                       {.kind = layout.kind,
                                        .row = layout.row,
                                        .rows = rows,
                                        .height = (array_.bytes + layout.row - 1) / layout.row,
                                        .element = element_,
                                        .grain = std::max(word, merged_bytes_)});
  }
  return known->second;
}

LayoutCost WhatIf::cost_of(const Layout& layout, const std::vector<Placed>& accesses) const {
  LayoutCost cost;
  cost.of_site.resize(array_.sites.size());
  std::map<std::size_t, std::size_t> index_of;
  for (std::size_t i = 0; i < array_.sites.size(); ++i) index_of[array_.sites[i]] = i;
  for (const Placed& access : accesses) {
    const SiteInfo& site = subject_.site(access.site);
    std::uint64_t transactions = 0, count = 0;
    for (const WarpAccess& request : requests(layout, access)) {
      transactions += wavefronts_of(site, request).transactions * access.times;
      count += access.times;
    }
    cost.of_site[index_of[access.site]] += transactions;
    if (site.is_atomic()) {
      cost.atomic_wavefronts += transactions;
      cost.atomic_requests += count;
    } else if (site.kind == AccessKind::load) {
      cost.load_wavefronts += transactions;
      cost.load_requests += count;
    } else {
      cost.store_wavefronts += transactions;
      cost.store_requests += count;
    }
  }
  return cost;
}

}  // namespace warpmeter::model::explain
