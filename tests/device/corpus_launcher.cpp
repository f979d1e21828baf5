// SPDX-License-Identifier: MIT
// Launches one kernel of tests/collector/model/check once: the program that sanitizer_check.sh puts
// under compute-sanitizer. A buffer without a fill is left as the driver gives it.
//
//   corpus_launcher SOURCE BUILD --list          what there is, and what is wrong with it, as JSON
//   corpus_launcher SOURCE BUILD FILE KERNEL FILL
//
// SOURCE and BUILD are the repository and its build folder. Exit code: 0 when the kernel ended, 4
// without a GPU, 6 when it failed, 7 when it had not ended after 30 s.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "collector/cupti/context.h"
#include "collector/cupti/library.h"
#include "collector/model/input/arguments.h"
#include "collector/model/input/kernel_file.h"
#include "tests/collector/model/check/corpus.h"

namespace {

using namespace warpmeter;
using corpus::Kernel;
using nlohmann::json;

constexpr unsigned most_seconds = 30;
constexpr std::uint64_t most_bytes = 1 << 20;

/// iota where the mistake happens with it.
std::string fill_of(const Kernel& kernel) {
  if (!kernel.is_planted || kernel.fills.contains("iota")) return "iota";
  return *kernel.fills.begin();
}

/// As one of --spec, which is read as YAML.
json spec_of(const model::LaunchSpec& launch) {
  const auto& [grid, block, dynamic, cluster, is_cooperative] = launch.geometry;
  return {{"launches",
           {{{"kernel", launch.kernel},
             {"grid", {grid.x, grid.y, grid.z}},
             {"block", {block.x, block.y, block.z}},
             {"shared", dynamic},
             {"args", launch.arguments}}}}};
}

int list(const std::vector<Kernel>& kernels, const std::string& build) {
  json all = json::array();
  for (const Kernel& kernel : kernels) {
    const std::string fill = fill_of(kernel);
    all.push_back({{"file", kernel.file},
                   {"kernel", kernel.launch.kernel},
                   {"ptx", corpus::ptx_of(build, kernel.file)},
                   {"planted", kernel.is_planted},
                   {"model_only", kernel.model_only},
                   {"may_hang", kernel.may_hang},
                   {"fill", fill},
                   {"required", kernel.required},
                   {"allowed", kernel.allowed},
                   {"spec", spec_of(kernel.filled(fill))}});
  }
  fmt::print("{}\n", all.dump(1));
  return 0;
}

/// The arguments on the device, as cuLaunchKernelEx wants them.
class Arguments {
 public:
  Arguments(const cupti::Context& context, const model::LaunchSpec& launch) {
    for (const std::string& text : launch.arguments) add(context, model::parse_argument(text));
  }
  void** pointers() { return pointers_.data(); }

 private:
  void add(const cupti::Context& context, const model::Argument& argument) {
    std::vector<std::byte> value = argument.bytes;
    if (argument.kind != model::Argument::Kind::scalar) {
      const CUdeviceptr address = argument.kind == model::Argument::Kind::reference
                                      ? addresses_.at(argument.name)
                                      : allocate(context, argument);
      const auto* bytes = reinterpret_cast<const std::byte*>(&address);
      value.assign(bytes, bytes + sizeof address);
    }
    pointers_.push_back(values_.emplace_back(std::move(value)).data());
  }

  CUdeviceptr allocate(const cupti::Context& context, const model::Argument& argument) {
    const std::vector<std::byte> contents = model::contents_of(argument, most_bytes);
    const CUdeviceptr address = memory_.emplace_back(context, contents.size()).address();
    if (argument.is_set()) {
      cupti::check(context.api(),
                   context.api().cuMemcpyHtoD_v2(address, contents.data(), contents.size()),
                   "filling a buffer");
    }
    addresses_[argument.name] = address;
    return address;
  }

  std::list<std::vector<std::byte>> values_;
  std::list<cupti::Memory> memory_;
  std::map<std::string, CUdeviceptr> addresses_;
  std::vector<void*> pointers_;
};

/// The driver cannot be asked to end a kernel that waits for ever; ending the process does.
void give_up(int /*signal*/) {
  constexpr std::string_view words = "corpus_launcher: the kernel has not ended\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
  _exit(7);
}

CUfunction function_of(const cupti::Context& context, const model::KernelFile& code,
                       const std::string& kernel) {
  const cupti::DriverApi& api = context.api();
  CUmodule module = nullptr;
  // Machine code of sm_90 runs there alone; elsewhere the driver compiles the PTX.
  const CUresult loaded = api.cuModuleLoadDataEx(&module, code.cubin.data(), 0, nullptr, nullptr);
  if (loaded == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    cupti::check(api,
                 api.cuModuleLoadDataEx(&module, std::string(code.module->text).c_str(), 0, nullptr,
                                        nullptr),
                 "loading the PTX");
  } else {
    cupti::check(api, loaded, "loading the machine code");
  }
  CUfunction function = nullptr;
  cupti::check(api,
               api.cuModuleGetFunction(&function, module, model::find_entry(code, kernel).c_str()),
               "finding the kernel");
  return function;
}

/// Cooperatively, since blocks that wait for each other have to run side by side.
void launch(const Kernel& kernel, const std::string& fill, const std::string& build) {
  const model::KernelFile code =
      model::read_kernel_file(corpus::ptx_of(build, kernel.file), {}, {});
  const cupti::Context context(0);
  const CUfunction function = function_of(context, code, kernel.launch.kernel);
  Arguments arguments(context, kernel.filled(fill));
  const auto& [grid, block, dynamic, cluster, is_cooperative] = kernel.launch.geometry;
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig configuration{};
  configuration.gridDimX = grid.x, configuration.gridDimY = grid.y;
  configuration.gridDimZ = grid.z, configuration.blockDimX = block.x;
  configuration.blockDimY = block.y, configuration.blockDimZ = block.z;
  configuration.sharedMemBytes = dynamic;
  configuration.hStream = context.stream();
  configuration.attrs = &cooperative;
  configuration.numAttrs = 1;
  std::signal(SIGALRM, give_up);
  alarm(most_seconds);
  CUresult result =
      context.api().cuLaunchKernelEx(&configuration, function, arguments.pointers(), nullptr);
  if (result == CUDA_SUCCESS) result = context.synchronize();
  // Under compute-sanitizer the C library was seen to find its heap damaged when the context is
  // taken down; what the tool has found it has told by now.
  if (result == CUDA_SUCCESS) std::_Exit(0);
  throw Error(ExitCode::kernel, fmt::format("{} failed: {}", kernel.launch.kernel,
                                            cupti::in_words(context.api(), result)));
}

int run(const std::vector<std::string>& words) {
  const std::vector<Kernel> kernels = corpus::kernels(words[0]);
  if (words[2] == "--list") return list(kernels, words[1]);
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& kernel) {
    return kernel.file == words[2] && kernel.launch.kernel == words.at(3);
  });
  if (found == kernels.end()) {
    fmt::print(stderr, "corpus_launcher: there is no {} {}\n", words[2], words.at(3));
    return static_cast<int>(ExitCode::usage);
  }
  launch(*found, words.at(4), words[1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 5 && !(words.size() == 3 && words[2] == "--list")) {
    fmt::print(stderr, "usage: corpus_launcher SOURCE BUILD --list | FILE KERNEL FILL\n");
    return static_cast<int>(warpmeter::ExitCode::usage);
  }
  try {
    return run(words);
  } catch (const warpmeter::Error& error) {
    fmt::print(stderr, "corpus_launcher: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "corpus_launcher: {}\n", error.what());
    return static_cast<int>(warpmeter::ExitCode::usage);
  }
}
