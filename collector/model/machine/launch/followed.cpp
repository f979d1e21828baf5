// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/followed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "collector/model/machine/launch/launch.h"

namespace warpmeter::model {
namespace {

/// The PTX line of an access that the machine code was not followed through as often as the model
/// executed it; 0: there is none. Accesses that the audit merged, or that act for several lanes,
/// say nothing. A line of a function stands in each place that the function is called from.
int line_that_differs(const Executions& executions, const Program& program,
                      const LaunchOutcome& outcome) {
  std::map<int, std::optional<std::uint64_t>> requests;  // the model counted, by line
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    const SiteInfo& site = program.sites[i];
    const bool is_plain = !site.is_apart && !site.is_atomic() && site.doubt.empty() &&
                          site.carrier == Carrier::registers && site.requests.size() == 1 &&
                          !site.requests[0].is_elected;
    const int line = program.places[site.instruction].ptx_line;
    std::optional<std::uint64_t>& sum = requests.try_emplace(line, 0).first->second;
    const SiteCounts& counts = outcome.counts[i];
    if (sum) *sum += counts.shared.requests + counts.global.requests;
    // A generic access of one warp may make requests of both.
    const bool is_mixed = counts.shared.requests != 0 && counts.global.requests != 0;
    if (!is_plain || is_mixed) sum.reset();
  }
  const auto differs = [&](const auto& of_line) {
    const auto found = requests.find(of_line.first);
    return of_line.second && found != requests.end() && found->second &&
           *found->second != *of_line.second;
  };
  const auto& followed = executions.requests;
  const auto found = std::find_if(followed.begin(), followed.end(), differs);
  return found == followed.end() ? 0 : found->first;
}

}  // namespace

void compare_requests(Executions& executions, const Program& program,
                      const LaunchOutcome& outcome) {
  if (!executions.doubt.empty()) return;
  const int line = line_that_differs(executions, program, outcome);
  if (line == 0) return;
  executions.doubt = fmt::format(
      "the access of line {} of the PTX is executed another number of times there", line);
  executions.of.clear();
}

}  // namespace warpmeter::model
