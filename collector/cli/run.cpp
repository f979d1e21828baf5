// `warpmeter run`: measure kernel variants. What was typed becomes a plan (which variants, which
// sizes, which backend); what cannot be done is said before anything is measured or recorded; the
// session measures; the comparison goes to standard output, everything else to standard error.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/backends.h"
#include "collector/cli/formats.h"
#include "collector/cli/interleave.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/progress.h"
#include "collector/cli/run_record.h"
#include "collector/cli/terminal.h"
#include "collector/run/selection.h"
#include "collector/run/session.h"
#include "collector/run/verify.h"
#include "reports/number.h"
#include "reports/report.h"
#include "reports/table.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct RunRequest {
  std::vector<std::string> selectors, sizes, metrics;
  BackendRequest backend;
  std::string cache = "cold", label, database, command_line;
  std::string against;
  bool timing_only = false, counters_only = false, dry_run = false, quiet = false;
  bool no_progress = false, interleave = false;
  std::int64_t repeat = 1, print_output = 0, max_samples = 0, rounds = 5;
  double time_budget = 0;
};

// ---- from what was typed to a plan

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

/// What each option allows by itself and they do not together.
void check_combinations(const RunRequest& request) {
  if (request.timing_only && request.counters_only) {
    throw Error(ExitCode::usage,
                "--timing-only and --counters-only leave nothing to measure: give one of them");
  }
  if (request.timing_only && !request.metrics.empty()) {
    throw Error(ExitCode::usage, "--timing-only reads no counters, so it takes no --metrics");
  }
  if (request.interleave && request.counters_only) {
    throw Error(ExitCode::usage,
                "--interleave takes turns in timing, and --counters-only leaves it out");
  }
  check_label(request.label);
}

/// --interleave has to have something to take turns with.
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

// ---- what a person sees

void remark(const RunRequest& request, const std::string& text) {
  if (!request.quiet) say(text + "\n");
}

std::string launch_name(std::string_view family, std::string_view variant, std::int64_t size) {
  const std::string at = size > 0 ? fmt::format(" {}", size) : "";
  return fmt::format("{}/{}{}", family, variant, at);
}

std::string extent(const Dim3& dim) { return fmt::format("{} x {} x {}", dim.x, dim.y, dim.z); }

/// --dry-run: every launch, and nothing done.
reports::Table plan_table(const run::Choice& choice) {
  using reports::Column;
  using reports::Kind;
  reports::Table table;
  table.columns = {Column::text("family"),
                   Column::text("variant"),
                   Column::number("size", "size", "", Kind::exact),
                   Column::text("grid"),
                   Column::text("block"),
                   Column::number("dynamic_shared_bytes", "dynamic shared", "bytes", Kind::exact),
                   Column::number("buffer_bytes", "buffers", "bytes", Kind::count)};
  for (const run::Selection& selection : choice.selections) {
    const kernels::Family& family = *selection.family;
    for (const std::int64_t size : selection.sizes) {
      for (const kernels::Variant* variant : selection.variants) {
        const Geometry geometry = variant->geometry(size);
        table.rows.push_back(
            {std::string(family.name), std::string(variant->name),
             family.has_sizes() ? reports::Cell(size) : reports::Cell(reports::Missing{"one size"}),
             extent(geometry.grid), extent(geometry.block),
             std::int64_t{geometry.dynamic_shared_bytes},
             static_cast<std::int64_t>(family.footprint(size))});
      }
    }
  }
  return table;
}

/// --print-output: the first values of every buffer that the launch changed.
std::string output_lines(const std::string& launch, const kernels::Problem& problem,
                         const run::Execution& execution, std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < execution.buffers.size(); ++i) {
    const kernels::Buffer& buffer = problem.buffers[i];
    if (execution.buffers[i] == buffer.initial) continue;
    lines += fmt::format("{} {}: {}\n", launch, buffer.name,
                         fmt::join(run::first_values(buffer, execution.buffers[i], count), " "));
  }
  return lines;
}

run::Hooks hooks_of(const RunRequest& request, ProgressBar& bar, Output& output) {
  run::Hooks hooks;
  hooks.cancelled = interrupted;
  hooks.progress = [&bar](const run::Progress& progress) { bar.update(progress); };
  hooks.failed = [&bar](const schema::Launch& launch) {
    bar.clear();
    say(fmt::format("{} {}: {}\n", coloured(STDERR_FILENO, Colour::red, "failed:"),
                    launch_name(launch.family, launch.variant, launch.size.value_or(0)),
                    launch.reason));
  };
  if (request.print_output > 0) {
    hooks.executed = [&](const kernels::Family& family, const kernels::Variant& variant,
                         std::int64_t size, const kernels::Problem& problem,
                         const run::Execution& execution) {
      bar.clear();
      output.write(output_lines(launch_name(family.name, variant.name, size), problem, execution,
                                static_cast<std::size_t>(request.print_output)));
    };
  }
  return hooks;
}

/// What to type next, as it can be pasted.
std::string next_command(const RunRequest& request, std::int64_t run_id) {
  const std::string run = std::to_string(run_id);
  std::vector<std::string> words = {"warpmeter", "report", "--db", request.database,
                                    "--run",     run,      "-o",   "report.md"};
  if (request.interleave) {
    words = {"warpmeter", "compare", "--db", request.database, "--by", "variant", run};
  }
  return shell_line(words);
}

void print_comparison(const RunRequest& request, std::int64_t run_id, Output& output) {
  if (request.quiet) return;
  const std::size_t width =
      is_terminal(STDOUT_FILENO) ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  const schema::Reader reader(request.database);
  output.write(reports::render_comparison(reader, run_id, reports::Format::table, width));
}

/// Of the metrics named on the command line, those that no launch of the run has, each with its
/// reason.
std::vector<std::string> unanswered(const RunRequest& request, const schema::Reader& reader,
                                    std::int64_t run_id) {
  const schema::Rows missing = reader.query(
      "SELECT metric, min(reason) FROM results WHERE run_id = :run GROUP BY metric "
      "HAVING count(value) = 0",
      {{":run", run_id}});
  std::vector<std::string> remarks;
  for (const auto& row : missing.rows) {
    const auto* metric = std::get_if<std::string>(&row[0]);
    const auto* reason = std::get_if<std::string>(&row[1]);
    const auto& named = request.metrics;
    if (metric == nullptr || std::find(named.begin(), named.end(), *metric) == named.end())
      continue;
    remarks.push_back(fmt::format("{} has no value: {}", *metric,
                                  reason != nullptr ? *reason : "no reason is known"));
  }
  return remarks;
}

/// Says which metrics stayed without a value; throws Error{nothing} when all did.
void check_answers(const RunRequest& request, std::int64_t run_id) {
  const schema::Reader reader(request.database);
  const std::vector<std::string> remarks = unanswered(request, reader, run_id);
  for (const std::string& text : remarks) remark(request, text);
  const schema::Rows rows = reader.query(
      "SELECT count(*) FROM results WHERE run_id = :run AND value IS NOT NULL", {{":run", run_id}});
  if (rows.rows.at(0).at(0) == schema::Value(std::int64_t{0})) {
    throw Error(ExitCode::nothing,
                "the kernels ran and are right, but nothing that was asked for could be measured "
                "here: choose other --metrics (see: warpmeter list metrics), or run on a GPU");
  }
}

// ---- the command

ExitCode measure(const RunRequest& request, const run::Choice& choice, const run::Options& options,
                 const Backends& backends) {
  schema::Store store(request.database);
  std::vector<run::Backend*> pointers;
  for (const auto& backend : backends.opened) pointers.push_back(backend.get());

  Output output;
  ProgressBar bar(is_terminal(STDERR_FILENO) && !request.quiet && !request.no_progress);
  const auto begin = std::chrono::steady_clock::now();
  const run::Summary summary = run::measure(
      run_record(pointers.front()->device().backend, request.command_line, request.label),
      choice.selections, options, pointers, store, hooks_of(request, bar, output));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  bar.clear();

  print_comparison(request, summary.run_id, output);
  remark(request,
         fmt::format("{} in {:.1f} s, {} failed{}; run {} of {}",
                     reports::counted(summary.launches, "launch", "launches"), elapsed.count(),
                     summary.failed, summary.cancelled ? ", interrupted" : "", summary.run_id,
                     request.database));
  remark(request, fmt::format("next: {}", next_command(request, summary.run_id)));
  if (summary.failed > 0) return ExitCode::kernel;
  if (summary.launches == 0) return ExitCode::nothing;
  check_answers(request, summary.run_id);
  return ExitCode::done;
}

/// The same request as words of a command line, without what is the business of the one who has it
/// run in turns: whose turn it is, the database and label, what is shown.
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
  add_number("--threads", request.backend.threads, 0);
  for (const std::string& size : request.sizes) add("--size", size);
  for (const std::string& metric : request.metrics) add("--metrics", metric);
  add_flag("--timing-only", request.timing_only);
  add_flag("--counters-only", request.counters_only);
  add("--cache", request.cache);
  add_number("--repeat", request.repeat, 1);
  add_number("--max-samples", request.max_samples, 0);
  add_number("--time-budget", request.time_budget, 0.0);
  add_number("--print-output", request.print_output, 0);
  words.insert(words.end(), request.selectors.begin(), request.selectors.end());
  return words;
}

ExitCode run_command(const RunRequest& request) {
  check_combinations(request);
  const run::Options options = session_options(request);
  const run::Choice choice = run::choose(request.selectors, sizes_of(request));
  const bool counters = !schema::Catalogue::get().counters_for(options.metrics).empty();
  if (!counters && !options.timing) {
    throw Error(ExitCode::usage,
                "these --metrics are times, and --counters-only leaves them out: give one of them");
  }
  check_turns(request, choice);
  if (!request.against.empty()) {
    FileClaims files;
    files.read(request.against, "the other build");
    files.store(request.database);
  }
  if (!request.against.empty() && !request.dry_run) {
    return interleave_builds({words_of(request), request.against, request.label, request.database,
                              request.rounds, request.quiet});
  }
  for (const std::string& note : choice.notes) remark(request, note);

  catch_interrupts();
  BackendRequest backend = request.backend;
  backend.counters = counters;
  backend.timing = options.timing;
  backend.cancelled = interrupted;
  const Backends backends = open_backends(backend);
  for (const std::string& note : backends.notes) remark(request, note);
  for (const auto& opened : backends.opened) run::check_fits(choice.selections, *opened);

  if (!request.dry_run) return measure(request, choice, options, backends);
  Output output;
  output.write(rendered(plan_table(choice), "table"));
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_run(CLI::App& program, const std::vector<std::string>& words) {
  CLI::App& app = add_command(
      program, "run", "Measure kernel variants: counters, time, and whether the answer is right",
      {{"warpmeter run", "every variant at its default sizes"},
       {"warpmeter run transpose -n 512,1024", "one family at two sizes"},
       {"warpmeter run 'smem_*/*pad*' reduction/interleaved -b model", "chosen variants, no GPU"},
       {"warpmeter run matmul -m @shared,gld_efficiency --label before", "chosen metrics, a name"},
       {"warpmeter run 'transpose/tiled*' --interleave", "timed in turns, A B A B"},
       {"warpmeter run transpose --against ../main/warpmeter", "so with another build"}});
  auto run = std::make_shared<RunRequest>();
  run->command_line = shell_line(words);
  add_arguments(app, "SELECTOR", run->selectors,
                "A family, family/variant, or a glob over these; all when none is given");
  add_choice(app, "-b,--backend", {"auto", "cupti", "model"}, run->backend.backend,
             "auto: the GPU where one is usable, else the model on the CPU");
  add_list(app, "-n,--size", "N", run->sizes, "Sizes instead of the family's own");
  add_text(app, "-d,--device", "N", run->backend.device, "The GPU's number, or all");
  add_list(app, "-m,--metrics", "METRIC", run->metrics,
           "Metrics, counters, sets (@shared) or PerfWorks names; @default when not given");
  add_flag(app, "--timing-only", run->timing_only, "Measure time, read no counters");
  add_flag(app, "--counters-only", run->counters_only, "Read counters, measure no time");
  add_count(app, "--repeat", 1, 1'000'000, run->repeat, "Read the counters of each launch N times");
  add_choice(app, "--cache", {"cold", "warm"}, run->cache,
             "The L2 cache before a timed launch: flushed (cold, the default) or not");
  add_count(app, "--max-samples", 1, 10'000'000, run->max_samples,
            "Stop timing a launch after N samples; 1000 when not given");
  add_seconds(app, "--time-budget", run->time_budget,
              "Stop timing a launch after that long; 2 when not given");
  add_flag(app, "--interleave", run->interleave,
           "Time the variants of a family in turns (A B A B), so that drift meets all of them");
  add_text(app, "--against", "PROGRAM", run->against,
           "Run another build of warpmeter (base) and this one in turns, and compare them");
  add_count(app, "--rounds", 2, 1000, run->rounds,
            "Turns of each build under --against; 5 when not given");
  add_text(app, "--arch", "SM", run->backend.arch, "The model's architecture: sm_80, sm_90, …");
  add_count(app, "--threads", 1, 4096, run->backend.threads,
            "CPU threads of the model; all cores when not given");
  add_text(app, "--label", "TEXT", run->label, "A name for the run, for --run later");
  add_database(app, run->database);
  add_count(app, "--print-output", 1, 1'000'000, run->print_output,
            "Print the first N values that each launch wrote");
  add_flag(app, "--dry-run", run->dry_run, "Show what would be measured, and measure nothing");
  add_flag(app, "--no-progress", run->no_progress, "No progress bar");
  add_flag(app, "-q,--quiet", run->quiet, "Print nothing but failures");
  return {&app, [run] { return run_command(*run); }};
}

}  // namespace warpmeter::cli
