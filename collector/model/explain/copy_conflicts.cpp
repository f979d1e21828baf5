// SPDX-License-Identifier: MIT
#include "collector/model/explain/copy_conflicts.h"

#include <algorithm>
#include <map>

#include "collector/model/counts/source_lines.h"

namespace warpmeter::model::explain {
namespace {

/// The sites of one line.
struct CopyGroup {
  std::vector<std::size_t> sites;
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
};

}  // namespace

std::vector<std::size_t> copy_sites(const Subject& subject, const SharedArray& array) {
  std::vector<std::size_t> sites;
  for (const std::size_t site : array.copies) {
    const SiteInfo& info = subject.site(site);
    if (info.carrier == Carrier::copy && info.kind == AccessKind::store) sites.push_back(site);
  }
  return sites;
}

void find_copy_conflicts(const Subject& subject, const SharedArray& array,
                         std::vector<Weighed>& found) {
  std::map<SourceLine, CopyGroup> groups;
  for (const std::size_t index : copy_sites(subject, array)) {
    const SiteInfo& site = subject.site(index);
    const AccessCounts& counts = subject.outcome.counts[index].shared;
    CopyGroup& group = groups[line_of(subject, subject.place(site))];
    group.sites.push_back(index);
    group.requests += counts.requests;
    group.transactions += counts.transactions;
    group.ideal += counts.ideal;
  }
  const auto all = static_cast<double>(transactions_of(subject.outcome, true));
  for (const auto& [line, group] : groups) {
    if (group.transactions <= group.ideal) continue;
    const auto excess = static_cast<double>(group.transactions - group.ideal);
    if (excess * cycles_of_wavefront < least_told(subject)) continue;
    Weighed& weighed = found.emplace_back();
    weighed.cycles = excess * cycles_of_wavefront;
    schema::Finding& finding = weighed.finding;
    finding.kind = "bank_conflict";
    locate(subject, subject.place(subject.site(group.sites.front())), finding);
    finding.object = array.name;
    finding.access = access_name(subject.site(group.sites.front()), AddressSpace::shared);
    finding.requests = group.requests;
    finding.transactions = group.transactions;
    finding.ideal = group.ideal;
    finding.share = excess / all;
    finding.share_of = "the launch's shared wavefronts";
    finding.evidence = copy_in_words;
    finding.evidence += " No layout was counted for them: they lie in more ways than are kept.";
    finding.grade = schema::Grade::exact;
    for (const std::size_t site : group.sites) {
      weaken(subject, site, AddressSpace::shared, finding);
    }
  }
}

}  // namespace warpmeter::model::explain
