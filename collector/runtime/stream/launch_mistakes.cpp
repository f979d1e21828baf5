// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/launch_mistakes.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/runtime/check/made_sources.h"
#include "collector/runtime/check/python_place.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/not_executed.h"
#include "collector/runtime/process/occupancy.h"

namespace warpmeter::runtime {
namespace {

/// A sentence about a launch, which may name its kernel already.
std::string of_kernel(const std::string& name, const std::string& wrong) {
  return wrong.starts_with("kernel") ? wrong : fmt::format("kernel '{}': {}", name, wrong);
}

std::string cluster_refusal(Kernel& kernel, const Geometry& geometry, int arch) {
  const std::string name = readable_name(kernel.entry());
  if (arch < 90) return fmt::format("kernel '{}': sm_{} has no clusters of blocks", name, arch);
  const std::string wrong = model::cluster_failure(*kernel.program(), geometry);
  if (!wrong.empty()) return of_kernel(name, wrong);
  return fmt::format(
      "kernel '{}' is launched in clusters of {} blocks and may have {}; cudaFuncSetAttribute(…, "
      "cudaFuncAttributeNonPortableClusterSizeAllowed, 1) allows more on devices that can",
      name, model::in_clusters(*kernel.program(), geometry).cluster.count(),
      most_blocks_of_cluster(kernel));
}

}  // namespace

cudaError_t launch_mistake(Process& process, const KernelWork& work) {
  const Geometry& geometry = work.geometry;
  const auto name = [&] { return readable_name(work.kernel->entry()); };  // only a mistake names it
  Report* const report = process.report();
  const bool is_told = report != nullptr && report->is_told_of_launches();
  const auto refuse = [&](cudaError_t mistake, const std::string& why) {
    if (is_told) report->refused(why);
    return process.refuse(mistake, "failed launch", [&] { return why; });
  };
  if (geometry.grid.count() == 0 || geometry.block.count() == 0) {
    return refuse(cudaErrorInvalidValue,
                  fmt::format("kernel '{}' is launched without {}", name(),
                              geometry.grid.count() == 0 ? "a block" : "a thread"));
  }
  model::Program* program = work.kernel->program();
  if (program == nullptr) {
    const auto place = python_place();
    const std::string why = why_not_executed(*work.kernel, place ? place->after("; launched") : "");
    if (is_told) {
      report->could_not_run(
          {work.kernel->entry(), geometry, static_cast<std::uint32_t>(current_device), 0}, why);
    } else {
      process.say(fmt::format("kernel '{}' failed: {}", name(), why));
    }
    return process.cannot_execute(*work.kernel);
  }
  if (report != nullptr && !std::exchange(work.kernel->has_named_sources, true)) {
    name_sources(*program);
  }
  const std::string wrong = model::geometry_failure(*program, geometry);
  if (const cudaError_t mistake = cluster_mistake(process, *work.kernel, geometry);
      mistake != cudaSuccess) {
    return refuse(mistake, cluster_refusal(*work.kernel, geometry, process.arch()));
  }
  if (geometry.is_cooperative && wrong.empty()) {
    const cudaError_t mistake = residency_mistake(process, work);
    if (mistake != cudaSuccess) {
      return refuse(mistake, fmt::format("kernel '{}' is launched cooperatively with {}, "
                                         "more than fit on the device at a time",
                                         name(), with_noun(geometry.grid.count(), "block")));
    }
  }
  if (geometry.dynamic_shared_bytes > work.kernel->most_dynamic_shared_bytes) {
    return refuse(
        cudaErrorInvalidValue,
        fmt::format(
            "kernel '{}' is launched with {} of dynamic shared memory and may have {}; "
            "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …) allows more",
            name(), with_noun(geometry.dynamic_shared_bytes, "byte"),
            work.kernel->most_dynamic_shared_bytes));
  }
  if (wrong.empty()) return cudaSuccess;
  return refuse(cudaErrorInvalidValue, of_kernel(name(), wrong));
}

cudaError_t register_mistake(Process& process, const KernelWork& work) {
  constexpr std::uint64_t threads_of_any_kernel = 256;  // with 255 registers each
  Kernel& kernel = *work.kernel;
  Report* const report = process.report();
  const bool is_worth_ptxas = report != nullptr && report->counts();
  const bool is_known = is_worth_ptxas || kernel.module().has_cubin();
  if (!is_known || work.geometry.block.count() <= threads_of_any_kernel) return cudaSuccess;
  const std::string why =
      model::register_failure(kernel.entry(), kernel.resources(), work.geometry.block);
  if (why.empty()) return cudaSuccess;
  if (report != nullptr && report->is_told_of_launches()) report->refused(why);
  return process.refuse(cudaErrorLaunchOutOfResources, "failed launch", [&] { return why; });
}

}  // namespace warpmeter::runtime
