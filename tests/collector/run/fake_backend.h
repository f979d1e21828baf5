// SPDX-License-Identifier: MIT
// A backend whose every answer a test sets: what a launch leaves behind, its counters, its samples.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/run/backend.h"

namespace warpmeter::run {

struct FakeBackend : Backend {
  FakeBackend() {
    description.backend = "cupti";
    description.name = "Fake 9000";
    description.compute_capability = 90;
    answer = [](const Launch&, const kernels::Problem& problem) {
      Execution execution;
      for (const auto& buffer : problem.buffers) execution.buffers.push_back(buffer.initial);
      execution.registers = 16;
      execution.static_shared_bytes = 1024;
      return execution;
    };
    sample = [] { return 1000.0; };
  }

  schema::Device description;
  std::function<Execution(const Launch&, const kernels::Problem&)> answer;
  std::function<double()> sample;
  std::string no_counters, no_timing, broken_by, no_library;
  std::vector<schema::Disturbance> disturbances;
  std::uint64_t capacity = std::uint64_t{1} << 30;
  std::size_t together = 1;

  std::vector<std::string> selected;
  std::vector<std::size_t> batches;  ///< launches of each count()
  std::vector<int> sample_calls;     ///< samples of each time()
  int loads = 0;

  struct FakeWorkload : Workload {
    FakeWorkload(FakeBackend& owner, kernels::Problem copy)
        : backend(owner), problem(std::move(copy)) {}
    Execution execute(const Launch& launch) override { return backend.answer(launch, problem); }
    std::vector<std::vector<schema::Counter>> count(std::span<const Launch> launches) override {
      backend.batches.push_back(launches.size());
      std::vector<schema::Counter> counters;
      for (const std::string& name : backend.selected) {
        counters.push_back({name, 32.0, schema::Grade::measured, ""});
      }
      return std::vector<std::vector<schema::Counter>>(launches.size(), counters);
    }
    std::vector<double> time(const Launch&, schema::CacheState, int, int samples) override {
      backend.sample_calls.push_back(samples);
      std::vector<double> durations;
      for (int i = 0; i < samples; ++i) durations.push_back(backend.sample());
      return durations;
    }
    std::vector<schema::Line> lines(const Launch&) override { return {}; }
    schema::Explanation explain(const Launch&) override { return {}; }
    FakeBackend& backend;
    kernels::Problem problem;
  };

  const schema::Device& device() const override { return description; }
  schema::DeviceState state(std::string phase) override {
    schema::DeviceState state;
    state.phase = std::move(phase);
    state.sm_clock_mhz = 1980;
    state.disturbances = disturbances;
    return state;
  }
  void select(std::span<const std::string> counters) override {
    selected.assign(counters.begin(), counters.end());
  }
  std::string counters_unavailable() const override { return no_counters; }
  std::string timing_unavailable() const override { return no_timing; }
  std::string lost() const override { return broken_by; }
  std::string launch_unavailable(const Launch& launch) const override {
    return launch.library.empty() ? "" : no_library;
  }
  std::uint64_t problem_capacity() const override { return capacity; }
  std::size_t variants_together() const override { return together; }
  std::unique_ptr<Workload> load(const kernels::Problem& problem) override {
    ++loads;
    return std::make_unique<FakeWorkload>(*this, problem);
  }
};

}  // namespace warpmeter::run
