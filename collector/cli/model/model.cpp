// SPDX-License-Identifier: MIT
// `warpmeter model`: run kernels of a .cu or .ptx file on the CPU model, from the command line. The
// typed words become a spec; its launches are checked, then run one after the other; the figures go
// through the database, a passing one unless --db or --label asks for one to be kept, since metrics
// are derived there.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file_claims.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/with_noun.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/progress.h"
#include "collector/cli/request/kernel_words.h"
#include "collector/cli/request/run_record.h"
#include "collector/cli/request/sources.h"
#include "collector/cli/tables/acceptance_tables.h"
#include "collector/cli/tables/model_tables.h"
#include "collector/cli/terminal.h"
#include "collector/model/input/compile_options.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/spec.h"
#include "collector/model/session/session.h"
#include "schema/catalogue.h"
#include "schema/store.h"
#include "schema/upkeep/maintenance.h"

namespace warpmeter::cli {
namespace {

struct ModelRequest : KernelWords {
  std::vector<std::string> files, saves, metrics;
  std::string spec, arch, blocks, label, database, command_line;
  std::vector<std::string> shapes;
  std::string format = "table", file;
  std::int64_t threads = 0;
  bool lines = false, check = false, accepts = false, quiet = false, verbose = false;
};

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Error(ExitCode::usage, otherwise + " (see: warpmeter model --help)");
}

void remark(const ModelRequest& request, const std::string& text) {
  if (!request.quiet) say(text + "\n");
}

model::CompileOptions options_of(const ModelRequest& request) {
  model::CompileOptions options = compile_options_of(request);
  if (!request.arch.empty()) options.arch = model::checked_arch("--arch", request.arch);
  return options;
}

/// The launches that were asked for, in the order in which they run.
model::Spec spec_of(const ModelRequest& request) {
  model::Spec spec;
  refuse_loose_numbers(request, request.files);
  require(request.files.size() < 2, "model runs one file; several are for --accepts");
  if (!request.files.empty()) spec.file = request.files[0];
  spec.cubin = request.cubin;
  spec.options = options_of(request);
  if (!request.spec.empty()) {
    require(request.kernel.empty() && request.grid.empty() && request.block.empty() &&
                request.arguments.empty() && request.saves.empty() && request.shared == 0,
            "--spec says which launches there are: leave out -k, --grid, --block, --shared, --arg "
            "and --save");
    const std::optional<int> arch = spec.options.arch;
    model::read_spec(request.spec, spec);
    if (!request.arch.empty()) spec.options.arch = arch;
  } else {
    require(!spec.file.empty(), "model needs a .cu or .ptx file, or --spec");
    const bool has_geometry = !request.grid.empty() && !request.block.empty();
    if (!has_geometry && !std::filesystem::exists(spec.file)) {
      throw Error(ExitCode::file, fmt::format("there is no file {}; check its name", spec.file));
    }
    require(has_geometry,
            "model needs --grid and --block: how many blocks, and threads in a block");
    model::LaunchSpec launch;
    launch.kernel = request.kernel;
    launch.geometry.grid = model::extent_named("--grid", request.grid);
    launch.geometry.block = model::extent_named("--block", request.block);
    launch.geometry.dynamic_shared_bytes = static_cast<std::uint32_t>(request.shared);
    launch.arguments = request.arguments;
    for (const std::string& text : request.saves) launch.saves.push_back(model::save_named(text));
    spec.launches.push_back(std::move(launch));
  }
  require(!spec.file.empty(), "the spec names no file, and neither does the command line");
  // The command line's settings come last, so that they hold.
  std::vector<std::string>& settings = spec.launches.front().settings;
  settings.insert(settings.begin(), spec.settings.begin(), spec.settings.end());
  settings.insert(settings.end(), request.settings.begin(), request.settings.end());
  return spec;
}

void claim_includes(const std::string& path, const model::CompileOptions& options,
                    FileClaims& files) {
  for (const std::string& header : model::included_files(path, options.includes)) {
    files.read(header, fmt::format("{}, which {} includes", header, path));
  }
}

/// Inputs and outputs, typed or in the spec, are neither read nor written twice.
Destination claim_files(const ModelRequest& request, const model::Spec& spec,
                        const std::string& database, FileClaims& files) {
  if (!request.spec.empty()) files.read(request.spec, "the list of launches");
  files.read(spec.file, "the kernels' source");
  const std::string cubin = spec.cubin.empty() ? model::cubin_beside(spec.file) : spec.cubin;
  if (!cubin.empty()) files.read(cubin, "the machine code of " + spec.file);
  if (!spec.file.ends_with(".ptx")) claim_includes(spec.file, spec.options, files);
  if (!database.empty()) files.store(database);
  return files.write(request.file, "-o");
}

/// Options that are for a .cu and do nothing here.
void remark_unused_options(const ModelRequest& request, const model::Spec& spec) {
  const bool has_any = spec.options != model::CompileOptions{} || !request.arch.empty();
  if (!spec.file.ends_with(".ptx") || !has_any) return;
  remark(request, fmt::format("{} is compiled already: --arch, --std, -I and -D are for a .cu and "
                              "change nothing",
                              spec.file));
}

/// Draws at most ten times a second.
class BlockProgress {
 public:
  explicit BlockProgress(bool visible) : bar_(visible) {}
  void operator()(const std::string& kernel, std::uint64_t done, std::uint64_t blocks) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    bar_.update({done, blocks, "model", kernel, 0, "blocks"});
  }
  void clear() { bar_.clear(); }

 private:
  ProgressBar bar_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Runs every launch into a run of the database.
ExitCode run_launches(const ModelRequest& request, const model::Spec& spec,
                      const model::KernelFile& file, model::LaunchSession& session,
                      schema::Store& store, ModelAnswer& answer) {
  schema::Run planned = run_record("model", request.command_line, request.label);
  planned.planned_launches = static_cast<std::int64_t>(spec.launches.size());
  answer.run_id = store.begin_run(planned);
  try {
    schema::Device device;
    device.backend = "model";
    device.compute_capability = file.module->target;
    device.name = fmt::format("model sm_{}", file.module->target);
    const std::int64_t device_id = store.add_device(answer.run_id, device);
    for (std::size_t i = 0; i < spec.launches.size(); ++i) {
      std::optional<model::SessionOutcome> outcome = session.run_next();
      if (!outcome) {
        store.end_run(answer.run_id, schema::RunOutcome::interrupted,
                      "stopped by its user or a signal before it was done");
        return ExitCode::nothing;
      }
      store.add_launch(answer.run_id, device_id, outcome->launch);
      answer.outcomes.push_back(std::move(*outcome));
      // The next ones would read wrong input.
      if (answer.outcomes.back().launch.outcome == schema::LaunchOutcome::failed) break;
    }
  } catch (const std::exception& error) {
    store.end_run(answer.run_id, schema::RunOutcome::failed, error.what());
    throw;
  }
  if (answer.outcomes.back().launch.outcome == schema::LaunchOutcome::failed) {
    store.end_run(answer.run_id, schema::RunOutcome::failed,
                  answer.outcomes.size() < spec.launches.size()
                      ? "a launch failed, and those after it were not run"
                      : "a launch failed");
    return ExitCode::kernel;
  }
  store.end_run(answer.run_id, schema::RunOutcome::done, "");
  return ExitCode::done;
}

/// Prints the summary of --check. Mistakes end the command with an error; remarks do not.
void say_findings(const ModelRequest& request, const ModelAnswer& answer) {
  if (!answer.check) return;
  FindingCount count;
  for (const model::SessionOutcome& outcome : answer.outcomes) {
    const FindingCount here = count_of(shown_findings(outcome));
    count.mistakes += here.mistakes;
    count.remarks += here.remarks;
  }
  if (count.mistakes > 0) throw Error(ExitCode::kernel, found_text(count));
  const std::string also =
      count.remarks == 0 ? "" : fmt::format(" but {}", with_noun(count.remarks, "remark"));
  remark(request,
         fmt::format("--check found nothing{} of what it looks for in {}; other input, "
                     "geometries and orders of threads were not tried",
                     also,
                     answer.outcomes.size() == 1
                         ? "this launch"
                         : "these " + with_noun(answer.outcomes.size(), "launch", "launches")));
}

/// The launch that failed, and why where the answer for people on standard output does not say it.
std::string failure_text(const ModelRequest& request, const ModelAnswer& answer) {
  const schema::Launch& failed = answer.outcomes.back().launch;
  const bool is_read =
      request.file.empty() && (request.format == "table" || request.format == "markdown");
  const std::string kind = failed.reason.substr(0, failed.reason.find(':'));
  return is_read ? fmt::format("kernel '{}' failed: {} (above)", failed.variant, kind)
                 : failed.reason;
}

ExitCode measure(const ModelRequest& request, bool keep) {
  const model::Spec spec = spec_of(request);
  FileClaims files;
  const Destination destination = claim_files(request, spec, keep ? request.database : "", files);
  remark_unused_options(request, spec);
  ModelAnswer answer;
  answer.is_default = request.metrics.empty();
  answer.metrics = answer.is_default ? std::vector<std::string>{"@default"} : request.metrics;
  answer.lines = request.lines;
  answer.verbose = request.verbose;
  model::SessionOptions options;
  options.threads = static_cast<unsigned>(request.threads);
  options.counters = schema::Catalogue::get().counters_for(answer.metrics);
  options.cancelled = interrupted;
  options.blocks = request.blocks;
  options.check = answer.check = request.check;
  for (const std::string& text : request.shapes) {
    options.shapes.push_back(model::explain::parse_shape(text));
  }
  BlockProgress progress(is_terminal(STDERR_FILENO) && !request.quiet);
  options.progress = std::ref(progress);

  catch_interrupts();
  std::vector<std::string> kernels;
  for (const model::LaunchSpec& launch : spec.launches) kernels.push_back(launch.kernel);
  const model::KernelFile file =
      model::read_kernel_file(spec.file, spec.options, kernels, spec.cubin);
  for (const std::string& text : file.remarks) remark(request, text);
  for (const std::string& source : file.module->files) {
    if (source != spec.file) files.read(source, fmt::format("a source of {}", spec.file));
  }
  model::LaunchSession session(file, std::move(options), files);
  for (const model::LaunchSpec& launch : spec.launches) session.prepare(launch);
  for (const std::string& text : session.remarks()) remark(request, text);

  std::optional<TemporaryFolder> folder;
  std::string database = request.database;
  if (!keep) database = (folder.emplace().path() / "warpmeter.db").string();
  Output output(destination);
  ExitCode code = ExitCode::done;
  try {
    schema::Store store(database);
    code = run_launches(request, spec, file, session, store, answer);
  } catch (const Error& error) {
    // A slip of the hand, as a shape that no array has, is no run that others would have to skip.
    const bool is_slip = error.code() == ExitCode::usage && answer.run_id > 0;
    if (keep && is_slip) schema::remove_runs(database, std::array{answer.run_id});
    throw;
  }
  if (keep) keep_sources(database, answer.run_id);
  progress.clear();
  if (code == ExitCode::nothing) return code;
  const bool to_terminal = request.file.empty() && is_terminal(STDOUT_FILENO);
  const std::size_t width =
      to_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  output.write(render_answer(schema::Reader(database), answer, request.format, width));
  output.finish();
  for (const model::SessionOutcome& outcome : answer.outcomes) {
    if (!outcome.remark.empty()) remark(request, outcome.remark);
    if (outcome.coverage.empty()) continue;
    remark(request,
           fmt::format("'{}' is estimated from {}", outcome.launch.variant, outcome.coverage));
  }
  if (keep) remark(request, fmt::format("run {} of {}", answer.run_id, database));
  if (code == ExitCode::kernel) throw Error(code, failure_text(request, answer));
  say_findings(request, answer);
  return code;
}

// ---- --accepts

/// Lists the kernels that can run, without running them. A file that cannot be read at all is a
/// mistake; a kernel that is refused is an answer.
ExitCode show_acceptance(const ModelRequest& request) {
  require(!request.files.empty(), "--accepts needs the .ptx or .cu files to look at");
  require(request.label.empty(), "--accepts runs nothing, so there is no run for a --label");
  FileClaims files;
  for (const std::string& path : request.files) {
    files.read(path, "the kernels' source");
    if (!path.ends_with(".ptx")) claim_includes(path, options_of(request), files);
  }
  const Destination destination = files.write(request.file, "-o");
  AcceptanceTables tables = acceptance_tables(request.files, options_of(request));
  const ExitCode code = tables.code;
  Output output(destination);
  output.write(rendered(std::move(tables), request.format, request.file));
  output.finish();
  return code;
}

}  // namespace

Command add_model(CLI::App& program, const std::string& command_line) {
  CLI::App& app = add_command(
      program, "model", "Run a kernel of your own on the CPU model, and count what it costs",
      {{"warpmeter model transpose.cu -k transpose_tiled --grid 64,64 --block 16,16 \\\n"
        "      --arg 'out:f32[1048576]' --arg 'in:f32[1048576]=iota' --arg i32=1024 --arg i32=1024 "
        "--lines",
        "which line has the bank conflict"},
       {"warpmeter model kernel.ptx -k 'reduce<float, 256>' --grid 1024 --block 256 \\\n"
        "      --arg 'out:f32[1024]' --arg 'in:f32[262144]=in.npy' --save out=out.npy",
        "a template's instance; outputs to a file"},
       {"warpmeter model --spec launches.yaml --format json", "several launches, for a program"},
       {"warpmeter model kernel.ptx -k conv --grid 4096,4096 --block 32,8 --arg … --blocks 0.1%",
        "a grid too large to run: an estimate, and its range"},
       {"warpmeter model blur.cu --grid 64 --block 256 --arg … --set weights:f32=0.2 --set n=5",
        "with __constant__ variables"},
       {"warpmeter model --accepts *.ptx", "which kernels the model can run, and why not"}});
  auto request = std::make_shared<ModelRequest>();
  request->command_line = command_line;
  add_arguments(app, "FILE", request->files, "A .cu, which NVRTC compiles, or a .ptx");
  add_kernel_options(app, *request, "Blocks");
  add_repeated(app, "--save", "NAME=FILE", request->saves,
               "Write that buffer to FILE.npy or FILE.bin afterwards");
  add_text(app, "--spec", "FILE", request->spec,
           "Launches as YAML or JSON, run in their order: file: (also cubin, arch, std, include, "
           "define, set), then launches: a list of kernel, grid, block, shared, args, set, save");
  add_flag(app, "--lines", request->lines, "Show the cost of each source line, the worst first");
  add_flag(
      app, "--check", request->check,
      "Look for accesses out of bounds, unset memory, races and divergent barriers; exits 6 when "
      "there are any");
  add_flag(app, "-v,--verbose", request->verbose,
           "With --check: list all that was looked for, and what was not");
  add_list(app, "--shape", "NAME=SHAPE", request->shapes,
           "The shape of an array in shared memory, for the layouts that `explain` tries: "
           "tile=16x16:f32");
  add_text(app, "--blocks", "N|P%", request->blocks,
           "Run only so many blocks (corners, edges, some of the interior) and estimate the grid");
  add_flag(app, "--accepts", request->accepts,
           "Say which kernels of the files can be run and why others cannot, and run nothing");
  add_text(app, "--arch", "SM", request->arch, "Compile a .cu for it (default: sm_90)");
  add_metrics(app, request->metrics, "Metrics, counters or sets (@shared) (default: @default)");
  add_count(app, "--threads", 1, 4096, request->threads, "CPU threads (default: all cores)");
  add_format_of_findings(app, request->format);
  add_text(app, "-o,--output", "FILE", request->file, "Write there instead of standard output");
  add_text(app, "--label", "TEXT", request->label,
           "Store the run under this name, for report --run");
  add_database(app, request->database,
               "Store the launch in this database; without --db and --label nothing is stored");
  add_recorded_as(app, request->command_line);
  add_flag(app, "-q,--quiet", request->quiet, "No remarks and no progress bar");
  return {&app, [request, &app] {
            check_label(request->label);
            check_format(request->format, request->check && !request->accepts);
            if (request->accepts) return show_acceptance(*request);
            return measure(*request, app.count("--db") > 0 || !request->label.empty());
          }};
}

}  // namespace warpmeter::cli
