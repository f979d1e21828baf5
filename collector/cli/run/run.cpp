// SPDX-License-Identifier: MIT
// `warpmeter run`: measure kernel variants. The typed request (run_request.h) becomes a plan: which
// variants, which sizes, which backend (run_plan.h); what cannot be done is said before anything is
// measured or recorded; the session measures (run_measure.h); the comparison goes to standard
// output, everything else to standard error.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/codes.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/profile/line_runs.h"
#include "collector/cli/progress.h"
#include "collector/cli/request/run_record.h"
#include "collector/cli/request/run_request.h"
#include "collector/cli/request/shapes.h"
#include "collector/cli/request/sources.h"
#include "collector/cli/run/answers.h"
#include "collector/cli/run/check.h"
#include "collector/cli/run/continued_run.h"
#include "collector/cli/run/interleave.h"
#include "collector/cli/run/measure.h"
#include "collector/cli/run/plan.h"
#include "collector/cli/run/side_by_side.h"
#include "collector/cli/run/watch.h"
#include "collector/cli/tables/lines_tables.h"
#include "collector/cli/tables/measured_findings.h"
#include "collector/cli/terminal.h"
#include "collector/family/catalogue.h"
#include "collector/lab/dcgm.h"
#include "collector/model/explain/explain.h"
#include "collector/model/input/kernel_file.h"
#include "reports/best.h"
#include "reports/disturbances.h"
#include "reports/render/report.h"
#include "reports/table/number.h"
#include "reports/table/table.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// The next command to type, as it can be pasted.
std::string next_command(const RunRequest& request, std::int64_t run_id, bool is_cancelled) {
  const std::string run = std::to_string(run_id);
  if (is_cancelled && !request.lines) {
    return shell_line(
        std::vector<std::string>{"warpmeter", "run", "--continue", "--db", request.database});
  }
  std::vector<std::string> words = {"warpmeter", "report", "--db", request.database,
                                    "--run",     run,      "-o",   "report.md"};
  if (request.interleave) {
    words = {"warpmeter", "compare", "--db", request.database, "--by", "variant", run};
  }
  return shell_line(words);
}

/// The same launches under --check.
std::string check_command_line(const RunRequest& request) {
  std::vector<std::string> words = {"warpmeter", "run", "--check"};
  const std::vector<std::string> launched = words_of_launches(request);
  words.insert(words.end(), launched.begin(), launched.end());
  return shell_line(words);
}

void print_comparison(const RunRequest& request, std::int64_t run_id, Output& output) {
  if (request.quiet) return;
  const std::size_t width =
      is_terminal(STDOUT_FILENO) ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  const schema::Reader reader(request.database);
  output.write(reports::render_comparison(reader, run_id, reports::Format::table, width));
}

/// --lines
void print_lines(const RunRequest& request, std::int64_t run_id, Output& output) {
  if (!request.lines || request.quiet) return;
  const std::size_t width =
      is_terminal(STDOUT_FILENO) ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  const std::string text =
      lines_text(schema::Reader(request.database), run_id, ShownLaunches::all, width);
  if (text.empty()) remark(request, "no launch has lines");
  output.write(text.empty() ? "" : "\n" + text);
}

/// --best
void print_best(const RunRequest& request, std::int64_t run_id, Output& output) {
  if (request.best.empty()) return;
  const reports::Table table =
      reports::best_table(schema::Reader(request.database), run_id, request.best);
  if (table.rows.empty()) {
    remark(request, fmt::format("no launch has a value of {}, so none is the best",
                                fmt::join(request.best, " and ")));
    return;
  }
  output.write(fmt::format("\nBest by {}\n\n{}", fmt::join(request.best, " and "),
                           rendered(table, "table")));
  if (!reports::has_as_good(table)) return;
  output.write(fmt::format(
      "\n{} is the best, {} may be as good: one run cannot tell them apart. `compare --by variant` "
      "says how many runs would.\n",
      reports::best_mark, reports::as_good_mark));
}

/// Who else was on the card, where that may have moved a time.
void say_disturbances(const RunRequest& request, std::int64_t run_id) {
  const schema::Reader reader(request.database);
  const std::string felt = reports::felt_in_words(reports::disturbances_of(reader, run_id));
  if (!felt.empty()) remark(request, fmt::format("times may be disturbed: {}", felt));
}

/// The sources that the variants were compiled from, as lines name them.
std::map<std::string, std::string> sources_of(const run::Choice& choice) {
  std::map<std::string, std::string> sources;
  const auto add = [&](const kernels::Image* image) {
    if (image == nullptr || image->source.empty()) return;
    sources.emplace(image->source_path, image->source);
    sources.emplace(model::relative_path(std::string(image->source_path)), image->source);
  };
  for (const run::Selection& selection : choice.selections) {
    for (const kernels::Variant* variant : selection.variants) add(variant->image);
  }
  return sources;
}

/// False if no variant could be compiled.
bool has_code(const run::Choice& choice) {
  return std::any_of(choice.selections.begin(), choice.selections.end(), [](const auto& selection) {
    return std::any_of(selection.variants.begin(), selection.variants.end(),
                       [](const kernels::Variant* variant) { return variant->failure.empty(); });
  });
}

ExitCode measure(const RunRequest& request, const run::Choice& choice, const run::Options& options,
                 Backends backends) {
  Output output;
  ProgressBar bar(is_terminal(STDERR_FILENO) && !request.quiet && !request.no_progress);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<int> devices = backends.ordinals;
  const bool are_several = devices.size() > 1 && !request.backend.open_gpu;
  const schema::Run record =
      run_record(backends.opened.front()->device().backend, request.command_line, request.label);
  const int arch = backends.opened.front()->device().compute_capability;
  if (are_several) backends = {};  // the devices are for the processes that follow
  const run::Summary summary =
      are_several ? measure_side_by_side(request, record, options, devices, choice.launches(), bar)
                  : measure_into(request, choice, options, backends, bar, output);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  bar.clear();
  for (const std::string& text : summary.remarks) remark(request, text);
  if (run_of_part() != 0) {
    check_shapes(request.backend.shapes, request.shaped, summary.run_id);
    return summary.failed > 0 ? ExitCode::kernel : ExitCode::done;
  }
  if (request.lines) {
    backends = {};  // its memory and counters are for the processes that follow
    add_lines_of_variants(request, choice, summary.run_id);
  }
  add_measured_findings(request.database, summary.run_id);
  keep_sources(request.database, summary.run_id, sources_of(choice));
  if (request.lines && !interrupted()) keep_code(request.database, summary.run_id, choice, arch);

  if (!summary.cancelled || summary.launches > 0) {
    print_comparison(request, summary.run_id, output);
    print_lines(request, summary.run_id, output);
    print_best(request, summary.run_id, output);
  }
  remark(request,
         fmt::format("{} in {:.1f} s, {} failed{}; run {} of {}",
                     reports::counted(summary.launches, "launch", "launches"), elapsed.count(),
                     summary.failed, summary.cancelled ? ", interrupted" : "", summary.run_id,
                     request.database));
  say_verified(request, choice, summary.run_id);
  say_disturbances(request, summary.run_id);
  remark(request,
         fmt::format("next: {}", next_command(request, summary.run_id, summary.cancelled)));
  if (!request.files.files.empty() && !summary.cancelled && has_code(choice)) {
    remark(request, fmt::format("      {}  # races, unset memory, accesses out of bounds",
                                check_command_line(request)));
  }
  if (summary.failed > 0) return ExitCode::kernel;
  if (summary.launches == 0) return ExitCode::nothing;
  if (!are_several) check_shapes(request.backend.shapes, request.shaped, summary.run_id);
  check_answers(request, summary.run_id);
  return ExitCode::done;
}

ExitCode run_command(const RunRequest& typed) {
  RunRequest request = typed;
  request.files.files = take_files(request.selectors);
  refuse_loose_numbers(request.files, request.selectors);
  check_combinations(request);
  find_continued(request);
  if (is_listing(request.files)) {
    sizes_of(request);  // a wrong value is wrong, though nothing is run
    for (const std::string& shape : request.backend.shapes) model::explain::parse_shape(shape);
    Output output;
    output.write(listing(request.files));
    output.finish();
    return ExitCode::done;
  }
  if (request.files.files.empty() && request.files.names_a_launch()) {
    throw Error(ExitCode::usage,
                "-k, --grid, --block, --shared, --arg and --set are of a kernel in a file: give "
                "its .cu, .ptx or .cubin");
  }
  if (request.files.files.empty() && request.files.names_a_compilation()) {
    throw Error(ExitCode::usage,
                "-I, -D, --std, --compiler and --cubin are of files: the catalogue's variants are "
                "compiled already");
  }
  const run::Options options = session_options(request);
  FileClaims files;
  files.store(request.database);
  if (!request.against.empty()) files.read(request.against, "the other build");
  if (!request.launches.empty()) files.read(request.launches, "the list of launches");
  const std::vector<std::int64_t> sizes = sizes_of(request);
  const std::vector<family::FamilySpec> specs = specs_of(request.files, request.sizes, files);
  const schema::Catalogue& known = schema::Catalogue::get();
  const std::vector<std::string> counters = known.counters_for(options.metrics);
  const bool counts = !counters.empty();
  // Energy is no counter of the hardware: it needs no permission.
  const bool counts_events = std::any_of(counters.begin(), counters.end(), [&](const auto& name) {
    const schema::CounterInfo* info = known.find_counter(name);
    return info == nullptr || info->is_on_hardware();
  });
  const bool resources = known.names_resource(options.metrics);
  if (!counts && !options.timing && !resources) {
    throw Error(ExitCode::usage,
                "these --metrics are times, and --counters-only leaves them out: give one of them");
  }
  // A name that is none is said before a device is looked for.
  if (specs.empty())
    check_turns(request, run::choose(family::catalogue(), request.selectors, sizes));
  if (!request.watch) check_without_device(request, specs, sizes);
  std::optional<lab::DcgmPause> pause;
  if (request.pause_dcgm && !request.dry_run) {
    catch_interrupts();  // from here on somebody has to resume it
    pause.emplace([](const std::string& text) { say("warpmeter: " + text + "\n"); });
  }
  if (!request.against.empty() && !request.dry_run) {
    return interleave_builds({words_of(request), request.against, request.label, request.database,
                              request.rounds == 0 ? usual_rounds : request.rounds, request.quiet});
  }

  catch_interrupts();
  const std::optional<LaunchAlone> alone = launch_alone();
  BackendRequest backend = request.backend;
  backend.shaped = &request.shaped;
  backend.counters = counts_events && !alone;
  backend.resources = resources || counts;
  backend.timing = options.timing || alone;
  backend.cancelled = interrupted;
  backend.of_files = !specs.empty();
  backend.keeps_instructions = request.lines;
  say_machine_code(specs, backend);
  backend.is_apart = !request.watch && !request.backend.open_gpu;
  RunCheck check;
  if (request.check) check.prepare(request, backend);
  Backends backends = open_backends(backend);
  check_machine_code(specs, backends);
  for (const std::string& note : backends.notes) remark(request, note);
  if (request.watch) return watch(request, options, backends);
  const Families families = families_of(request, specs, backends.opened.front()->device());
  run::Choice choice = run::choose(families.all, request.selectors, sizes);
  if (!request.launches.empty()) choice = only_launches(choice, request.launches);
  check_files(request, choice);
  if (alone) return execute_alone(*alone, choice, *backends.opened.front());
  if (!specs.empty()) check_turns(request, choice);
  for (const std::string& note : choice.notes) remark(request, note);
  try {
    for (const auto& opened : backends.opened) run::check_fits(choice.selections, *opened);
  } catch (const Error& error) {
    throw Error(error.code(), naming_typed_size(error.what(), request));
  }

  if (request.check && !request.dry_run) {
    return check.run(request, choice, *backends.opened.front());
  }
  if (!request.dry_run) return measure(request, choice, options, std::move(backends));
  Output output;
  output.write(rendered(plan_table(choice), "table"));
  output.finish();
  std::string said = fmt::format("{} would be measured",
                                 reports::counted(choice.launches(), "launch", "launches"));
  if (request.continued_run != 0) {
    run::Options stored;
    stored.continued_run = request.continued_run;
    read_finished(request, true, stored);
    said += fmt::format(", of which run {} has {}", request.continued_run, stored.finished.size());
  }
  remark(request, said);
  return ExitCode::done;
}

}  // namespace

CLI::App& add_run_options(CLI::App& program, RunRequest& request) {
  RunRequest* const run = &request;
  CLI::App& app = add_command(
      program, "run", "Measure kernel variants: counters, time, and whether the answer is right",
      {{"warpmeter run", "every variant at its default sizes"},
       {"warpmeter run transpose -n 512,1024", "one family at two sizes"},
       {"warpmeter run 'smem_*/*pad*' reduction/interleaved -b model", "chosen variants, no GPU"},
       {"warpmeter run transpose.cu", "what kernels a file of yours holds, and how to run them"},
       {"warpmeter run mine.yaml -n 1024", "a family of your own, described in a file"},
       {"warpmeter run matmul -m @shared,gld_efficiency --label before", "chosen metrics, a name"},
       {"warpmeter run transpose/tiled -n 1024 --lines", "which line has the bank conflict"},
       {"warpmeter run mine.yaml --check", "look for races, unset memory, accesses out of bounds"},
       {"warpmeter run matmul -b model --blocks 5%", "quicker counts, estimated from some blocks"},
       {"warpmeter run 'transpose/tiled*' --interleave", "timed in turns, A B A B"},
       {"warpmeter run transpose --against ../main/warpmeter", "two builds in turns"}});
  add_arguments(app, "SELECTOR|FILE", run->selectors,
                "A family, family/variant, or a glob over these; all when none is given. Files: a "
                "family (.yaml, .json), or kernels (.cu, .ptx, .cubin)");
  add_choice(app, "-b,--backend", {"auto", "cupti", "model"}, run->backend.backend,
             "auto: the GPU where one is usable, else the model on the CPU");
  add_list(app, "-n,--size", "N", run->sizes, "Sizes instead of the family's own");
  add_text(app, "-d,--device", "N", run->backend.device, "The GPU's number, or all");
  add_metrics(app, run->metrics,
              "Metrics, counters, sets (@shared) or PerfWorks names (default: @default)");
  add_flag(app, "--timing-only", run->timing_only, "Measure time, read no counters");
  add_flag(app, "--counters-only", run->counters_only, "Read counters, measure no time");
  add_count(app, "--repeat", 1, 1'000'000, run->repeat, "Read the counters of each launch N times");
  add_choice(app, "--cache", {"cold", "warm"}, run->cache,
             "The L2 cache before a timed launch: flushed (cold, the default) or not");
  add_count(app, "--max-samples", 1, 10'000'000, run->max_samples,
            "Stop timing a launch after N samples (default: 1000)");
  add_seconds(app, "--time-budget", run->time_budget,
              "Stop timing a launch after that long (default: 2)");
  add_flag(app, "--interleave", run->interleave,
           "Time the variants of a family in turns (A B A B), so that drift affects all alike");
  add_text(app, "--against", "PROGRAM", run->against,
           "Run another build of warpmeter (base) and this one in turns, and compare them");
  add_count(app, "--rounds", 2, 1000, run->rounds,
            "Turns of each build under --against (default: 5)");
  add_kernel_options(app, run->files,
                     "Its blocks; numbers or expressions of n: 'ceil(n/16),ceil(n/16)'");
  add_choice(
      app, "--counts", {"auto", "gpu", "model"}, run->backend.counts,
      "Counts come from the GPU (gpu), from the model of its architecture (model), or from the "
      "model only where the permission for the GPU's counters is missing (auto, the default)");
  add_flag(app, "--pause-dcgm", run->pause_dcgm,
           "Pause DCGM's profiling, which takes the counters; it is resumed at the end, and after "
           "Ctrl-C");
  add_seconds(app, "--timeout", run->backend.timeout_s,
              "A kernel that takes longer on a GPU fails, and the rest goes on");
  add_text(app, "--arch", "SM", run->backend.arch, "The model's architecture: sm_80, sm_90, …");
  add_count(app, "--threads", 1, 4096, run->backend.threads,
            "CPU threads of the model (default: all cores)");
  add_text(
      app, "--blocks", "N|P%", run->backend.blocks,
      "Count only N blocks of a launch, or a share of them, and estimate the rest with a bound "
      "on the error (grade sampled); all blocks run. For the model");
  add_list(app, "--shape", "NAME=SHAPE", run->backend.shapes,
           "The shape of an array in shared memory, for the layouts that `explain` tries: "
           "tile=16x16:f32");
  add_text(app, "--label", "TEXT", run->label, "A name for the run, for report --run");
  add_database(app, run->database);
  add_count(app, "--print-output", 1, 1'000'000, run->print_output,
            "Print the first N values that each launch wrote");
  add_flag(app, "--lines", run->lines,
           "Show the cost of each source line, the worst first; on a GPU this takes two more "
           "processes for each launch");
  add_flag(app, "--check", run->check,
           "Look for accesses out of bounds, unset memory, races and divergent barriers, on the "
           "model, and measure nothing; exits 6 when there are any");
  add_choice(app, "--format", {"table", sarif}, run->format,
             "The format of the findings of --check (default: table)");
  add_flag(app, "-v,--verbose", run->verbose,
           "With --check: list all that was looked for, and what was not");
  add_list(app, "--best", "METRIC", run->best,
           "The variants that nothing beats in these metrics: duration, gld_efficiency, …");
  add_text(app, "--launches", "FILE", run->launches,
           "Only those launches that the file names, a line each: 1024 transpose/tiled; - instead "
           "of a size where the family has none");
  add_flag(app, "--continue", run->go_on,
           "Go on with the last run of the same command, if it was not finished; without other "
           "arguments, with the database's last run");
  add_recorded_as(app, run->command_line);
  add_flag(app, "--watch", run->watch,
           "Measure files again at every save, and show what changed; until Ctrl-C");
  add_flag(app, "--dry-run", run->dry_run, "Show what would be measured, and measure nothing");
  add_flag(app, "--no-progress", run->no_progress, "No progress bar");
  add_flag(app, "-q,--quiet", run->quiet, "Print nothing but failures");
  return app;
}

Command add_run(CLI::App& program, const std::vector<std::string>& words, OpenGpu open_gpu) {
  auto run = std::make_shared<RunRequest>();
  run->words = words;
  run->backend.open_gpu = std::move(open_gpu);
  run->command_line = shell_line(words);
  CLI::App& app = add_run_options(program, *run);
  return {&app, [run] { return run_command(*run); }};
}

}  // namespace warpmeter::cli
