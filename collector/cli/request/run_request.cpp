// SPDX-License-Identifier: MIT
#include "collector/cli/request/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/terminal.h"
#include "reports/best.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {

namespace {

/// True for more digits than a number has: a size all the same, one that nothing can hold.
bool is_huge(const std::string& size) {
  const std::string largest = std::to_string(INT64_MAX);
  const bool is_digits = size.find_first_not_of("0123456789") == std::string::npos;
  return is_digits && !size.empty() && size.front() != '0' &&
         (size.size() > largest.size() || (size.size() == largest.size() && size > largest));
}

}  // namespace

std::vector<std::int64_t> sizes_of(const RunRequest& request) {
  std::vector<std::int64_t> sizes;
  const bool is_short = std::any_of(request.words.begin(), request.words.end(),
                                    [](const auto& word) { return word.starts_with("-n"); });
  const char* const option = is_short ? "-n" : "--size";
  for (const std::string& text : request.sizes) {
    sizes.push_back(is_huge(text) ? INT64_MAX : whole_number(option, text, 1, INT64_MAX));
  }
  return sizes;
}

std::string naming_typed_size(std::string sentence, const RunRequest& request) {
  const std::string known = " " + std::to_string(INT64_MAX);
  const std::size_t found = sentence.find(known);
  const auto typed = std::find_if(request.sizes.begin(), request.sizes.end(), is_huge);
  if (found == std::string::npos || typed == request.sizes.end()) return sentence;
  return sentence.replace(found, known.size(), " " + *typed);
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
  if (request.check && !request.backend.blocks.empty()) {
    throw Error(ExitCode::usage,
                "--check looks at every block, and --blocks at some: leave one out");
  }
  if (request.pause_dcgm && request.backend.backend == "model") {
    throw Error(ExitCode::usage,
                "--pause-dcgm is for a GPU's counters, and -b model uses none: leave one out");
  }
  check_format(request.format, request.check && !request.dry_run);
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
    if (info == nullptr || info->has_counters()) options.metrics.push_back(metric);
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

namespace {

/// Words of a command line, of those options that were given.
struct GivenWords {
  std::vector<std::string> words;

  void add(const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  }
  void add_each(const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(option, value);
  }
  template <class Number>
  void add_number(const char* option, Number number, Number when_not_given) {
    if (number != when_not_given) add(option, fmt::format("{}", number));
  }
  void add_flag(const char* option, bool given) {
    if (given) words.emplace_back(option);
  }
};

}  // namespace

std::vector<std::string> words_of_launches(const RunRequest& request) {
  const FilesRequest& files = request.files;
  GivenWords given;
  given.add("--arch", request.backend.arch);
  given.add_each("--size", request.sizes);
  given.add("--kernel-name", files.kernel);
  given.add("--grid", files.grid);
  given.add("--block", files.block);
  given.add_number("--shared", files.shared, std::int64_t{0});
  given.add_each("--arg", files.arguments);
  given.add_each("--set", files.settings);
  given.add_each("--include", files.includes);
  given.add_each("--define", files.defines);
  given.add("--std", files.standard);
  given.add("--compiler", files.compiler);
  given.add("--cubin", files.cubin);
  given.add("--launches", request.launches);
  given.words.insert(given.words.end(), files.files.begin(), files.files.end());
  given.words.insert(given.words.end(), request.selectors.begin(), request.selectors.end());
  return std::move(given.words);
}

std::vector<std::string> words_of(const RunRequest& request) {
  GivenWords given;
  given.add("--backend", request.backend.backend);
  given.add("--device", request.backend.device);
  if (request.backend.counts != "auto") given.add("--counts", request.backend.counts);
  given.add_number("--timeout", request.backend.timeout_s, 0.0);
  given.add_number("--threads", request.backend.threads, std::int64_t{0});
  given.add("--blocks", request.backend.blocks);
  given.add_each("--shape", request.backend.shapes);
  given.add_each("--metrics", request.metrics);
  given.add_flag("--timing-only", request.timing_only);
  given.add_flag("--counters-only", request.counters_only);
  given.add("--cache", request.cache);
  given.add_number("--repeat", request.repeat, std::int64_t{1});
  given.add_number("--max-samples", request.max_samples, std::int64_t{0});
  given.add_number("--time-budget", request.time_budget, 0.0);
  given.add_number("--print-output", request.print_output, std::int64_t{0});
  const std::vector<std::string> launches = words_of_launches(request);
  given.words.insert(given.words.end(), launches.begin(), launches.end());
  return std::move(given.words);
}

void remark(const RunRequest& request, const std::string& text) {
  if (!request.quiet) say(text + "\n");
}

}  // namespace warpmeter::cli
