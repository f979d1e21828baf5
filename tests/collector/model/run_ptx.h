// SPDX-License-Identifier: MIT
// Runs a kernel from its PTX text, for tests: buffers in, buffers and counts out.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/ptx/module.h"
#include "tests/collector/model/invariants.h"

namespace warpmeter::model {

/// A buffer's address, or a number by value.
struct TestArgument {
  std::vector<std::byte> bytes;
  bool is_buffer = false;

  template <class T>
  static TestArgument buffer(const std::vector<T>& values) {
    TestArgument argument{std::vector<std::byte>(values.size() * sizeof(T)), true};
    if (!values.empty()) std::memcpy(argument.bytes.data(), values.data(), argument.bytes.size());
    return argument;
  }
  template <class T>
  static TestArgument scalar(T value) {
    TestArgument argument{std::vector<std::byte>(sizeof(T)), false};
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
};

struct TestRun {
  std::string refusal;  ///< why the kernel could not be decoded or launched
  Program program;
  LaunchOutcome outcome;
  std::vector<std::vector<std::byte>> buffers;  ///< after; as many as there were buffer arguments

  template <class T>
  std::vector<T> buffer(std::size_t index) const {
    std::vector<T> values(buffers.at(index).size() / sizeof(T));
    if (!values.empty()) {
      std::memcpy(values.data(), buffers[index].data(), values.size() * sizeof(T));
    }
    return values;
  }
  std::string trap() const { return outcome.trap ? outcome.trap->message : ""; }
};

inline Geometry geometry(std::uint32_t grid, std::uint32_t block,
                         std::uint32_t dynamic_shared_bytes = 0) {
  return {{grid, 1, 1}, {block, 1, 1}, dynamic_shared_bytes};
}

/// The arguments in memory of their own, and where its buffers lie.
struct TestMemory {
  DeviceMemory memory;
  std::vector<std::vector<std::byte>> values;
  std::vector<std::uint64_t> addresses;

  explicit TestMemory(const std::vector<TestArgument>& arguments) {
    for (const TestArgument& argument : arguments) {
      if (!argument.is_buffer) {
        values.push_back(argument.bytes);
        continue;
      }
      addresses.push_back(
          memory.allocate(argument.bytes, fmt::format("buffer {}", addresses.size())));
      values.push_back(TestArgument::scalar(addresses.back()).bytes);
    }
  }
  std::vector<std::vector<std::byte>> take_buffers() {
    std::vector<std::vector<std::byte>> buffers;
    for (const std::uint64_t address : addresses) buffers.push_back(memory.remove(address));
    return buffers;
  }
};

/// Machine code of the processor, where nobody counts, does what the interpreter has done.
inline void expect_same_natively(const TestRun& run, const Geometry& geometry,
                                 const std::vector<TestArgument>& arguments,
                                 LaunchOptions options) {
  const bool is_possible = options.counts && options.observer == nullptr &&
                           options.sample == nullptr && options.device_runtime == nullptr &&
                           !options.cancelled;
  if (!is_possible) return;
  options.counts = options.records = false;
  options.native_after = 0;
  options.print = [](std::string_view) {};
  TestMemory again(arguments);
  const LaunchOutcome outcome = launch(
      run.program, geometry, *pack_parameters(run.program, again.values), again.memory, options);
  EXPECT_EQ(outcome.trap ? outcome.trap->message : "", run.trap()) << "as machine code";
  if (run.outcome.trap) return;
  EXPECT_EQ(outcome.warp_instructions, run.outcome.warp_instructions) << "as machine code";
  EXPECT_TRUE(again.take_buffers() == run.buffers) << "as machine code";
}

inline TestRun run_ptx(std::string_view text, std::string_view entry, const Geometry& geometry,
                       const std::vector<TestArgument>& arguments,
                       const LaunchOptions& options = {}) {
  TestRun run;
  auto parsed = ptx::parse(std::string(text));
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
    run.refusal = wrong->message;
    return run;
  }
  auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), entry);
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&decoded)) {
    run.refusal = wrong->message;
    return run;
  }
  run.program = std::move(std::get<Program>(decoded));
  run.refusal = geometry_failure(run.program, geometry);
  if (!run.refusal.empty()) return run;
  TestMemory memory(arguments);
  const auto parameters = pack_parameters(run.program, memory.values);
  if (!parameters) {
    run.refusal = "other parameters";
    return run;
  }
  run.outcome = launch(run.program, geometry, *parameters, memory.memory, options);
  run.buffers = memory.take_buffers();
  expect_same_natively(run, geometry, arguments, options);
  if (options.counts && options.sample == nullptr && !run.outcome.trap) {
    const CountedValues counted = counted_values(run.program, run.outcome);
    expect_bytes_fit(counted);
    expect_requests_fit(counted);
  }
  return run;
}

/// A module with one entry `k`: its parameters and body, and what stands before it.
inline std::string module_with(std::string_view parameters, std::string_view body,
                               std::string_view before = "", std::string_view target = "sm_90") {
  return fmt::format(
      ".version 8.0\n.target {}\n.address_size 64\n{}\n.visible .entry k({})\n{{\n{}\n}}\n", target,
      before, parameters, body);
}

}  // namespace warpmeter::model
