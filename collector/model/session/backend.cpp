// SPDX-License-Identifier: MIT
#include "collector/model/session/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/kernel_name.h"
#include "base/named_files.h"
#include "collector/model/check/checker.h"
#include "collector/model/counts/executed.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/intervals.h"
#include "collector/model/counts/kernel_code.h"
#include "collector/model/counts/sample.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/counts/steps/steps.h"
#include "collector/model/explain/explain.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/toolkit.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"
#include "collector/model/session/session.h"
#include "kernels/images.h"
#include "schema/catalogue.h"

namespace warpmeter::model {
namespace {

constexpr const char* no_times =
    "the model executes PTX on the CPU and has no clock; run on a GPU for times";

/// Parses and decodes each kernel once. Shared by the workloads of a backend.
class Programs {
 public:
  explicit Programs(int arch) : arch_(arch) {}

  /// The program, or why there is none.
  std::variant<Program, ptx::Diagnostic>& get(const kernels::Image& image,
                                              const std::string& entry) {
    const auto known = programs_.find({&image, entry});
    if (known != programs_.end()) return known->second;
    return programs_.emplace(std::pair{&image, entry}, make(image, entry)).first->second;
  }

 private:
  using Parsed = std::variant<std::unique_ptr<ptx::Module>, ptx::Diagnostic>;

  std::variant<Program, ptx::Diagnostic> make(const kernels::Image& image,
                                              const std::string& entry) {
    auto parsed = modules_.find(&image);
    if (parsed == modules_.end()) parsed = modules_.emplace(&image, parse(image)).first;
    if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed->second)) return *wrong;
    const ptx::Module& module = *std::get<std::unique_ptr<ptx::Module>>(parsed->second);
    auto decoded = decode(module, entry);
    if (auto* program = std::get_if<Program>(&decoded)) {
      if (std::string why = why_not_alone(*program); !why.empty()) {
        return ptx::Diagnostic{0, 0, std::move(why)};
      }
      const std::string why = steps::audit(*program, module, std::as_bytes(code_of(image)->cubin));
      if (!why.empty()) program->why_unaudited += fmt::format(", since the embedded cubin {}", why);
      for (std::string& name : program->files) name = relative_path(name);
    }
    return decoded;
  }

  /// The architecture's own PTX, or the newest of those before it, as a driver chooses.
  const kernels::Code* code_of(const kernels::Image& image) const {
    const kernels::Code* best = nullptr;
    for (const kernels::Code& code : image.codes) {
      const bool fits = !code.ptx.empty() && code.arch <= arch_;
      if (fits && (best == nullptr || best->arch < code.arch)) best = &code;
    }
    return best;
  }

  Parsed parse(const kernels::Image& image) const {
    if (const kernels::Code* code = code_of(image)) {
      Parsed parsed = ptx::parse(std::string(code->ptx));
      if (auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
        wrong->message = fmt::format("{}.sm_{}.ptx:{}:{}: {}", image.name, code->arch, wrong->line,
                                     wrong->column, wrong->message);
      }
      return parsed;
    }
    return ptx::Diagnostic{0, 0,
                           fmt::format("{} holds no PTX for sm_{}", image.source_path, arch_)};
  }

  const int arch_;
  std::map<const kernels::Image*, Parsed> modules_;
  std::map<std::pair<const kernels::Image*, std::string>, std::variant<Program, ptx::Diagnostic>>
      programs_;
};

/// The counted cost of a launch.
struct Executed {
  const Program* program = nullptr;
  LaunchOutcome outcome;
  schema::Explanation explanation;
};

class ModelWorkload : public run::Workload {
 public:
  ModelWorkload(const kernels::Problem& problem, const Options& options,
                const std::vector<std::string>& counters, Programs& programs)
      : problem_(problem), options_(options), counters_(counters), programs_(programs) {}

  run::Execution execute(const run::Launch& launch) override {
    run::Execution execution;
    auto& decoded = programs_.get(*launch.image, launch.entry);
    if (const auto* refused = std::get_if<ptx::Diagnostic>(&decoded)) {
      execution.failure = refused->message;
      return execution;
    }
    Program& program = std::get<Program>(decoded);
    execution.static_shared_bytes = program.static_shared_bytes;
    execution.registers = program.resources.registers;
    execution.local_bytes = program.resources.local_bytes;
    execution.resources_reason = why_not_known(program);
    execution.code = code_of(program);
    execution.failure = geometry_failure(program, launch.geometry);
    if (execution.failure.empty()) {
      execution.failure =
          register_failure(program.kernel, program.resources, launch.geometry.block);
    }
    if (execution.failure.empty()) execution.failure = alone_failure(program);
    if (!execution.failure.empty()) return execution;

    DeviceMemory memory;
    check::WrittenMemory written;
    std::vector<std::uint64_t> addresses;
    for (const kernels::Buffer& buffer : problem_.buffers) {
      addresses.push_back(memory.allocate(buffer.initial, buffer.name));
      if (!buffer.is_set) written.add(addresses.back(), buffer.initial.size());
    }
    const auto parameters = pack_parameters(program, arguments(addresses));
    if (!parameters) {
      execution.failure =
          fmt::format("kernel '{}' takes other parameters than the {} that its problem has",
                      readable_name(program.kernel), problem_.arguments.size());
      return execution;
    }
    LaunchOptions options{
        options_.threads, options_.instruction_budget, options_.cancelled, nullptr, {}};
    options.keep_variables = true;  // the memory goes, and what was set has to be found
    options.records = true;
    options.follows_machine_code = options_.keeps_instructions || counts_machine_code(counters_);
    std::optional<Sample> sample;
    if (!options_.blocks.empty()) {
      BlockSelection selection = sample_blocks(launch.geometry.grid, sample_share(options_.blocks));
      if (!selection.is_whole(launch.geometry.grid)) {
        options.sample =
            &sample.emplace(program, launch.geometry.grid, std::move(selection), counters_);
      }
    }
    std::optional<check::Checker> checker;
    if (options_.checked) {
      options.observer =
          &checker.emplace(program, launch.geometry, memory, written, check::Wanted::findings);
    }
    const std::vector<std::byte> constants = program.constant_memory;
    set_variables(program, memory, addresses);
    LaunchOutcome outcome = model::launch(program, launch.geometry, *parameters, memory, options);
    program.constant_memory = constants;
    if (checker && !outcome.cancelled) {
      checker->ended(outcome);
      check::Coverage coverage = coverage_of(*checker);
      coverage.has_ended = !outcome.trap.has_value();
      options_.checked({checker->findings(), std::move(coverage)});
    }
    if (outcome.trap) {
      execution.failure = outcome.trap->message;
    } else if (outcome.cancelled) {
      execution.failure = "cancelled";
    } else {
      schema::Explanation explanation = explain(launch, program, outcome, memory);
      outcome.recording.reset();
      for (const std::uint64_t address : addresses) {
        execution.buffers.push_back(memory.remove(address));
      }
      executed_[key_of(launch)] = {&program, std::move(outcome), std::move(explanation)};
    }
    return execution;
  }

  std::vector<std::vector<schema::Counter>> count(std::span<const run::Launch> launches) override {
    std::vector<std::vector<schema::Counter>> counted;
    for (const run::Launch& launch : launches) {
      const Executed* executed = find(launch);
      std::vector<schema::Counter>& counters = counted.emplace_back();
      for (const std::string& name : counters_) {
        counters.push_back(executed == nullptr
                               ? not_executed(name)
                               : counter_named(name, *executed->program, executed->outcome));
      }
    }
    return counted;
  }

  std::vector<schema::Interval> intervals(const run::Launch& launch) override {
    const Executed* executed = find(launch);
    if (executed == nullptr || !executed->outcome.sampled) return {};
    return model::intervals(count({&launch, 1}).front(), {{executed->program, executed->outcome}});
  }

  std::vector<double> time(const run::Launch&, schema::CacheState, int, int) override { return {}; }

  schema::Explanation explain(const run::Launch& launch) override {
    const Executed* executed = find(launch);
    return executed == nullptr ? schema::Explanation{} : executed->explanation;
  }

  std::vector<schema::Line> lines(const run::Launch& launch) override {
    const Executed* executed = find(launch);
    if (executed == nullptr) return {};
    return source_lines(*executed->program, executed->outcome, launch.image->source_path,
                        launch.image->source);
  }

  std::vector<schema::InstructionCount> instructions(const run::Launch& launch) override {
    const Executed* executed = options_.keeps_instructions ? find(launch) : nullptr;
    return executed == nullptr ? std::vector<schema::InstructionCount>()
                               : instruction_counts(*executed->program, executed->outcome);
  }

 private:
  using Key = std::tuple<const kernels::Image*, std::string, std::vector<std::uint32_t>>;

  static Key key_of(const run::Launch& launch) {
    const Geometry& g = launch.geometry;
    return {
        launch.image,
        launch.entry,
        {g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z, g.dynamic_shared_bytes}};
  }

  /// The counted cost of the launch, executed now if it was not before; null when it fails.
  const Executed* find(const run::Launch& launch) {
    const Key key = key_of(launch);
    if (!executed_.contains(key)) execute(launch);
    const auto found = executed_.find(key);
    return found == executed_.end() ? nullptr : &found->second;
  }

  schema::Explanation explain(const run::Launch& launch, const Program& program,
                              const LaunchOutcome& outcome, const DeviceMemory& memory) {
    if (outcome.sampled) {
      schema::Explanation none;
      none.missing.push_back({"", std::string(why_sampled_is_not_explained)});
      return none;
    }
    explain::Options options;
    const kernels::Image& image = *launch.image;
    allowed_ = allowed_sources(std::string(image.source_path), image.folders);
    sources_.give(std::string(image.source_path), image.source);
    options.sources = &sources_;
    options.buffer = explain::buffers_of(memory);
    options.shapes = options_.shapes;
    options.shaped = options_.shaped;
    return explain::explain(program, launch.geometry, outcome, options);
  }

  static schema::Counter not_executed(const std::string& name) {
    return {name, std::nullopt, schema::Grade::unavailable, "the launch failed"};
  }

  void set_variables(Program& program, DeviceMemory& memory,
                     const std::vector<std::uint64_t>& addresses) const {
    for (const kernels::Setting& setting : problem_.settings) {
      std::vector<std::byte> bytes = setting.bytes;
      if (setting.buffer) {
        const auto* address = reinterpret_cast<const std::byte*>(&addresses.at(*setting.buffer));
        bytes.assign(address, address + sizeof(std::uint64_t));
      }
      for (const ModuleVariable& variable : program.variables) {
        if (variable.name == setting.symbol) memory.place(variable.address, bytes, setting.symbol);
      }
      for (const ConstantVariable& variable : program.constant_variables) {
        if (variable.name != setting.symbol) continue;
        std::copy(bytes.begin(), bytes.end(),
                  program.constant_memory.begin() + static_cast<std::ptrdiff_t>(variable.offset));
      }
    }
  }

  std::vector<std::vector<std::byte>> arguments(const std::vector<std::uint64_t>& addresses) const {
    std::vector<std::vector<std::byte>> all;
    for (const kernels::Argument& argument : problem_.arguments) {
      if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
        const std::uint64_t address = addresses[buffer->index];
        const auto* bytes = reinterpret_cast<const std::byte*>(&address);
        all.emplace_back(bytes, bytes + sizeof(address));
      } else {
        const auto& scalar = std::get<kernels::ScalarArgument>(argument);
        all.emplace_back(scalar.bytes.begin(), scalar.bytes.end());
      }
    }
    return all;
  }

  const kernels::Problem& problem_;
  const Options& options_;
  const std::vector<std::string>& counters_;
  Programs& programs_;
  std::map<Key, Executed> executed_;
  std::optional<NamedFiles> allowed_;  ///< for the sources that the code names
  explain::Sources sources_{[this](const std::string& file) { return allowed_->text(file); }};
};

/// Architectures that any family's image has PTX of, in ascending order.
std::set<int> embedded_architectures() {
  std::set<int> all;
  for (const kernels::Image* image : kernels::images::all_in_kernels) {
    for (const kernels::Code& code : image->codes) {
      if (!code.ptx.empty()) all.insert(code.arch);
    }
  }
  return all;
}

class ModelBackend : public run::Backend {
 public:
  explicit ModelBackend(const Options& options) : options_(options), programs_(options.arch) {
    device_.backend = "model";
    device_.name = fmt::format("model sm_{}", options.arch);
    device_.compute_capability = options.arch;
  }

  const schema::Device& device() const override { return device_; }

  schema::DeviceState state(std::string phase) override {
    schema::DeviceState state;
    state.phase = std::move(phase);
    state.unavailable = "the model has no device whose state could be read";
    return state;
  }

  void select(std::span<const std::string> counters) override {
    counters_.assign(counters.begin(), counters.end());
  }

  std::string counters_unavailable() const override { return ""; }
  std::string timing_unavailable() const override { return no_times; }
  std::string launch_unavailable(const run::Launch& launch) const override {
    if (launch.library.empty()) return without_ptx(launch.image);
    return fmt::format("{} is machine code of {}, and the model executes PTX; run on a GPU",
                       launch.entry, launch.library);
  }

  /// A problem is held as the input, as the device's memory, and as what is expected of it; its
  /// reference may need room of its own.
  std::uint64_t problem_capacity() const override { return available_memory() / 4; }

  std::size_t variants_together() const override { return 1; }

  std::unique_ptr<run::Workload> load(const kernels::Problem& problem) override {
    std::uint64_t bytes = 0;
    for (const kernels::Buffer& buffer : problem.buffers) bytes += buffer.initial.size();
    // The input is there already; the launch and the expected values need as much again each.
    if (bytes > available_memory() / 2) {
      throw Error(ExitCode::usage,
                  fmt::format("the problem's {} bytes do not fit into this machine's memory "
                              "together with their copies; choose a smaller size",
                              bytes));
    }
    return std::make_unique<ModelWorkload>(problem, options_, counters_, programs_);
  }

 private:
  /// Empty where there is PTX, or no code at all, which the launch will say.
  static std::string without_ptx(const kernels::Image* image) {
    if (image == nullptr || image->codes.empty()) return "";
    const bool has_ptx = std::any_of(image->codes.begin(), image->codes.end(),
                                     [](const kernels::Code& code) { return !code.ptx.empty(); });
    if (has_ptx) return "";
    return fmt::format("{} is machine code alone, and the model executes PTX", image->source_path);
  }

  const Options options_;
  schema::Device device_;
  std::vector<std::string> counters_;
  Programs programs_;
};

}  // namespace

std::unique_ptr<run::Backend> open(const Options& options) {
  const std::set<int> architectures = embedded_architectures();
  if (options.is_embedded && !architectures.contains(options.arch)) {
    std::string names;
    for (const int arch : architectures) {
      names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", arch);
    }
    throw Error(ExitCode::usage,
                fmt::format("the kernels' PTX is embedded for {} only, not for sm_{}; choose one "
                            "of those or build with -DWARPMETER_ARCHITECTURES",
                            names, options.arch));
  }
  return std::make_unique<ModelBackend>(options);
}

}  // namespace warpmeter::model
