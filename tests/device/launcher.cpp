// SPDX-License-Identifier: MIT
// Launches one variant, of the catalogue or of a family file, N times and does nothing else: the
// program that Nsight Compute profiles in vs_ncu.sh and own_kernels.sh. It runs the same machine
// code on the same input as `warpmeter run`, and restores the input before each launch as warpmeter
// does.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "collector/cupti/context.h"
#include "collector/cupti/module.h"
#include "collector/cupti/resident.h"
#include "collector/family/catalogue.h"
#include "collector/family/family.h"

namespace {

using namespace warpmeter;

int launch_all(const std::string& family_name, const std::string& variant_name, std::int64_t size,
               int launches) {
  const cupti::Context context(0);
  const int compute_capability =
      context.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
      context.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  std::unique_ptr<family::FileFamily> file;
  const kernels::Family* family = family::find_in_catalogue(family_name);
  if (family_name.ends_with(".yaml")) {
    file =
        std::make_unique<family::FileFamily>(family::read_family(family_name), compute_capability);
    family = &file->family();
  }
  const kernels::Variant* variant = family != nullptr ? family->find(variant_name) : nullptr;
  if (variant == nullptr) {
    fmt::print(stderr, "launcher: there is no {}/{}\n", family_name, variant_name);
    return static_cast<int>(ExitCode::usage);
  }
  cupti::Modules modules(context, compute_capability);
  const kernels::Problem problem =
      variant->prepare ? variant->prepare(size) : family->prepare(size);
  cupti::Resident resident(context, problem);
  const run::Launch launch{variant->image, variant->entry, variant->geometry(size)};
  std::string failure;
  const cupti::Function* function = modules.find(launch, failure);
  if (function == nullptr) {
    fmt::print(stderr, "launcher: {}\n", failure);
    return static_cast<int>(ExitCode::kernel);
  }
  const auto& [grid, block, dynamic, cluster, is_cooperative] = launch.geometry;
  for (int i = 0; i < launches; ++i) {
    resident.restore();
    cupti::check(context.api(),
                 context.api().cuLaunchKernel(function->handle, grid.x, grid.y, grid.z, block.x,
                                              block.y, block.z, dynamic, context.stream(),
                                              resident.arguments(), nullptr),
                 "launching");
    resident.mark_launched(launch);
  }
  cupti::check(context.api(), context.synchronize(), "running the kernels");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(
        stderr,
        "usage: launcher FAMILY|FILE.yaml VARIANT SIZE LAUNCHES   (size 0: the family has none)\n");
    return static_cast<int>(warpmeter::ExitCode::usage);
  }
  try {
    return launch_all(argv[1], argv[2], std::atoll(argv[3]), std::atoi(argv[4]));
  } catch (const warpmeter::Error& error) {
    fmt::print(stderr, "launcher: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
