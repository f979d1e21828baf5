// SPDX-License-Identifier: MIT
// The main cost of each variant: explain's first finding of it, in the same words.
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "reports/explain/explained.h"
#include "reports/explain/sentences.h"
#include "reports/sections/sections.h"

namespace warpmeter::reports::sections {

const std::vector<ExplainedLaunch>& Source::explained() const {
  if (!explained_) {
    ExplainRequest request;
    request.run = run.id;
    request.top = 1;
    request.kinds = run.kinds;
    explained_ =
        run.launches.empty() ? std::vector<ExplainedLaunch>{} : read_explained(reader, request);
  }
  return *explained_;
}

void add_findings(Document& document, const Source& source) {
  const std::vector<ExplainedLaunch>& launches = source.explained();
  if (std::none_of(launches.begin(), launches.end(),
                   [](const ExplainedLaunch& launch) { return launch.found > 0; })) {
    return;
  }
  document.heading(2, findings_title);
  document.paragraph(
      "The first finding of each variant and size, of several launches of the worst; warpmeter "
      "explain says the others, and draws them.");
  std::vector<const ExplainedLaunch*> worst;  // the worst of each title, as they come
  std::map<std::string_view, std::size_t> places;
  for (const ExplainedLaunch& launch : launches) {
    if (launch.findings.empty()) continue;
    const auto [place, is_new] = places.try_emplace(launch.title, worst.size());
    if (is_new) worst.push_back(&launch);
    const ExplainedLaunch*& told = worst[place->second];
    if (launch.badness() > told->badness()) told = &launch;
  }
  std::size_t number = 0;
  for (const ExplainedLaunch* launch : worst) {
    const ExplainedFinding& finding = launch->findings.front();
    document.entry({++number, finding.place(), launch->title + ": " + finding_sentence(finding),
                    "Change", advice(finding, *launch)});
  }
}

}  // namespace warpmeter::reports::sections
