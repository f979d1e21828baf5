// What costs each variant most: explain's first finding of it, in the same words.
#include <algorithm>
#include <set>

#include "reports/explain/explained.h"
#include "reports/explain/sentences.h"
#include "reports/sections/sections.h"

namespace warpmeter::reports::sections {

const std::vector<ExplainedLaunch>& Source::explained() const {
  if (!explained_) {
    ExplainRequest request;
    request.run = run.id;
    request.top = 1;
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
      "The first finding of each variant and size; warpmeter explain says the others, and draws "
      "them.");
  std::set<std::string> said;
  for (const ExplainedLaunch& launch : launches) {
    if (launch.findings.empty() || !said.insert(launch.title).second) continue;
    const ExplainedFinding& finding = launch.findings.front();
    document.entry({said.size(), finding.place(), launch.title + ": " + finding_sentence(finding),
                    "Change", advice(finding, launch)});
  }
}

}  // namespace warpmeter::reports::sections
