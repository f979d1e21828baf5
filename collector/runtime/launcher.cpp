#include "collector/runtime/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/kernel_name.h"
#include "collector/model/check/checker.h"
#include "collector/model/machine/launch.h"
#include "collector/runtime/limits.h"
#include "collector/runtime/occupancy.h"
#include "collector/runtime/textures.h"

namespace warpmeter::runtime {
namespace {

/// What hardware answers to a kernel that ends so.
cudaError_t error_of(model::TrapKind kind) {
  switch (kind) {
    case model::TrapKind::none:
      return cudaSuccess;
    case model::TrapKind::misaligned:
    case model::TrapKind::misaligned_surface:
      return cudaErrorMisalignedAddress;
    case model::TrapKind::out_of_bounds:
    case model::TrapKind::outside_surface:
      return cudaErrorIllegalAddress;
    case model::TrapKind::assertion:
      return cudaErrorAssert;
    default:
      return cudaErrorLaunchFailure;
  }
}

/// Lines on which a kernel left its buffers where hardware does not notice.
std::string strayed(const model::Program& program, const model::LaunchOutcome& outcome) {
  std::set<std::string> lines;
  for (std::size_t i = 0; i < outcome.counts.size(); ++i) {
    if (!outcome.counts[i].has_strayed) continue;
    const model::Place& place = program.places[program.sites[i].instruction];
    const bool has_line = place.line > 0;
    lines.insert(
        has_line
            ? fmt::format("{}:{}", program.files[static_cast<std::size_t>(place.file)], place.line)
            : fmt::format("line {} of its PTX", place.ptx_line));
  }
  if (lines.empty()) return "";
  return fmt::format(
      "kernel '{}' accesses memory beside its buffers, which hardware does not notice there: {}",
      readable_name(program.kernel), fmt::join(lines, ", "));
}

/// Blocks side by side may cost as much memory: the program's own grows by little.
std::uint64_t most_kept_bytes(Process& process) {
  constexpr std::uint64_t always = std::uint64_t{64} << 20;
  std::uint64_t bytes = 0;
  process.memory().for_each([&](const Block& block) { bytes += block.bytes; });
  return always + bytes / 10;
}

}  // namespace

cudaError_t launch_mistake(Process& process, const KernelWork& work) {
  const Geometry& geometry = work.geometry;
  const std::string name = readable_name(work.kernel->entry());
  if (geometry.grid.count() == 0 || geometry.block.count() == 0) {
    return process.refuse(cudaErrorInvalidValue, "failed launch", [&] {
      return fmt::format("kernel '{}' is launched without {}", name,
                         geometry.grid.count() == 0 ? "a block" : "a thread");
    });
  }
  model::Program* program = work.kernel->program();
  if (program == nullptr) {
    if (process.report() != nullptr && process.report()->is_told_of_launches()) {
      process.report()->could_not_run(
          {work.kernel->entry(), geometry, static_cast<std::uint32_t>(Process::current_device), 0},
          work.kernel->failure());
    } else {
      process.say(fmt::format("kernel '{}' failed: {}", name, work.kernel->failure()));
    }
    return cudaErrorNoKernelImageForDevice;
  }
  const std::string wrong = model::geometry_failure(*program, geometry);
  if (geometry.is_cooperative && wrong.empty()) {
    const cudaError_t mistake = residency_mistake(process, *work.kernel, geometry);
    if (mistake != cudaSuccess) return mistake;
  }
  if (geometry.dynamic_shared_bytes > work.kernel->most_dynamic_shared_bytes) {
    return process.refuse(cudaErrorInvalidValue, "failed launch", [&] {
      return fmt::format(
          "kernel '{}' is launched with {} bytes of dynamic shared memory and may have {}; "
          "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …) allows more",
          name, geometry.dynamic_shared_bytes, work.kernel->most_dynamic_shared_bytes);
    });
  }
  if (wrong.empty()) return cudaSuccess;
  return process.refuse(cudaErrorInvalidValue, "failed launch", [&] {
    return wrong.starts_with("kernel") ? wrong : fmt::format("kernel '{}': {}", name, wrong);
  });
}

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

void run_kernel(Process& process, const KernelWork& work, std::uint32_t stream) {
  process.show_printed();
  Kernel& kernel = *work.kernel;
  Report* report = process.report();
  const LaunchPlace place{kernel.entry(), work.geometry,
                          static_cast<std::uint32_t>(Process::current_device), stream};
  const bool is_counted = report != nullptr && report->takes(place);
  if (is_counted) kernel.audit();
  model::Program& program = *kernel.program();
  hold_limits(program);
  kernel.module().place_variables();
  kernel.module().set_constants(program);

  model::LaunchOptions options;
  options.keep_variables = true;
  options.is_cooperative = work.geometry.is_cooperative;
  options.textures = &machine_textures();
  options.counts = is_counted;
  options.records = is_counted && process.explained().wants(place);
  // This machine's clock, as a program may set it beside the host's.
  options.began_at = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  options.most_kept_bytes = most_kept_bytes(process);
  std::mutex printing;
  options.print = [&](std::string_view text) {
    const std::lock_guard alone(printing);
    process.print(text);
  };
  Checks* checks = process.checks();
  std::optional<model::check::Checker> checker;
  if (checks != nullptr) {
    options.observer =
        &checker.emplace(program, work.geometry, process.memory().machine(), checks->written());
  }
  const model::LaunchOutcome outcome =
      model::launch(program, work.geometry, work.parameters, process.memory().machine(), options);
  if (checks != nullptr) note_stores(program, checks->written());
  if (checker) checks->launched(kernel.entry(), *checker, !outcome.trap);
  std::string failure;
  if (outcome.trap) {
    failure = outcome.trap->message;
    process.print_assertion(outcome.trap->assertion);
    if (report != nullptr && !report->is_told_of_launches()) process.say(failure);
    process.kernel_failed(error_of(outcome.trap->kind), kernel.entry());
  }
  if (const std::string beside = strayed(program, outcome); !beside.empty()) process.say(beside);
  if (report == nullptr) return;
  if (is_counted || (!failure.empty() && report->is_told_of_launches())) {
    const bool is_told = is_counted && failure.empty() && checks == nullptr;
    const std::uint32_t explanation =
        is_told ? process.explained().number_of(place, program, outcome, process.memory().machine(),
                                                *report)
                : 0;
    report->launched(place, &program, failure.empty() ? &outcome : nullptr, failure, explanation);
  } else if (report->traces()) {
    report->ran(place, program, outcome.warp_instructions);
  }
}

}  // namespace warpmeter::runtime
