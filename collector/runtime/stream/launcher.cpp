// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/kernel_name.h"
#include "collector/model/check/checker.h"
#include "collector/model/counts/block_selection.h"
#include "collector/model/counts/executed.h"
#include "collector/model/counts/grades.h"
#include "collector/model/counts/sample.h"
#include "collector/model/machine/device_runtime.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/runtime/check/refused_launches.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/image/registry.h"
#include "collector/runtime/process/limits.h"
#include "collector/runtime/process/textures.h"
#include "collector/runtime/stream/device_side.h"
#include "collector/runtime/stream/others.h"

namespace warpmeter::runtime {
namespace {

/// The hardware's answer to a kernel that ends so.
cudaError_t error_of(model::TrapKind kind) {
  switch (kind) {
    case model::TrapKind::none:
      return cudaSuccess;
    case model::TrapKind::misaligned:
    case model::TrapKind::misaligned_surface:
      return cudaErrorMisalignedAddress;
    case model::TrapKind::out_of_bounds:
    case model::TrapKind::outside_surface:
    case model::TrapKind::stack_overflow:  // a measurement on sm_90 showed it
      return cudaErrorIllegalAddress;
    case model::TrapKind::illegal_box:
    case model::TrapKind::incomplete_warpgroup:
      return cudaErrorIllegalInstruction;
    case model::TrapKind::assertion:
      return cudaErrorAssert;
    case model::TrapKind::waits_outside:  // none of hardware
      return cudaErrorNotSupported;
    default:
      return cudaErrorLaunchFailure;
  }
}

/// The lines of the sites that are so; empty: there are none.
std::string lines_of_sites(const model::Program& program, const model::LaunchOutcome& outcome,
                           bool model::SiteCounts::*is_so) {
  std::set<std::string> lines;
  for (std::size_t i = 0; i < outcome.counts.size(); ++i) {
    if (!(outcome.counts[i].*is_so)) continue;
    const model::Place& place = program.places[program.sites[i].instruction];
    const bool has_line = place.line > 0;
    lines.insert(
        has_line
            ? fmt::format("{}:{}", program.files[static_cast<std::size_t>(place.file)], place.line)
            : fmt::format("line {} of its PTX", place.ptx_line));
  }
  return fmt::format("{}", fmt::join(lines, ", "));
}

/// Reports accesses that hardware takes, or may take, though they lead where they should not.
void tell_of_strays(Process& process, const model::Program& program,
                    const model::LaunchOutcome& outcome) {
  const auto kernel = [&] { return readable_name(program.kernel); };  // only a mistake names it
  const std::string beside = lines_of_sites(program, outcome, &model::SiteCounts::has_strayed);
  if (!beside.empty()) {
    process.say(
        fmt::format("kernel '{}' accesses memory beside its buffers, which hardware does not "
                    "notice there: {}{}",
                    kernel(), beside, place_of_call().after("; launched")));
  }
  const std::string ended = lines_of_sites(program, outcome, &model::SiteCounts::reaches_ended);
  if (!ended.empty() && !outcome.trap) {
    process.say(fmt::format(
        "kernel '{}' reaches shared memory of a block of its cluster that has ended; on hardware "
        "the launch fails (cudaErrorLaunchFailure) unless it comes soon enough; let cluster.sync() "
        "stand behind the last access to another block: {}",
        kernel(), ended));
  }
}

/// Blocks side by side may cost as much memory: the program's own grows by little.
std::uint64_t most_kept_bytes(Process& process) {
  constexpr std::uint64_t always = std::uint64_t{64} << 20;
  std::uint64_t bytes = 0;
  process.memory().for_each([&](const Block& block) { bytes += block.bytes; });
  return always + bytes / 10;
}

}  // namespace

std::vector<std::byte> parameters_of(Kernel& kernel, void* const* arguments) {
  const model::Program* program = kernel.program();
  if (program == nullptr) return {};
  std::vector<std::byte> packed(program->parameter_bytes);
  for (std::size_t i = 0; i < program->parameters.size(); ++i) {
    const model::Parameter& parameter = program->parameters[i];
    std::memcpy(packed.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return packed;
}

namespace {

/// The bytes that a module's variable begins with; empty: it has none of that name.
std::span<const std::byte> first_value(const model::Program& program, std::string_view name) {
  for (const model::ModuleVariable& variable : program.variables) {
    if (variable.name == name) return variable.initial;
  }
  for (const model::ConstantVariable& variable : program.constant_variables) {
    if (variable.name != name) continue;
    return std::span(program.constant_memory).subspan(variable.offset);
  }
  return {};
}

/// Variables of which host code has set its own instead of the device's. One whose value was copied
/// to the device's is the program's way to keep it.
std::vector<HostVariable*> set_on_host_only(Process& process, Kernel& kernel) {
  std::vector<HostVariable*> found;
  for (HostVariable& variable : Registry::get().host_variables) {
    if (variable.is_told || !variable.is_changed()) continue;
    const std::optional<Process::Symbol> symbol = process.symbol(variable.at);
    if (!symbol || symbol->module != &kernel.module()) continue;
    const std::string& name = Registry::get().variable(variable.at)->second;
    const std::size_t bytes = variable.initial.size();
    const std::span<const std::byte> first = first_value(*kernel.program(), name);
    bool is_inside = false;
    const std::byte* now = process.memory().translate(symbol->place.address, bytes, is_inside);
    if (now == nullptr || !is_inside || first.size() < bytes) continue;
    if (std::memcmp(now, first.data(), bytes) == 0) found.push_back(&variable);
  }
  return found;
}

/// Tells of those that a kernel has used.
void tell_set_on_host_only(Process& process, const std::vector<HostVariable*>& variables,
                           const model::check::Checker& checker) {
  for (HostVariable* variable : variables) {
    const VariablePlace place = process.symbol(variable->at)->place;
    checker.for_each_touched([&](const model::check::Touched& touched) {
      variable->is_told |= touched.address < place.address + place.bytes &&
                           place.address < touched.address + touched.bytes;
    });
    if (!variable->is_told) continue;
    process.checks()->set_on_host_only(Registry::get().variable(variable->at)->second);
  }
}

/// Says which kernel runs, once it has for a while: it may be the last that is heard of it.
class LongRun {
 public:
  LongRun(Report* report, const std::string& kernel) : report_(report), kernel_(kernel) {}
  ~LongRun() {
    if (is_told_) report_->has_run();
  }
  LongRun(const LongRun&) = delete;
  LongRun& operator=(const LongRun&) = delete;

  /// By any thread that executes it, now and then.
  void go_on() {
    if (report_ == nullptr || std::chrono::steady_clock::now() - begin_ < a_while) return;
    if (!is_told_.exchange(true)) report_->runs(kernel_);
  }

 private:
  static constexpr std::chrono::milliseconds a_while{300};

  Report* report_;
  const std::string& kernel_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<bool> is_told_ = false;
};

/// A program's kernel of one warp may well go on for seconds of a GPU's time.
constexpr std::uint64_t instruction_budget = 4 * model::default_instruction_budget;

constexpr std::string_view own_accesses_reason =
    "approximate: what the device's runtime loads and stores itself, to copy, set and answer, is "
    "not counted";
constexpr std::string_view waited_reason =
    "approximate: the kernel waits for the host or another stream, and how often it asks depends "
    "on time";

/// The grids of one launch: its own, and those that kernels launch from there on.
class Grids {
 public:
  Grids(Process& process, const LaunchPlace& place, bool is_counted)
      : process_(process),
        place_(place),
        is_counted_(is_counted),
        follows_machine_code_(is_counted &&
                              model::counts_machine_code(process.report()->config().counters)) {}

  /// Until one fails.
  void run(const KernelWork& work) {
    const std::string apart = work.kernel->module().apart_remark();
    if (!apart.empty()) process_.say(apart);
    DeviceSide kernels(process_, work.kernel->module(), place_.stream);
    std::size_t most_pending = 0;
    if (get_limit(most_pending, cudaLimitDevRuntimePendingLaunchCount) != cudaSuccess) return;
    model::DeviceRuntime runtime(kernels, process_.memory().machine(), most_pending);
    multiprocessors_ = work.multiprocessors;
    others_.emplace(process_, work.device);
    run(*work.kernel, work.geometry, work.parameters, runtime);
    while (!has_failed_) {
      const std::optional<model::ChildGrid> child = runtime.next();
      if (!child) break;
      run(*kernels.find(child->kernel), child->geometry, child->parameters, runtime);
    }
    if (const auto address = runtime.wrong_address(); address && !has_failed_) {
      fail(cudaErrorIllegalAddress, kernel_,
           fmt::format("a copy that kernel '{}' launched reaches address 0x{:x}, where nothing is "
                       "allocated",
                       readable_name(work.kernel->entry()), *address));
    }
    if (runtime.is_wrong_graph() && !has_failed_) {
      fail(cudaErrorIllegalAddress, kernel_,
           fmt::format("kernel '{}' launches what is no graph for kernels: one is made with "
                       "cudaGraphInstantiateFlagDeviceLaunch",
                       readable_name(work.kernel->entry())));
    }
    has_own_accesses_ = runtime.has_own_accesses();
    has_waited_ = others_->have_been_waited_for();
    others_.reset();
  }

  const std::vector<model::Ran>& all() const { return ran_; }
  const std::string& failure() const { return failure_; }
  /// It failed here alone.
  bool is_limit() const { return is_limit_; }
  /// Why counts are not exact; empty: they may be.
  std::string_view doubt() const {
    return has_own_accesses_ ? own_accesses_reason : has_waited_ ? waited_reason : "";
  }
  std::uint64_t warp_instructions() const {
    std::uint64_t sum = 0;
    for (const model::Ran& ran : ran_) sum += ran.outcome.warp_instructions;
    return sum;
  }

 private:
  void run(Kernel& kernel, const Geometry& geometry, const std::vector<std::byte>& parameters,
           model::DeviceRuntime& runtime) {
    if (is_counted_) kernel.audit();
    kernel_ = kernel.entry();
    model::Program& program = *kernel.program();
    hold_limits(program);
    kernel.module().place_variables();
    kernel.module().set_constants(program);

    model::LaunchOptions options;
    options.keep_variables = true;
    options.device_runtime = &runtime;
    options.is_cooperative = geometry.is_cooperative;
    if (multiprocessors_ != nullptr) options.multiprocessors = *multiprocessors_;
    options.textures = &machine_textures();
    options.counts = is_counted_;
    options.follows_machine_code = is_counted_ && follows_machine_code_;
    options.may_leave_shared = true;
    options.instruction_budget = instruction_budget;
    options.predicated_barriers = [&kernel] { return kernel.predicated_barriers(); };
    options.beside = &*others_;
    options.registers = [&kernel] { return kernel.resources().registers; };
    options.records = is_counted_ && ran_.empty() && process_.explained().wants(place_);
    // This machine's clock, as a program may set it beside the host's.
    options.began_at = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
    options.most_kept_bytes = most_kept_bytes(process_);
    LongRun long_run(process_.report(), kernel.entry());
    options.cancelled = [&long_run] {
      long_run.go_on();
      return false;
    };
    std::mutex printing;
    bool has_printed = false;
    options.print = [&](std::string_view text) {
      const std::lock_guard alone(printing);
      has_printed = true;
      process_.print(text);
    };
    std::optional<model::Sample> sample;
    if (is_counted_ && !process_.report()->config().blocks.empty()) {
      const inject::Config& config = process_.report()->config();
      const Dim3& grid = geometry.grid;
      model::BlockSelection selection =
          model::sample_blocks(grid, model::sample_share(config.blocks));
      if (!selection.is_whole(grid)) {
        options.sample = &sample.emplace(program, grid, std::move(selection), config.counters);
      }
    }
    Checks* checks = process_.checks();
    std::optional<model::check::Checker> checker;
    if (checks != nullptr) {
      options.observer = &checker.emplace(program, geometry, process_.memory().machine(),
                                          checks->written(), model::check::Wanted::touched);
    }
    std::vector<HostVariable*> set_elsewhere;
    if (checker) set_elsewhere = set_on_host_only(process_, kernel);
    model::LaunchOutcome outcome =
        model::launch(program, geometry, parameters, process_.memory().machine(), options);
    if (checks != nullptr) note_stores(program, checks->written());
    if (checks != nullptr && has_printed) checks->printed(kernel.entry());
    if (checker) checker->ended(outcome);
    if (checker) checks->launched(kernel.entry(), *checker, !outcome.trap);
    if (checker) find_refused_launches(*checks, program, runtime);
    if (checker) tell_set_on_host_only(process_, set_elsewhere, *checker);
    is_limit_ = outcome.trap && outcome.trap->kind == model::TrapKind::waits_outside;
    if (is_limit_ && checks != nullptr) checks->refused();
    if (outcome.trap) {
      process_.print_assertion(outcome.trap->assertion);
      fail(error_of(outcome.trap->kind), kernel.entry(),
           outcome.trap->message + place_of_call().after("; launched"));
    }
    tell_of_strays(process_, program, outcome);
    if (const std::string parted = parted_remark(program, outcome); !parted.empty()) {
      process_.say(parted);
    }
    add(program, std::move(outcome));
  }

  /// Grids of the same kernel are one, so that what is kept does not grow with every launch.
  void add(const model::Program& program, model::LaunchOutcome outcome) {
    for (model::Ran& ran : ran_) {
      if (ran.program != &program) continue;
      ran.outcome += std::move(outcome);
      return;
    }
    ran_.push_back({&program, std::move(outcome)});
  }

  void fail(cudaError_t error, const std::string& kernel, const std::string& why) {
    has_failed_ = true;
    failure_ = why;
    const Report* report = process_.report();
    if (report != nullptr && !report->is_told_of_launches()) process_.say(failure_);
    process_.kernel_failed(error, kernel);
  }

  Process& process_;
  const LaunchPlace& place_;
  const bool is_counted_, follows_machine_code_;
  std::vector<model::Ran> ran_;  ///< the launch's own first
  std::string kernel_;           ///< that runs
  std::string failure_;
  bool has_failed_ = false, is_limit_ = false;
  std::shared_ptr<const Multiprocessors>
      multiprocessors_;  ///< the multiprocessors of the launch; null: all
  bool has_own_accesses_ = false, has_waited_ = false;
  std::optional<Others> others_;  ///< while a grid runs
};

}  // namespace

void run_kernel(Process& process, const KernelWork& work, std::uint32_t stream) {
  process.show_printed();
  Kernel& kernel = *work.kernel;
  Report* report = process.report();
  const LaunchPlace place{kernel.entry(), work.geometry, static_cast<std::uint32_t>(current_device),
                          stream};
  const bool is_chosen = report != nullptr && report->takes(place);
  const bool is_counted = is_chosen && report->counts();
  if (is_chosen && !is_counted && report->traces()) kernel.read_resources();
  Grids grids(process, place, is_counted);
  grids.run(work);
  if (report == nullptr) return;
  const model::Program& program = *kernel.program();
  const bool has_failed = !grids.failure().empty();
  if (grids.is_limit() && report->is_told_of_launches()) {
    report->could_not_run(place, grids.failure());
  } else if (is_counted || (has_failed && report->is_told_of_launches())) {
    const bool is_told = is_counted && !has_failed && process.checks() == nullptr;
    const std::uint32_t explanation =
        is_told ? process.explained().number_of(place, program, grids.all().front().outcome,
                                                process.memory().machine(), *report)
                : 0;
    report->launched(place, program, has_failed ? std::vector<model::Ran>() : grids.all(),
                     grids.failure(), explanation, grids.doubt());
  } else if (is_chosen && report->traces()) {
    report->ran(place, program, grids.warp_instructions());
  }
}

}  // namespace warpmeter::runtime
