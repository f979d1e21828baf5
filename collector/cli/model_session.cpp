#include "collector/cli/model_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "collector/model/decode/decode.h"
#include "collector/model/grades.h"
#include "collector/model/host_memory.h"
#include "collector/model/npy.h"
#include "collector/model/sass/audit.h"
#include "collector/run/session.h"
#include "schema/catalogue.h"
#include "schema/error.h"

namespace warpmeter::cli {
namespace {

using model::Argument;

/// Where the PTX names no source lines, its own lines stand in for them.
void point_into_ptx(model::Program& program, const std::string& path) {
  const bool has_lines = std::any_of(program.places.begin(), program.places.end(),
                                     [](const model::Place& place) { return place.line > 0; });
  if (has_lines) return;
  program.files = {path};
  for (model::Place& place : program.places) {
    place.file = 0;
    place.line = place.ptx_line;
  }
}

std::vector<std::byte> address_bytes(std::uint64_t address) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&address);
  return {bytes, bytes + sizeof address};
}

}  // namespace

ModelSession::ModelSession(const model::KernelFile& file, ModelOptions options)
    : file_(file), options_(std::move(options)) {}

/// Audits with the cubin that the file came with, and says why that is no help. One that the person
/// named has to be.
std::string ModelSession::audit_with_file(model::Program& program) {
  std::string why = model::sass::audit(program, *file_.module, file_.cubin);
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
std::string ModelSession::audit_with_ptxas(model::Program& program) {
  if (!assembled_) assembled_ = model::assemble(*file_.module);
  if (!assembled_->failure.empty()) return assembled_->failure;
  const std::string why = model::sass::audit(program, *file_.module, assembled_->cubin);
  return why.empty() ? why : fmt::format("the cubin of ptxas {}", why);
}

/// Takes the widths of the accesses from the machine code, where there is any.
void ModelSession::audit(model::Program& program) {
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

const model::Program& ModelSession::program_of(const std::string& entry) {
  std::unique_ptr<model::Program>& program = programs_[entry];
  if (program) return *program;
  auto decoded = model::decode(*file_.module, entry);
  if (const auto* refused = std::get_if<model::ptx::Diagnostic>(&decoded)) {
    throw Error(ExitCode::kernel, refused->message);
  }
  program = std::make_unique<model::Program>(std::move(std::get<model::Program>(decoded)));
  audit(*program);
  point_into_ptx(*program, file_.path);
  for (std::string& name : program->files) name = model::relative_path(name);
  return *program;
}

void ModelSession::prepare(const ModelLaunch& launch) {
  Prepared prepared;
  prepared.launch = &launch;
  prepared.entry = model::find_entry(file_, launch.kernel);
  prepared.program = &program_of(prepared.entry);
  const std::string wrong = model::geometry_failure(*prepared.program, launch.geometry);
  if (!wrong.empty())
    throw Error(ExitCode::usage, wrong + "; choose another --grid, --block or --shared");
  if (!options_.blocks.empty()) model::block_count(options_.blocks, launch.geometry.grid);
  for (const std::string& text : launch.arguments) {
    prepared.arguments.push_back(model::parse_argument(text));
  }
  const std::string name = model::readable_name(prepared.entry);
  model::check_signature(*prepared.program, name, prepared.arguments);

  const std::uint64_t most = model::available_memory() / 2;
  for (const Argument& argument : prepared.arguments) {
    if (argument.kind == Argument::Kind::reference && !announced_.contains(argument.name)) {
      throw Error(
          ExitCode::usage,
          fmt::format("'{}' names no buffer of an earlier argument; those are {}", argument.text,
                      announced_.empty() ? "none yet" : "named NAME:TYPE[N]"));
    }
    if (argument.kind != Argument::Kind::buffer) continue;
    if (!argument.name.empty()) announced_[argument.name] = argument.element;
    const std::uint64_t width = model::bytes_of(argument.element);
    if (argument.count > most / width || (announced_bytes_ += argument.count * width) > most) {
      throw Error(ExitCode::kernel,
                  fmt::format("'{}' does not fit into this machine's memory beside the other "
                              "buffers ({} bytes are free); choose a smaller one",
                              argument.text, 2 * most));
    }
  }
  for (const auto& [buffer, path] : launch.saves) {
    if (!announced_.contains(buffer)) {
      std::vector<std::string> names;
      for (const auto& [known, element] : announced_) names.push_back(known);
      throw Error(ExitCode::usage,
                  fmt::format("there is no buffer '{}' to save{}; name one in its --arg: {}:f32[N]",
                              buffer, schema::did_you_mean(buffer, names), buffer));
    }
    if (!path.ends_with(".npy") && !path.ends_with(".bin")) {
      throw Error(
          ExitCode::usage,
          fmt::format("'{}' is neither .npy nor .bin: a buffer is saved as one of them", path));
    }
  }
  prepared_.push_back(std::move(prepared));
}

/// A parameter's bytes; a buffer is allocated, and freed after the launch when it has no name.
std::vector<std::byte> ModelSession::bytes_of(const Argument& argument,
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
      memory_.allocate(model::contents_of(argument, model::available_memory() / 2),
                       argument.name.empty() ? argument.text : argument.name);
  if (!argument.is_set()) written_.add(address, memory_.find(address)->data.size());
  if (argument.name.empty()) {
    unnamed.push_back(address);
  } else {
    buffers_[argument.name] = {address, argument.element};
  }
  return address_bytes(address);
}

void ModelSession::save(const ModelLaunch& launch) {
  for (const auto& [name, path] : launch.saves) {
    const Buffer& buffer = buffers_.at(name);
    const std::vector<std::byte>& data = memory_.find(buffer.address)->data;
    if (path.ends_with(".npy")) {
      model::write_npy(path, buffer.element, data);
      continue;
    }
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream.write(reinterpret_cast<const char*>(data.data()),
                 static_cast<std::streamsize>(data.size()));
    stream.close();
    if (!stream) {
      throw Error(ExitCode::file, fmt::format("{} cannot be written; choose another place", path));
    }
  }
}

std::vector<schema::Line> ModelSession::lines_of(const model::Program& program,
                                                 const model::LaunchOutcome& outcome) {
  std::vector<schema::Line> lines = model::source_lines(program, outcome, "", "");
  for (schema::Line& line : lines) {
    const auto [source, is_new] = sources_.try_emplace(line.file);
    if (is_new) {
      source->second = line.file == file_.path ? file_.module->text : model::source_text(line.file);
      if (line.file == file_.path && !file_.path.ends_with(".ptx")) {
        source->second = model::source_text(line.file);
      }
    }
    line.text = model::line_text(source->second, line.line);
  }
  return lines;
}

std::optional<ModelOutcome> ModelSession::run_next() {
  const Prepared& prepared = prepared_.at(next_++);
  const model::Program& program = *prepared.program;
  const kernels::Geometry& geometry = prepared.launch->geometry;
  schema::Launch record;
  record.family = "model";
  record.variant = model::readable_name(prepared.entry);
  record.kernel = prepared.entry;
  run::set_geometry(record, geometry);
  record.static_shared_bytes = program.static_shared_bytes;
  record.timing_reason = "the model executes PTX on the CPU and has no clock";

  std::vector<std::uint64_t> unnamed;
  std::vector<std::vector<std::byte>> values;
  for (const Argument& argument : prepared.arguments) values.push_back(bytes_of(argument, unnamed));
  const auto parameters = model::pack_parameters(program, values);
  model::LaunchOptions options;
  options.threads = options_.threads;
  options.cancelled = options_.cancelled;
  options.keep_variables = true;
  if (options_.progress) {
    options.progress = [&](std::uint64_t done, std::uint64_t blocks) {
      options_.progress(record.variant, done, blocks);
    };
  }
  std::optional<model::check::Checker> checker;
  if (options_.check) {
    options.checker = &checker.emplace(program, geometry, memory_, written_);
  }
  model::BlockSelection selection;
  std::optional<model::Estimate> estimate;
  if (!options_.blocks.empty()) {
    selection =
        model::select_blocks(geometry.grid, model::block_count(options_.blocks, geometry.grid));
    if (!selection.is_whole(geometry.grid)) {
      options.estimate = &estimate.emplace(program, geometry.grid, selection);
    }
  }
  const model::LaunchOutcome outcome =
      model::launch(program, geometry, *parameters, memory_, options);
  if (outcome.cancelled) return std::nullopt;
  if (outcome.trap) {
    record.outcome = schema::LaunchOutcome::failed;
    record.reason = outcome.trap->message;
  } else {
    for (const std::string& name : options_.counters) {
      record.counters.push_back(estimate ? estimate->counter(name, outcome)
                                         : model::counter(name, program, outcome));
    }
    record.lines = lines_of(program, outcome);
    for (schema::Line& line : record.lines) {
      if (estimate) line.grade = std::max(line.grade, schema::Grade::modelled);
    }
  }
  save(*prepared.launch);
  for (const std::uint64_t address : unnamed) {
    memory_.remove(address);
    written_.remove(address);
  }
  ModelOutcome answer;
  answer.launch = std::move(record);
  if (checker) {
    answer.findings = checker->findings();
    answer.checked.is_partial = checker->is_partial();
    answer.checked.has_ended = !outcome.trap.has_value();
    if (estimate) answer.checked.blocks = estimate->coverage();
  }
  if (estimate) {
    answer.coverage = estimate->coverage();
    answer.ranges = estimate->ranges();
  }
  return answer;
}

}  // namespace warpmeter::cli
