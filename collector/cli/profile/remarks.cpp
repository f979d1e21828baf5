// SPDX-License-Identifier: MIT
#include "collector/cli/profile/remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "base/utf8.h"
#include "base/with_noun.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/profile/shown_tables.h"
#include "collector/cli/profile/source_folders.h"
#include "collector/cli/tables/findings_sarif.h"
#include "collector/cli/tables/findings_tables.h"
#include "collector/cli/tables/lines_tables.h"
#include "collector/cli/tables/profile_tables.h"
#include "collector/cli/terminal.h"
#include "collector/model/check/coverage.h"
#include "reports/disturbances.h"
#include "reports/document.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// At most five, and how many more.
std::string some_of(const std::set<std::string>& all) {
  std::set<std::string> names;
  for (const std::string& one : all) names.insert(printable(one));
  const std::size_t shown = std::min<std::size_t>(names.size(), 5);
  const std::size_t more = names.size() - shown;
  return fmt::format(
      "{}{}",
      fmt::join(names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(shown)), ", "),
      more > 0 ? fmt::format(" and {} more", more) : "");
}

/// The first kernels of a list: names as the tables show them, each once, in quotation marks, for
/// a kernel may be called as a word of the sentence.
template <class Names>
std::string some_of(const Names& kernels, KernelNameBase base) {
  std::set<std::string> names;
  for (const std::string& kernel : kernels) {
    names.insert(fmt::format("'{}'", shown_name(kernel, base)));
  }
  return some_of(names);
}

std::vector<ShownFinding> shown_findings(const profile::Recorder& recorder) {
  std::vector<ShownFinding> shown;
  for (const inject::Finding& finding : recorder.findings()) {
    ShownFinding& row = shown.emplace_back();
    row.finding = finding.kind;
    row.place = finding.where;
    row.is_remark = finding.is_remark;
    row.times = finding.times;
    row.message = finding.message;
    row.other = finding.other;
  }
  return shown;
}

/// How a program was looked at.
struct Looked {
  profile::Recorder::Coverage checked;
  std::uint64_t not_run = 0;         ///< launches whose kernels the model cannot execute
  bool was_refused = false;          ///< a launch, by the API
  std::set<std::string> unobserved;  ///< programs that were started, and nothing was told of
};

/// A program that was killed before it called anything has told nothing of itself.
Looked looked_of(const profile::Recorder& recorder, const profile::Outcome& outcome) {
  Looked looked{recorder.checked(), recorder.not_run(), !recorder.refused().empty(), {}};
  const bool was_killed = outcome.ending.signal != 0;
  if (was_killed && looked.checked.unended == 0) looked.checked.unended = 1;
  for (const auto& [program, why] : recorder.unobserved()) looked.unobserved.insert(program);
  return looked;
}

/// The gaps of the check, whatever the findings are.
std::vector<std::string> gaps_of(const Looked& looked) {
  const profile::Recorder::Coverage& checked = looked.checked;
  std::vector<std::string> gaps;
  const auto add = [&](std::uint64_t count, const char* one, const char* several) {
    if (count > 0) gaps.push_back(count == 1 ? one : fmt::format("{} {}", count, several));
  };
  add(checked.refused, "a launch or call that the model could not answer or follow",
      "launches and calls that the model could not answer or follow");
  add(checked.unended, "what a process would have done that did not come to its end in order",
      "processes that did not come to their ends in order");
  if (!looked.unobserved.empty()) {
    gaps.push_back(fmt::format("what these programs do, which were started and not observed: {}",
                               some_of(looked.unobserved)));
  }
  return gaps;
}

/// The coverage of a program's findings: never a bare "no mistake".
std::string checked_text(const Looked& by, bool has_findings, bool is_verbose) {
  const profile::Recorder::Coverage& checked = by.checked;
  model::check::Coverage coverage;
  coverage.is_program = true;
  coverage.has_ended = checked.stopped == 0;
  coverage.is_partial = checked.partial > 0;
  coverage.gaps = model::check::Gaps(checked.gaps);
  const std::uint64_t launches = checked.launches + checked.stopped;
  const bool is_whole = checked.stopped == 0 && checked.refused == 0 && checked.partial == 0 &&
                        checked.unended == 0 && by.unobserved.empty();
  const char* without_launches =
      by.not_run > 0        ? "the program, none of whose launches could run"
      : checked.refused > 0 ? "the program, none of whose launches could be followed"
      : by.was_refused      ? "the program, all of whose launches were refused"
                            : "the program, which launched nothing";
  return fmt::format(
      "{} in {} (this input): {}",
      is_whole && !has_findings ? "Nothing was found of what was looked for" : "Looked for",
      launches == 1   ? "the program and its one launch"
      : launches == 0 ? without_launches
                      : "the program and its " + with_noun(launches, "launch", "launches"),
      coverage_text(coverage, gaps_of(by), is_verbose));
}

/// In the format and at the place that were asked for. Other tables, where there are any, have both
/// for themselves: the findings are then text on standard error.
void show_findings(const ProfileRequest& request, const profile::Recorder& recorder,
                   const profile::Outcome& outcome) {
  const std::vector<ShownFinding> findings = shown_findings(recorder);
  const reports::Table table = findings_table(findings, {});
  const Looked looked = looked_of(recorder, outcome);
  const std::string coverage = checked_text(looked, !findings.empty(), request.verbose);
  reports::Document document;
  if (!findings.empty()) document.table(table);
  document.paragraph(coverage);
  const bool has_place = !request.counts() && !request.traces();
  if (request.quiet && (request.output.empty() || !has_place)) return;
  if (request.format == sarif) {
    reports::SarifLog log = findings_sarif(findings, true);
    log.notes.push_back(coverage);
    log.failures = gaps_of(looked);
    return write_tables(request, reports::render_sarif(log));
  }
  const reports::Format format = *reports::parse_format(request.format);
  if (has_place && format != reports::Format::table) {
    return write_tables(request, render(table, format));
  }
  if (has_place && !request.output.empty()) {
    return write_tables(request, reports::document_text(document, 0) + "\n");
  }
  const bool is_wide = is_terminal(STDERR_FILENO);
  say_line(reports::document_text(
      document, is_wide ? static_cast<std::size_t>(terminal_width(STDERR_FILENO)) : 0));
}

void show_lines(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (!request.lines || !recorder.run_id()) return;
  const bool is_wide = is_terminal(STDERR_FILENO);
  const std::string text = lines_text(
      schema::Reader(request.database), *recorder.run_id(), ShownLaunches::worst_of_kernel,
      is_wide ? static_cast<std::size_t>(terminal_width(STDERR_FILENO)) : 0);
  say_line(text.empty() ? "warpmeter: no launch has lines" : text);
}

std::string in_words(const profile::Mismatch& mismatch, KernelNameBase base) {
  const std::string kernels = some_of(mismatch.kernels, base);
  if (!mismatch.counts) {
    return fmt::format(
        "{} no clean time, for run {} of the program has no match for "
        "them: {}",
        with_noun(mismatch.missing, "launch has", "launches have"), mismatch.pass, kernels);
  }
  return fmt::format(
      "run {} of the program lacks {} of the first and has {} that the "
      "first has not, which is stored with them: {}",
      mismatch.pass, with_noun(mismatch.missing, "launch", "launches"), mismatch.additional,
      kernels);
}

std::string launches_in_words(std::uint64_t launches) {
  return launches == 1 ? "a launch" : with_noun(launches, "launch", "launches");
}

/// True if the table of --check says it, so that no remark has to.
bool is_shown_finding(const ProfileRequest& request, const profile::Recorder& recorder,
                      const std::string& text) {
  return request.checks && !request.quiet && recorder.is_in_finding(text);
}

void show_failures(const ProfileRequest& request, const profile::Recorder& recorder) {
  for (const auto& [reason, failure] : recorder.failures()) {
    if (is_shown_finding(request, recorder, reason)) continue;
    say_line(fmt::format("warpmeter: {} of {} failed: {}", launches_in_words(failure.launches),
                         some_of(failure.kernels, base_of(request.name_base)), printable(reason)));
  }
}

/// "3 launches were refused"
std::string refused_in_words(std::uint64_t launches) {
  return fmt::format("{} {} refused", launches_in_words(launches), launches == 1 ? "was" : "were");
}

void show_refused(const ProfileRequest& request, const profile::Recorder& recorder) {
  for (const auto& [reason, launches] : recorder.refused()) {
    if (is_shown_finding(request, recorder, reason)) continue;
    say_line(fmt::format("warpmeter: {}: {}", refused_in_words(launches), printable(reason)));
  }
}

void show_remarks(const ProfileRequest& request, const profile::Recorder& recorder,
                  const schema::Reader* reader) {
  for (const auto* texts : {&recorder.problems(), &recorder.remarks()}) {
    for (const std::string& text : *texts) say_line("warpmeter: " + printable(text));
  }
  for (const auto& [program, why] : recorder.unobserved()) {
    say_line(fmt::format("warpmeter: {} was not observed: {}", printable(program), printable(why)));
  }
  for (const auto& [reason, refusal] : recorder.refusals()) {
    say_line(fmt::format("warpmeter: {} of {} {} not measured: {}",
                         launches_in_words(refusal.launches),
                         some_of(refusal.kernels, base_of(request.name_base)),
                         refusal.launches == 1 ? "was" : "were", printable(reason)));
  }
  show_refused(request, recorder);
  show_failures(request, recorder);
  for (const profile::Mismatch& mismatch : recorder.mismatches()) {
    say_line("warpmeter: " + in_words(mismatch, base_of(request.name_base)));
  }
  if (recorder.lost_records() > 0) {
    say_line(fmt::format("warpmeter: CUPTI lost {}, so the calls are too few",
                         with_noun(recorder.lost_records(), "record")));
  }
  if (reader != nullptr) {
    const std::string unread = unread_sources(*reader, *recorder.run_id(),
                                              source_folders(request.words, request.source_roots));
    if (!unread.empty()) say_line("warpmeter: " + unread);
    const std::string felt =
        reports::felt_in_words(reports::disturbances_of(*reader, *recorder.run_id()));
    if (!felt.empty()) say_line("warpmeter: times may be disturbed: " + printable(felt));
    const auto command = [&](const char* name) {
      const std::string words[] = {"warpmeter",      name,    "--db",
                                   request.database, "--run", std::to_string(*recorder.run_id())};
      return shell_line(words);
    };
    const schema::Rows explained =
        reader->query("SELECT 1 FROM explanations WHERE run_id = :run AND reason IS NULL LIMIT 1",
                      {{":run", *recorder.run_id()}});
    const std::string also = explained.rows.empty() ? "" : "\n      " + command("explain");
    say_line(fmt::format("warpmeter: {} of {}, run {} of {}\nnext: {}{}",
                         with_noun(recorder.launches(), "launch", "launches"),
                         std::filesystem::path(request.words.front()).filename().string(),
                         *recorder.run_id(), request.database, command("report"), also));
  }
}

/// The first calls that failed, where the program ended badly or launched nothing. A call that the
/// model alone may refuse is named in any case.
void show_failed_calls(const ProfileRequest& request, const profile::Outcome& outcome,
                       const profile::Recorder& recorder) {
  constexpr std::size_t most_shown = 3;
  std::vector<std::string> shown;
  for (const inject::FailedCall& failed : recorder.failed_calls()) {
    const bool matters =
        failed.is_of_model || !outcome.ending.ok() || recorder.launches() == recorder.not_run();
    if (!matters || is_shown_finding(request, recorder, failed.call)) continue;
    if (!recorder.is_told(failed)) shown.push_back(failed.call);
  }
  for (std::size_t i = 0; i < std::min(shown.size(), most_shown); ++i) {
    say_line(fmt::format("warpmeter: {} CUDA call that failed: {}", i == 0 ? "first" : "next",
                         printable(shown[i])));
  }
  if (shown.size() > most_shown) {
    say_line(fmt::format("warpmeter: {} other CUDA calls failed", shown.size() - most_shown));
  }
}

schema::RunOutcome outcome_of(const profile::Outcome& outcome, const profile::Recorder& recorder) {
  if (outcome.cancelled || outcome.timed_out) return schema::RunOutcome::interrupted;
  const bool is_done = outcome.ending.ok() && recorder.failures().empty();
  return is_done ? schema::RunOutcome::done : schema::RunOutcome::failed;
}

/// Empty: the program ended by itself, and well.
std::string reason_of(const ProfileRequest& request, const profile::Outcome& outcome,
                      const profile::Recorder& recorder) {
  std::string ended = outcome.timed_out   ? fmt::format("ended after --timeout {}", request.timeout)
                      : outcome.cancelled ? "stopped by a signal"
                      : outcome.ending.ok() ? ""
                                            : "the program " + outcome.ending.in_words();
  if (ended.empty() || recorder.cut_off().empty()) return ended;
  return fmt::format("{} while {} ran", ended,
                     some_of(recorder.cut_off(), base_of(request.name_base)));
}

/// The first of the launches that failed; empty: none has.
std::string failure_of(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (recorder.failures().empty()) return "";
  const auto& [reason, failure] = *recorder.failures().begin();
  return fmt::format("{} of {} failed: {}", launches_in_words(failure.launches),
                     some_of(failure.kernels, base_of(request.name_base)), reason);
}

/// Why nothing was measured.
Error nothing_measured(const ProfileRequest& request, const profile::Outcome& outcome,
                       const profile::Recorder& recorder) {
  const char* verb = request.checks && !request.counts() ? "checked" : "measured";
  if (recorder.not_run() > 0) {
    // Otherwise it was among the remarks.
    const std::string why = request.quiet ? failure_of(request, recorder) : "";
    return {ExitCode::nothing, fmt::format("nothing was {}: no launch of the program could run{}{}",
                                           verb, why.empty() ? "" : "; ", printable(why))};
  }
  if (!recorder.refusals().empty()) {
    return {ExitCode::no_hardware,
            "no launch could be measured: " + recorder.refusals().begin()->first};
  }
  if (!recorder.problems().empty()) {
    return {ExitCode::no_hardware, "nothing was measured: " + *recorder.problems().begin()};
  }
  if (!recorder.cut_off().empty()) {
    return {ExitCode::nothing, "no chosen launch had come to its end"};
  }
  if (recorder.never_started() > 0) {
    return {ExitCode::nothing,
            "nothing was measured: the program never called cudaProfilerStart, and --from-start "
            "off waits for it"};
  }
  if (!recorder.left_out().empty()) {
    return {ExitCode::nothing,
            fmt::format("no launch passed the filters; the program launched {}",
                        some_of(recorder.left_out(), base_of(request.name_base)))};
  }
  if (!recorder.refused().empty()) {
    const auto& [reason, launches] = *recorder.refused().begin();
    return {ExitCode::nothing,
            fmt::format("nothing was {}: every launch of the program was refused{}", verb,
                        request.quiet
                            ? fmt::format("; {}: {}", refused_in_words(launches), printable(reason))
                            : "")};
  }
  if (outcome.faulty > 0) {
    return {ExitCode::nothing,
            fmt::format("nothing was {} before a process sent what makes no sense", verb)};
  }
  if (outcome.lost > 0) {
    return {ExitCode::nothing,
            fmt::format("nothing was {} before the connection to the program was lost", verb)};
  }
  if (outcome.unended > 0) {
    return {ExitCode::nothing,
            fmt::format("nothing was {} before a process ended out of order (it was killed, called "
                        "_exit(), or had closed our connection to it)",
                        verb)};
  }
  if (recorder.has_met_any()) return {ExitCode::nothing, "the program launched no kernel"};
  return {ExitCode::nothing,
          "no kernel was launched by this program or its children; is it the "
          "one that uses CUDA?"};
}

/// True of a program that launches nothing, all of whose calls were checked.
bool are_calls_checked(const ProfileRequest& request, const profile::Recorder& recorder) {
  const profile::Recorder::Coverage checked = recorder.checked();
  return request.checks && !request.counts() && recorder.launches() == 0 &&
         recorder.refused().empty() && recorder.refusals().empty() && recorder.problems().empty() &&
         recorder.cut_off().empty() && recorder.left_out().empty() &&
         recorder.unobserved().empty() && checked.refused == 0 && checked.unended == 0 &&
         !recorder.activities().empty();
}

/// The first call that the model refused and the program went on from; empty: there is none.
std::string ignored_call(const profile::Recorder& recorder) {
  const auto& calls = recorder.failed_calls();
  const auto found = std::find_if(calls.begin(), calls.end(), [](const inject::FailedCall& failed) {
    return failed.is_of_model && failed.was_ignored;
  });
  return found == calls.end() ? "" : found->call;
}

}  // namespace

void say_line(const std::string& text) { say(text + "\n"); }

std::string end_run(const ProfileRequest& request, const profile::Outcome& outcome,
                    profile::Recorder& recorder) {
  std::string ended = reason_of(request, outcome, recorder);
  recorder.finish(outcome_of(outcome, recorder),
                  ended.empty() ? failure_of(request, recorder) : ended);
  return ended;
}

ExitCode conclude(const ProfileRequest& request, const profile::Outcome& outcome,
                  profile::Recorder& recorder) {
  const std::string ended = end_run(request, outcome, recorder);
  write_nvprof_file(request, recorder);
  write_trace_file(request, recorder);
  const bool is_empty = recorder.launches() == recorder.not_run() && recorder.traced() == 0;
  const bool has_tables = !request.quiet || !request.output.empty();
  std::optional<schema::Reader> reader;  // to open the database takes milliseconds
  if (has_tables && recorder.run_id()) reader.emplace(request.database);
  const schema::Reader* const stored = reader ? &*reader : nullptr;
  if (has_tables) show_tables(request, recorder, stored);
  if (!request.quiet) show_lines(request, recorder);
  if (request.checks) show_findings(request, recorder, outcome);
  if (!request.quiet) {
    show_remarks(request, recorder, stored);
  } else if (!is_empty) {  // else it is why nothing was measured
    show_failures(request, recorder);
  }
  if (!request.quiet || !outcome.ending.ok()) show_failed_calls(request, outcome, recorder);
  const FindingCount found = count_of(shown_findings(recorder));
  if (!ended.empty()) {
    const bool is_checked = request.checks && !request.counts();
    say_line(fmt::format("warpmeter: {}; {}", ended,
                         is_empty && found.mistakes == 0
                             ? nothing_measured(request, outcome, recorder).what()
                         : is_checked ? "what was found before is kept"
                                      : "what was measured before is kept"));
  }
  if (found.mistakes > 0) throw Error(ExitCode::kernel, found_text(found, !request.quiet));
  // A program may make anything of the signal that --timeout sends.
  if (outcome.timed_out) return ExitCode::nothing;
  if (!ended.empty()) return static_cast<ExitCode>(outcome.ending.status());
  if (is_empty && !are_calls_checked(request, recorder))
    throw nothing_measured(request, outcome, recorder);
  if (const std::string ignored = ignored_call(recorder); !ignored.empty()) {
    throw Error(ExitCode::nothing,
                fmt::format("the program went on as if the model had not refused a call, and its "
                            "results may be wrong: {}",
                            printable(ignored.substr(0, ignored.find(": ")))));
  }
  return ExitCode::done;
}

}  // namespace warpmeter::cli
