#include "collector/cli/profile_remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/utf8.h"
#include "collector/cli/arguments.h"
#include "collector/cli/profile_tables.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

KernelNameBase base_of(const std::string& word) {
  return word == "mangled"     ? KernelNameBase::mangled
         : word == "demangled" ? KernelNameBase::demangled
                               : KernelNameBase::function;
}

/// Names as the tables show them, each once: at most five, and how many more.
template <class Names>
std::string some_of(const Names& kernels, KernelNameBase base) {
  std::set<std::string> names;
  for (const std::string& kernel : kernels) names.insert(printable(shown_name(kernel, base)));
  const std::size_t shown = std::min<std::size_t>(names.size(), 5);
  const std::size_t more = names.size() - shown;
  return fmt::format(
      "{}{}",
      fmt::join(names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(shown)), ", "),
      more > 0 ? fmt::format(" and {} more", more) : "");
}

void show_tables(const ProfileRequest& request, const profile::Recorder& recorder) {
  const KernelNameBase base = base_of(request.name_base);
  if (!request.counts()) {
    if (!recorder.activities().empty()) say_line(summary_table(recorder.activities(), base));
  } else if (recorder.run_id()) {
    const schema::Reader reader(request.database);
    say_line(metrics_table(reader, *recorder.run_id(), shown_metrics(request.metrics), base));
  }
}

std::string in_words(const profile::Mismatch& mismatch, KernelNameBase base) {
  const std::string kernels = some_of(mismatch.kernels, base);
  if (!mismatch.counts) {
    return fmt::format(
        "{} launches have no clean time, for run {} of the program has no match for "
        "them: {}",
        mismatch.missing, mismatch.pass, kernels);
  }
  return fmt::format(
      "run {} of the program lacks {} launches of the first and has {} that the "
      "first has not, which is stored with them: {}",
      mismatch.pass, mismatch.missing, mismatch.additional, kernels);
}

void show_remarks(const ProfileRequest& request, const profile::Recorder& recorder) {
  for (const std::string& problem : recorder.problems())
    say_line("warpmeter: " + printable(problem));
  for (const auto& [reason, refusal] : recorder.refusals()) {
    say_line(fmt::format("warpmeter: {} launches of {} were not measured: {}", refusal.launches,
                         some_of(refusal.kernels, base_of(request.name_base)), printable(reason)));
  }
  for (const auto& [reason, failure] : recorder.failures()) {
    say_line(fmt::format("warpmeter: {} of {} failed: {}",
                         failure.launches == 1 ? std::string("a launch")
                                               : fmt::format("{} launches", failure.launches),
                         some_of(failure.kernels, base_of(request.name_base)), printable(reason)));
  }
  for (const profile::Mismatch& mismatch : recorder.mismatches()) {
    say_line("warpmeter: " + in_words(mismatch, base_of(request.name_base)));
  }
  if (recorder.lost_records() > 0) {
    say_line(fmt::format("warpmeter: CUPTI lost {} records, so the calls are too few",
                         recorder.lost_records()));
  }
  if (recorder.run_id()) {
    const std::string words[] = {"warpmeter",      "report", "--db",
                                 request.database, "--run",  std::to_string(*recorder.run_id())};
    say_line(fmt::format("warpmeter: {} launches of {}, run {} of {}\nnext: {}",
                         recorder.launches(),
                         std::filesystem::path(request.words.front()).filename().string(),
                         *recorder.run_id(), request.database, shell_line(words)));
  }
}

schema::RunOutcome outcome_of(const profile::Outcome& outcome) {
  if (outcome.cancelled || outcome.timed_out) return schema::RunOutcome::interrupted;
  return outcome.ending.ok() ? schema::RunOutcome::done : schema::RunOutcome::failed;
}

std::string reason_of(const ProfileRequest& request, const profile::Outcome& outcome) {
  if (outcome.timed_out) return fmt::format("ended after --timeout {}", request.timeout);
  if (outcome.cancelled) return "stopped by a signal";
  return outcome.ending.ok() ? "" : "the program " + outcome.ending.in_words();
}

/// Why nothing was measured. The program itself did well.
Error nothing_measured(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (!recorder.refusals().empty()) {
    return {ExitCode::no_hardware,
            "no launch could be measured: " + recorder.refusals().begin()->first};
  }
  if (!recorder.problems().empty()) {
    return {ExitCode::no_hardware, "nothing was measured: " + *recorder.problems().begin()};
  }
  if (!recorder.left_out().empty()) {
    return {ExitCode::nothing,
            fmt::format("no launch passed the filters; the program launched {}",
                        some_of(recorder.left_out(), base_of(request.name_base)))};
  }
  return {ExitCode::nothing,
          "no kernel was launched by this program or its children; is it the "
          "one that uses CUDA?"};
}

}  // namespace

void say_line(const std::string& text) {
  const std::string line = text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

ExitCode conclude(const ProfileRequest& request, const profile::Outcome& outcome,
                  profile::Recorder& recorder) {
  recorder.finish(outcome_of(outcome), reason_of(request, outcome));
  if (!request.quiet) {
    show_tables(request, recorder);
    show_remarks(request, recorder);
  }
  if (const std::string reason = reason_of(request, outcome); !reason.empty()) {
    say_line(fmt::format("warpmeter: {}; what was measured before is kept", reason));
    return static_cast<ExitCode>(outcome.ending.status());
  }
  if (recorder.launches() == 0) throw nothing_measured(request, recorder);
  return ExitCode::done;
}

}  // namespace warpmeter::cli
