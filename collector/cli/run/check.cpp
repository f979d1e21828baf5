// SPDX-License-Identifier: MIT
#include "collector/cli/run/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/output.h"
#include "base/with_noun.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/tables/findings_sarif.h"
#include "collector/cli/tables/findings_tables.h"
#include "collector/cli/tables/model_tables.h"
#include "collector/cli/terminal.h"
#include "reports/document.h"
#include "reports/table/number.h"

namespace warpmeter::cli {
namespace {

/// The checked launches, all together.
struct Seen {
  std::vector<ShownFinding> findings;
  model::check::Coverage coverage;
  std::vector<std::string> gaps;  ///< launches that could not be looked at, with the reason
  std::size_t launches = 0, failed = 0, all = 0;
};

void add(Seen& seen, const std::string& name, const model::CheckedLaunch& checked) {
  const std::vector<ShownFinding> shown = cli::shown_findings(checked.findings, name);
  seen.findings.insert(seen.findings.end(), shown.begin(), shown.end());
  const model::check::Coverage& of_launch = checked.coverage;
  seen.coverage.has_ended = seen.coverage.has_ended && of_launch.has_ended;
  seen.coverage.is_partial = seen.coverage.is_partial || of_launch.is_partial;
  seen.coverage.gaps.add(of_launch.gaps);
}

void show(const RunRequest& request, const Seen& seen) {
  const bool is_clean = seen.findings.empty() && seen.launches == seen.all;
  const std::string launches =
      seen.all == 1 ? "this launch" : "these " + with_noun(seen.all, "launch", "launches");
  const std::string coverage =
      fmt::format("{} in {} (this input): {}",
                  is_clean ? "Nothing was found of what was looked for" : "Looked for", launches,
                  coverage_text(seen.coverage, seen.gaps, request.verbose));
  Output output;
  if (request.format == sarif) {
    reports::SarifLog log = findings_sarif(seen.findings, false);
    log.notes.push_back(coverage);
    log.failures = seen.gaps;
    output.write(reports::render_sarif(log));
    return output.finish();
  }
  reports::Document document;
  if (!seen.findings.empty()) {
    document.table(findings_table(seen.findings, {.launch = true, .ptx_line = false}));
  }
  document.paragraph(coverage);
  const std::size_t width =
      is_terminal(STDOUT_FILENO) ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  output.write(reports::document_text(document, width));
  output.finish();
}

}  // namespace

void RunCheck::prepare(const RunRequest& request, BackendRequest& backend) {
  const auto refuse = [](bool is_given, const char* option, const char* why) {
    if (!is_given) return;
    throw Error(ExitCode::usage,
                fmt::format("--check looks for mistakes on the model, and {} {}: leave one out",
                            option, why));
  };
  const char* const measures = "asks for figures";
  refuse(request.backend.backend == "cupti", "-b cupti", "asks for the GPU");
  refuse(!request.backend.device.empty(), "--device", "asks for the GPU");
  refuse(request.lines, "--lines", measures);
  refuse(request.timing_only, "--timing-only", measures);
  refuse(request.counters_only, "--counters-only", measures);
  refuse(request.interleave, "--interleave", measures);
  refuse(!request.best.empty(), "--best", measures);
  refuse(!request.metrics.empty(), "--metrics", measures);
  refuse(!request.against.empty(), "--against", measures);
  refuse(request.watch, "--watch", measures);
  refuse(request.go_on, "--continue", "goes on with a run that measures");
  backend.backend = "model";
  backend.counters = true;
  backend.timing = false;
  backend.checked = [this](model::CheckedLaunch launch) { checked_.push_back(std::move(launch)); };
}

ExitCode RunCheck::run(const RunRequest& request, const run::Choice& choice, run::Backend& model) {
  Seen seen;
  for (const run::Selection& selection : choice.selections) {
    const kernels::Family& family = *selection.family;
    std::vector<std::int64_t> sizes = selection.sizes;
    if (request.sizes.empty() && sizes.size() > 1) {
      sizes = {*std::min_element(sizes.begin(), sizes.end())};
      remark(request, fmt::format("{} is checked at {}, its smallest size; -n chooses others",
                                  family.name, reports::grouped_number(sizes[0])));
    }
    for (const std::int64_t size : sizes) {
      for (const kernels::Variant* variant : selection.variants) {
        if (interrupted()) return ExitCode::nothing;
        const std::string name =
            fmt::format("{}/{}{}", family.name, variant->name,
                        family.has_sizes() ? " at " + reports::grouped_number(size) : "");
        const run::Launch launch{variant->image, variant->entry, variant->geometry(size),
                                 variant->library};
        const std::string unavailable =
            variant->failure.empty() ? model.launch_unavailable(launch) : "";
        std::string failure = variant->failure.empty() ? unavailable : variant->failure;
        checked_.clear();
        if (failure.empty()) {
          const kernels::Problem problem =
              variant->prepare ? variant->prepare(size) : family.prepare(size);
          failure = model.load(problem)->execute(launch).failure;
        }
        ++seen.all;
        if (!checked_.empty()) {
          ++seen.launches;
          add(seen, name, checked_.front());
        } else if (!interrupted()) {
          if (unavailable.empty()) ++seen.failed;
          seen.gaps.push_back(fmt::format("{}, which was not run: {}", name, failure));
        }
      }
    }
  }
  show(request, seen);
  const FindingCount count = count_of(seen.findings);
  if (count.mistakes > 0) throw Error(ExitCode::kernel, found_text(count));
  if (seen.failed > 0) return ExitCode::kernel;
  if (seen.launches == 0) return ExitCode::nothing;
  return ExitCode::done;
}

}  // namespace warpmeter::cli
