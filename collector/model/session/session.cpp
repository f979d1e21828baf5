// SPDX-License-Identifier: MIT
#include "collector/model/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/kernel_name.h"
#include "base/nearest.h"
#include "base/new_file.h"
#include "collector/model/check/checker.h"
#include "collector/model/counts/executed.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/kernel_code.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/counts/steps/steps.h"
#include "collector/model/input/npy.h"
#include "collector/model/input/parameter_types.h"
#include "collector/model/input/toolkit.h"
#include "collector/model/input/unset_variables.h"
#include "collector/model/machine/decode/decode.h"
#include "schema/catalogue.h"

namespace warpmeter::model {
namespace {

/// Where the PTX names no source lines, its own lines stand in for them.
void point_into_ptx(Program& program, const std::string& path) {
  const bool has_lines = std::any_of(program.places.begin(), program.places.end(),
                                     [](const Place& place) { return place.line > 0; });
  if (has_lines) return;
  program.files = {path};
  for (Place& place : program.places) {
    place.file = 0;
    place.line = place.own_line = place.ptx_line;
  }
}

std::vector<std::byte> address_bytes(std::uint64_t address) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&address);
  return {bytes, bytes + sizeof address};
}

}  // namespace

LaunchSession::LaunchSession(const KernelFile& file, SessionOptions options, FileClaims& claims)
    : file_(file),
      allowed_(allowed_sources(file.path, file.folders)),
      options_(std::move(options)),
      claims_(claims) {}

/// Audits with the cubin that the file came with, and says why that is no help. One that the person
/// named has to be.
std::string LaunchSession::audit_with_file(Program& program) {
  std::string why = steps::audit(program, *file_.module, file_.cubin);
  if (why.empty()) return {};
  if (file_.cubin_is_named) {
    throw Error(ExitCode::file, fmt::format("{} {}", file_.cubin_path, why));
  }
  const std::string cubin = file_.cubin_path.empty()
                                ? "the compiler's cubin"
                                : fmt::format("{} beside the PTX", file_.cubin_path);
  return fmt::format("{} {}", cubin, why);
}

/// The same with what ptxas makes of the PTX.
std::string LaunchSession::audit_with_ptxas(Program& program) {
  if (!assembled_) assembled_ = assemble(*file_.module);
  if (!assembled_->failure.empty()) return assembled_->failure;
  const std::string why = steps::audit(program, *file_.module, assembled_->cubin);
  return why.empty() ? why : fmt::format("the cubin of ptxas {}", why);
}

/// Takes the widths of the accesses from the machine code, where there is any.
void LaunchSession::audit(Program& program) {
  const auto say = [&](const std::string& text) {
    if (std::find(remarks_.begin(), remarks_.end(), text) == remarks_.end()) {
      remarks_.push_back(text);
    }
  };
  const bool has_cubin = !file_.cubin.empty() || !file_.cubin_path.empty();
  const std::string of_file = has_cubin ? audit_with_file(program) : "no cubin was given";
  if (of_file.empty()) return;
  const std::string of_ptxas = audit_with_ptxas(program);
  if (of_ptxas.empty()) {
    if (has_cubin) say(fmt::format("ptxas assembled the PTX, since {}", of_file));
    return;
  }
  const std::string why = fmt::format("{} and {}", of_file, of_ptxas);
  program.why_unaudited += ", since " + why;
  say(
      fmt::format("without machine code every count is graded ptx: {}; give the kernel's --cubin, "
                  "or install ptxas of a CUDA toolkit",
                  why));
}

const Program& LaunchSession::program_of(const std::string& entry) {
  std::unique_ptr<Program>& program = programs_[entry];
  if (program) return *program;
  auto decoded = decode(*file_.module, entry);
  if (const auto* refused = std::get_if<ptx::Diagnostic>(&decoded)) {
    throw Error(ExitCode::kernel, refused->message);
  }
  program = std::make_unique<Program>(std::move(std::get<Program>(decoded)));
  if (const std::string why = why_not_alone(*program); !why.empty()) {
    throw Error(ExitCode::kernel, why);
  }
  audit(*program);
  point_into_ptx(*program, file_.path);
  for (std::string& name : program->files) name = relative_path(name);
  return *program;
}

check::Coverage coverage_of(const check::Checker& checker) {
  check::Coverage coverage;
  coverage.is_partial = checker.is_partial();
  coverage.gaps = checker.gaps();
  return coverage;
}

void LaunchSession::prepare(const LaunchSpec& launch) {
  Prepared prepared;
  prepared.launch = &launch;
  prepared.entry = find_entry(file_, launch.kernel);
  prepared.program = &program_of(prepared.entry);
  std::string wrong = geometry_failure(*prepared.program, launch.geometry);
  if (wrong.empty()) {
    wrong = register_failure(prepared.entry, prepared.program->resources, launch.geometry.block);
  }
  if (!wrong.empty())
    throw Error(ExitCode::usage, wrong + "; choose another grid, block or size of shared memory");
  const std::string alone = alone_failure(*prepared.program);
  if (!alone.empty()) throw Error(ExitCode::usage, alone);
  const bool has_clusters = prepared.program->has_clusters &&
                            in_clusters(*prepared.program, launch.geometry).cluster.count() > 1;
  if (has_clusters && !options_.blocks.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("kernel '{}' runs in clusters of blocks, which --blocks cannot choose "
                            "from; leave it out",
                            readable_name(prepared.entry)));
  }
  if (!options_.blocks.empty()) block_count(options_.blocks, launch.geometry.grid);
  prepare_arguments(prepared);
  prepare_settings(prepared);
  prepare_saves(prepared);
  prepared_.push_back(std::move(prepared));
}

/// A buffer that is named once more.
void LaunchSession::check_buffer(std::string_view text, const std::string& name) const {
  if (announced_.contains(name)) return;
  throw Error(ExitCode::usage,
              fmt::format("'{}' names no buffer of an earlier argument; those are {}", text,
                          announced_.empty() ? "none yet" : "named NAME:TYPE[N]"));
}

/// Against the C++ types, which a mangled name tells.
void LaunchSession::check_elements(const Prepared& prepared) {
  const auto types = parameter_types(prepared.entry);
  if (!types || types->size() != prepared.arguments.size()) return;
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::string why = wrong_elements(prepared.arguments[i], (*types)[i]);
    if (why.empty()) continue;
    throw Error(ExitCode::usage, fmt::format("parameter {} of {} is {}, and '{}' does not fit: {}",
                                             i + 1, name_with_parameters(prepared.entry),
                                             (*types)[i], prepared.launch->arguments[i], why));
  }
}

void LaunchSession::prepare_arguments(Prepared& prepared) {
  for (const std::string& text : prepared.launch->arguments) {
    prepared.arguments.push_back(parse_argument(text));
  }
  check_signature(prepared.program->parameters, readable_name(prepared.entry), prepared.arguments);
  check_elements(prepared);
  const std::uint64_t most = available_memory() / 2;
  for (const Argument& argument : prepared.arguments) {
    if (argument.kind == Argument::Kind::reference) check_buffer(argument.text, argument.name);
    if (argument.kind != Argument::Kind::buffer) continue;
    if (!argument.name.empty()) announced_[argument.name] = argument.element;
    if (!argument.fill.file.empty()) {
      claims_.read(argument.fill.file, fmt::format("what '{}' reads", argument.text));
      size_of_file(argument.fill.file);  // throws where it is missing, before a run begins
    }
    const std::uint64_t bytes = buffer_bytes(argument);
    if (bytes > most || (announced_bytes_ += bytes) > most) {
      throw Error(ExitCode::usage,
                  fmt::format("'{}' does not fit into this machine's memory beside the other "
                              "buffers ({} bytes are free); choose a smaller one",
                              argument.text, 2 * most));
    }
  }
}

void LaunchSession::prepare_settings(Prepared& prepared) {
  for (const std::string& text : prepared.launch->settings) {
    const std::string path = file_of_setting(text);
    if (!path.empty()) claims_.read(path, fmt::format("what '{}' reads", text));
    VariableSetting setting = parse_setting(file_, text);
    if (!setting.buffer.empty()) check_buffer(text, setting.buffer);
    set_.insert(setting.variable);
    prepared.settings.push_back(std::move(setting));
  }
  const std::string unset = unset_variables(file_, prepared.entry, set_);
  if (!unset.empty()) remarks_.push_back(unset);
}

void LaunchSession::prepare_saves(Prepared& prepared) {
  for (const auto& [buffer, path] : prepared.launch->saves) {
    if (!announced_.contains(buffer)) {
      std::vector<std::string> names;
      for (const auto& [known, element] : announced_) names.push_back(known);
      throw Error(
          ExitCode::usage,
          fmt::format("there is no buffer '{}' to save{}; name one where it is an argument: "
                      "{}:f32[N]",
                      buffer, did_you_mean(buffer, names), buffer));
    }
    if (!names_file(path)) {
      throw Error(
          ExitCode::usage,
          fmt::format("'{}' is neither .npy nor .bin: a buffer is saved as one of them", path));
    }
    const Destination destination = claims_.write(path, fmt::format("--save {}", buffer));
    prepared.saves.emplace_back(buffer, std::make_unique<Output>(destination));
  }
}

/// Constants are of each program, the others of the memory that all launches share.
void LaunchSession::set_variables(const Prepared& prepared) {
  Program& program = *programs_.at(prepared.entry);
  for (const VariableSetting& setting : prepared.settings) {
    const std::string name(setting.variable->name);
    std::vector<std::byte> bytes =
        setting.buffer.empty() ? setting.bytes : address_bytes(buffers_.at(setting.buffer).address);
    for (const ModuleVariable& variable : program.variables) {
      if (variable.name != name) continue;
      memory_.remove(variable.address);
      memory_.place(variable.address, bytes, name);
    }
    constants_[name] = std::move(bytes);
  }
  for (const ConstantVariable& variable : program.constant_variables) {
    const auto known = constants_.find(variable.name);
    if (known == constants_.end()) continue;
    std::copy(known->second.begin(), known->second.end(),
              program.constant_memory.begin() + static_cast<std::ptrdiff_t>(variable.offset));
  }
}

/// A parameter's bytes; a buffer is allocated, and freed after the launch when it has no name.
std::vector<std::byte> LaunchSession::bytes_of(const Argument& argument,
                                               std::vector<std::uint64_t>& unnamed) {
  switch (argument.kind) {
    case Argument::Kind::scalar:
      return argument.bytes;
    case Argument::Kind::reference:
      return address_bytes(buffers_.at(argument.name).address);
    case Argument::Kind::buffer:
      break;
  }
  if (const auto known = buffers_.find(argument.name); known != buffers_.end()) {
    memory_.remove(known->second.address);
    written_.remove(known->second.address);
  }
  const std::uint64_t address =
      memory_.allocate(contents_of(argument, available_memory() / 2),
                       argument.name.empty() ? argument.text : argument.name);
  if (!argument.is_set()) written_.add(address, memory_.find(address)->data.size());
  if (argument.name.empty()) {
    unnamed.push_back(address);
  } else {
    buffers_[argument.name] = {address, argument.element};
  }
  return address_bytes(address);
}

void LaunchSession::save(const Prepared& prepared) {
  for (const auto& [name, output] : prepared.saves) {
    const Buffer& buffer = buffers_.at(name);
    const std::span<const std::byte> data = memory_.find(buffer.address)->data;
    const auto* bytes = reinterpret_cast<const char*>(data.data());
    if (output->name().ends_with(".npy")) {
      output->write(npy_header(buffer.element, data.size()));
    }
    output->write({bytes, data.size()});
    output->finish();
  }
}

std::vector<schema::Line> LaunchSession::lines_of(const Program& program,
                                                  const LaunchOutcome& outcome) {
  std::vector<schema::Line> lines = source_lines(program, outcome, "", "");
  for (schema::Line& line : lines) line.text = line_text(sources_.text(line.file), line.line);
  return lines;
}

std::string LaunchSession::text_of(const std::string& file) const {
  const bool is_ptx = file == file_.path && file.ends_with(".ptx");
  return is_ptx ? file_.module->text : allowed_.text(file);
}

schema::Explanation LaunchSession::explanation_of(const Program& program, const Geometry& geometry,
                                                  const LaunchOutcome& outcome) {
  schema::Explanation none;
  if (options_.check) {
    none.missing.push_back({"", "nothing but mistakes was looked for (--check)"});
  } else if (!options_.blocks.empty() && !outcome.recording) {
    none.missing.push_back({"", "only some of its blocks were run (--blocks)"});
  }
  if (!outcome.recording) return none;
  explain::Options options;
  options.sources = &sources_;
  options.buffer = explain::buffers_of(memory_);
  options.shapes = options_.shapes;
  return explain::explain(program, geometry, outcome, options);
}

std::optional<SessionOutcome> LaunchSession::run_next() {
  const Prepared& prepared = prepared_.at(next_++);
  const Program& program = *prepared.program;
  const Geometry& geometry = prepared.launch->geometry;
  schema::Launch record;
  record.family = "model";
  record.variant =
      prepared.launch->name.empty() ? readable_name(prepared.entry) : prepared.launch->name;
  record.size = prepared.launch->size;
  record.kernel = prepared.entry;
  record.set_geometry(geometry);
  record.static_shared_bytes = program.static_shared_bytes;
  record.registers = program.resources.registers;
  record.local_bytes = program.resources.local_bytes;
  record.resources_reason = why_not_known(program);
  record.code = code_of(program);
  record.timing_reason = "the model executes PTX on the CPU and has no clock";

  std::vector<std::uint64_t> unnamed;
  std::vector<std::vector<std::byte>> values;
  for (const Argument& argument : prepared.arguments) values.push_back(bytes_of(argument, unnamed));
  set_variables(prepared);
  const auto parameters = pack_parameters(program, values);
  LaunchOptions options;
  options.threads = options_.threads;
  options.cancelled = options_.cancelled;
  options.native_after = options_.native_after;
  options.keep_variables = true;
  if (options_.progress) {
    options.progress = [&](std::uint64_t done, std::uint64_t blocks) {
      options_.progress(record.variant, done, blocks);
    };
  }
  std::optional<check::Checker> checker;
  if (options_.check) {
    options.observer =
        &checker.emplace(program, geometry, memory_, written_, check::Wanted::findings);
  }
  BlockSelection selection;
  std::optional<Estimate> estimate;
  if (!options_.blocks.empty()) {
    selection = select_blocks(geometry.grid, block_count(options_.blocks, geometry.grid));
    if (!selection.is_whole(geometry.grid)) {
      options.sample = &estimate.emplace(program, geometry.grid, selection);
    }
  }
  options.records = true;
  options.follows_machine_code = counts_machine_code(options_.counters);
  const LaunchOutcome outcome = launch(program, geometry, *parameters, memory_, options);
  if (outcome.cancelled) return std::nullopt;
  if (outcome.trap) {
    record.outcome = schema::LaunchOutcome::failed;
    record.reason = outcome.trap->message;
  } else {
    for (const std::string& name : options_.counters) {
      record.counters.push_back(estimate ? estimate->counter(name, outcome)
                                         : counter(name, program, outcome));
    }
    record.lines = lines_of(program, outcome);
    record.explanation = explanation_of(program, geometry, outcome);
    for (schema::Line& line : record.lines) {
      if (estimate) line.grade = std::max(line.grade, schema::Grade::sampled);
    }
  }
  save(prepared);
  for (const std::uint64_t address : unnamed) {
    memory_.remove(address);
    written_.remove(address);
  }
  SessionOutcome answer;
  answer.remark = parted_remark(program, outcome);
  answer.launch = std::move(record);
  if (checker) {
    checker->ended(outcome);
    answer.findings = checker->findings();
    answer.checked = coverage_of(*checker);
    answer.checked.has_ended = !outcome.trap.has_value();
    if (estimate) answer.checked.blocks = estimate->coverage();
  }
  if (estimate) {
    answer.coverage = estimate->coverage();
    answer.ranges = estimate->ranges();
  }
  return answer;
}

}  // namespace warpmeter::model
