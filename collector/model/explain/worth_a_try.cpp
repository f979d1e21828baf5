// SPDX-License-Identifier: MIT
// A sample of an array's accesses says whether layouts are worth a try on all of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/explain/what_if.h"
#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {
namespace {

/// Where there are twice as many accesses or more, at least so many say first whether a layout is
/// worth counting: it saves this part of the wavefronts beyond the fewest, half of what is advised.
constexpr std::size_t sampled_accesses = 512;
constexpr double least_sampled_saving = 0.1;

/// Calls visit(access) for all, or for a sample that is spread over sites, patterns and places.
template <class Visit>
void for_each_sampled(const std::vector<Placed>& accesses, Visit visit) {
  // Odd: places in turn lie in other banks.
  const std::size_t step = (std::max<std::size_t>(accesses.size() / sampled_accesses, 2) - 1) | 1;
  for (std::size_t i = 0; i < accesses.size(); i += step) visit(accesses[i]);
}

}  // namespace

/// True for many accesses of which a sample says that the layout saves next to nothing.
bool WhatIf::is_useless(const Layout& layout, const std::vector<Placed>& accesses) const {
  if (copies_.are_known() && copies_.have_conflicts()) return false;
  if (layout.kind == Layout::Kind::as_is || accesses.size() < 2 * sampled_accesses) return false;
  const Layout as_is{Layout::Kind::as_is, array_.bytes, 0};
  double now = 0, fewest = 0, then = 0;
  for_each_sampled(accesses, [&](const Placed& access) {
    const auto times = static_cast<double>(access.times);
    const auto cost_of = [&](const WarpAccess& request) {
      return wavefronts_of(subject_.site(access.site), request);
    };
    for (const WarpAccess& request : requests(as_is, access)) {
      const Cost cost = cost_of(request);
      now += cost.transactions * times;
      fewest += cost.ideal * times;
    }
    for (const WarpAccess& request : requests(layout, access)) {
      then += cost_of(request).transactions * times;
    }
  });
  return now - then < least_sampled_saving * (now - fewest);
}

/// Wavefronts of the known accesses of these sites, beyond one a request.
std::uint64_t WhatIf::beyond_requests(const Layout& layout,
                                      const std::vector<std::size_t>& sites) const {
  std::uint64_t beyond = 0;
  for_each_sampled(array_.accesses, [&](const Placed& access) {
    if (std::find(sites.begin(), sites.end(), access.site) == sites.end()) return;
    for (const WarpAccess& request : requests(layout, access)) {
      beyond +=
          (wavefronts_of(subject_.site(access.site), request).transactions - 1) * access.times;
    }
  });
  return beyond;
}

bool WhatIf::may_help(const std::vector<std::size_t>& sites) const {
  const std::uint64_t now = beyond_requests({Layout::Kind::as_is, array_.bytes, 0}, sites);
  for (const std::uint32_t row : rows()) {
    for (const Layout& layout : layouts(row)) {
      if (2 * beyond_requests(layout, sites) <= now) return true;
    }
  }
  return false;
}

}  // namespace warpmeter::model::explain
