#include "collector/cli/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/terminal.h"
#include "reports/best.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {

std::vector<std::int64_t> sizes_of(const RunRequest& request) {
  std::vector<std::int64_t> sizes;
  for (const std::string& text : request.sizes) {
    // More digits than a number has is a size all the same: one that nothing can hold.
    const std::string largest = std::to_string(INT64_MAX);
    const bool is_digits = text.find_first_not_of("0123456789") == std::string::npos;
    const bool is_huge =
        is_digits && text.front() != '0' &&
        (text.size() > largest.size() || (text.size() == largest.size() && text > largest));
    sizes.push_back(is_huge ? INT64_MAX : whole_number("--size", text, 1, INT64_MAX));
  }
  return sizes;
}

void check_combinations(const RunRequest& request) {
  if (request.timing_only && request.counters_only) {
    throw Error(ExitCode::usage,
                "--timing-only and --counters-only leave nothing to measure: give one of them");
  }
  if (request.timing_only && !request.metrics.empty()) {
    throw Error(ExitCode::usage, "--timing-only reads no counters, so it takes no --metrics");
  }
  if (request.rounds != 0 && request.against.empty()) {
    throw Error(ExitCode::usage, "--rounds says how many turns --against takes: give that too");
  }
  if (request.interleave && request.counters_only) {
    throw Error(ExitCode::usage,
                "--interleave takes turns in timing, and --counters-only leaves it out");
  }
  if (request.watch && (!request.against.empty() || request.dry_run)) {
    throw Error(ExitCode::usage,
                "--watch runs again at every save: leave out --against and --dry-run");
  }
  if (request.go_on && (request.watch || !request.against.empty() || request.lines)) {
    throw Error(ExitCode::usage,
                "--continue goes on with one unfinished run: leave out --watch, --against and "
                "--lines");
  }
  if (request.lines && (request.watch || !request.against.empty() || request.dry_run)) {
    throw Error(ExitCode::usage,
                "--lines shows the lines of one finished run: leave out --watch, --against and "
                "--dry-run");
  }
  if (request.pause_dcgm && request.backend.backend == "model") {
    throw Error(ExitCode::usage,
                "--pause-dcgm is for a GPU's counters, and -b model uses none: leave one out");
  }
  reports::check_best(request.best);
  check_label(request.label);
}

void check_turns(const RunRequest& request, const run::Choice& choice) {
  if (!request.interleave || !request.against.empty()) return;
  const bool any = std::any_of(choice.selections.begin(), choice.selections.end(),
                               [](const run::Selection& s) { return s.variants.size() > 1; });
  if (any) return;
  throw Error(ExitCode::usage,
              "--interleave times the variants of a family in turns, and no family has two chosen: "
              "choose another, or name another build of warpmeter with --against");
}

run::Options session_options(const RunRequest& request) {
  run::Options options;
  if (!request.metrics.empty()) options.metrics = request.metrics;
  if (request.timing_only) options.metrics.clear();
  for (const std::string& metric : request.best) {
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
    if (info == nullptr || !info->is_timed) options.metrics.push_back(metric);
  }
  options.timing = !request.counters_only;
  options.interleave = request.interleave;
  options.repeat = static_cast<int>(request.repeat);
  options.cache = request.cache == "warm" ? schema::CacheState::warm : schema::CacheState::cold;
  run::StoppingRule& rule = options.stopping;
  if (request.max_samples > 0) {
    rule.max_samples = static_cast<int>(request.max_samples);
    rule.min_samples = std::min(rule.min_samples, rule.max_samples);
  }
  if (request.time_budget > 0)
    rule.time_budget = std::chrono::duration<double>(request.time_budget);
  return options;
}

std::vector<std::string> words_of(const RunRequest& request) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const auto add_number = [&](const char* option, auto number, auto when_not_given) {
    if (number != when_not_given) add(option, fmt::format("{}", number));
  };
  const auto add_flag = [&](const char* option, bool given) {
    if (given) words.emplace_back(option);
  };
  add("--backend", request.backend.backend);
  add("--device", request.backend.device);
  add("--arch", request.backend.arch);
  if (request.backend.counts != "auto") add("--counts", request.backend.counts);
  add_number("--timeout", request.backend.timeout_s, 0.0);
  add_number("--threads", request.backend.threads, 0);
  for (const std::string& shape : request.backend.shapes) add("--shape", shape);
  for (const std::string& size : request.sizes) add("--size", size);
  for (const std::string& metric : request.metrics) add("--metrics", metric);
  add_flag("--timing-only", request.timing_only);
  add_flag("--counters-only", request.counters_only);
  add("--cache", request.cache);
  add_number("--repeat", request.repeat, 1);
  add_number("--max-samples", request.max_samples, 0);
  add_number("--time-budget", request.time_budget, 0.0);
  add_number("--print-output", request.print_output, 0);
  add("--kernel-name", request.files.kernel);
  add("--grid", request.files.grid);
  add("--block", request.files.block);
  add_number("--shared", request.files.shared, 0);
  for (const std::string& argument : request.files.arguments) add("--arg", argument);
  for (const std::string& setting : request.files.settings) add("--set", setting);
  for (const std::string& folder : request.files.includes) add("--include", folder);
  for (const std::string& define : request.files.defines) add("--define", define);
  add("--std", request.files.standard);
  add("--compiler", request.files.compiler);
  add("--cubin", request.files.cubin);
  add("--launches", request.launches);
  words.insert(words.end(), request.files.files.begin(), request.files.files.end());
  words.insert(words.end(), request.selectors.begin(), request.selectors.end());
  return words;
}

void remark(const RunRequest& request, const std::string& text) {
  if (!request.quiet) say(text + "\n");
}

}  // namespace warpmeter::cli
