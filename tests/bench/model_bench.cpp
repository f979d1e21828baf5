// SPDX-License-Identifier: MIT
// How fast the model executes: warp instructions a second on the two matrix products, counting on,
// with each unit that this processor has, on one thread of the host and on several, and by the
// interpreter alone. The goal it is held against is printed by a stripped loop without parser or
// checks: see model_speed.py.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "collector/family/catalogue.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/ptx/module.h"

namespace {

using namespace warpmeter;

void run_matmul(benchmark::State& state, const std::string& variant, const model::Unit& unit,
                unsigned threads, std::uint64_t native_after) {
  constexpr std::int64_t size = 256;
  const kernels::Family& family = *family::find_in_catalogue("matmul");
  const kernels::Variant& chosen = *family.find(variant);
  auto parsed = model::ptx::parse(std::string(family.variants.front().image->codes.back().ptx));
  const auto& module = *std::get<std::unique_ptr<model::ptx::Module>>(parsed);
  const auto decoded = model::decode(module, chosen.entry);
  const auto& program = std::get<model::Program>(decoded);

  const kernels::Problem problem = family.prepare(size);
  model::DeviceMemory memory;
  std::vector<std::uint64_t> addresses;
  for (const kernels::Buffer& buffer : problem.buffers) {
    addresses.push_back(memory.allocate(buffer.initial, buffer.name));
  }
  std::vector<std::vector<std::byte>> arguments;
  for (const kernels::Argument& argument : problem.arguments) {
    std::vector<std::byte>& bytes = arguments.emplace_back();
    if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
      bytes.resize(sizeof(std::uint64_t));
      std::memcpy(bytes.data(), &addresses[buffer->index], bytes.size());
    } else {
      const auto& scalar = std::get<kernels::ScalarArgument>(argument);
      bytes.assign(scalar.bytes.begin(), scalar.bytes.end());
    }
  }
  const auto parameters = model::pack_parameters(program, arguments);
  model::LaunchOptions options;
  options.threads = threads;
  options.unit = &unit;
  options.native_after = native_after;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  for (auto _ : state) {
    const model::LaunchOutcome outcome =
        model::launch(program, chosen.geometry(size), *parameters, memory, options);
    if (outcome.trap) state.SkipWithError(outcome.trap->message.c_str());
    warp_instructions += outcome.warp_instructions;
    thread_instructions += outcome.thread_instructions;
  }
  const auto rate = benchmark::Counter::kIsRate;
  state.counters["warp_instructions"] = {static_cast<double>(warp_instructions), rate};
  state.counters["thread_instructions"] = {static_cast<double>(thread_instructions), rate};
}

void add(const std::string& variant, const model::Unit& unit, unsigned threads,
         const std::string& suffix = "", std::uint64_t native_after = model::default_native_after) {
  const std::string name = "matmul_" + variant + "/" + std::string(unit.name) + suffix;
  benchmark::RegisterBenchmark(name.c_str(),
                               [=, &unit](benchmark::State& state) {
                                 run_matmul(state, variant, unit, threads, native_after);
                               })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

const bool registered = [] {
  for (const char* variant : {"naive", "tiled_16"}) {
    for (const model::Unit& unit : model::units()) {
      if (!unit.is_supported) continue;
      add(variant, unit, 1);
      constexpr std::uint64_t never = ~std::uint64_t{0} >> 32;
      if (unit.vector_bytes != 0) add(variant, unit, 1, "/interpreted", never);
      for (const unsigned threads : {2u, 4u, 8u}) {
        if (threads > std::thread::hardware_concurrency()) continue;
        add(variant, unit, threads, "/" + std::to_string(threads) + "_threads");
      }
    }
  }
  return true;
}();

}  // namespace
