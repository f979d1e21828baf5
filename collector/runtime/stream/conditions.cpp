// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/conditions.h"

#include <map>

#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

struct Condition {
  std::uint32_t value = 0, at_launch = 0;
  bool is_set_at_launch = false, has_node = false;
};

struct Conditions {
  std::map<std::uint64_t, Condition> all;
};
std::map<std::uint64_t, Condition>& conditions() { return Process::get().state<Conditions>().all; }

cudaError_t run_all(Process& process, const std::vector<Node*>& order, std::uint32_t stream) {
  for (const Node* node : order) {
    if (!node->is_enabled) continue;
    const cudaError_t result = run(process, node->work, stream);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace

std::uint64_t make_condition(std::uint32_t value, bool is_set_at_launch) {
  const std::uint64_t handle = conditions().size() + 1;
  conditions()[handle] = {value, value, is_set_at_launch, false};
  return handle;
}

bool set_condition(std::uint64_t handle, std::uint32_t value) {
  const auto found = conditions().find(handle);
  if (found == conditions().end()) return false;
  found->second.value = value;
  return true;
}

void begin_conditions(const std::vector<Node*>& order) {
  for (const Node* node : order) {
    const auto* work = std::get_if<ConditionalWork>(&node->work);
    if (work == nullptr) continue;
    Condition& condition = conditions()[work->handle];
    if (condition.is_set_at_launch) condition.value = condition.at_launch;
    for (const auto& body : work->orders) begin_conditions(body);
  }
}

cudaError_t make_work(cudaConditionalNodeParams& parameters, Work& work) {
  const auto found = conditions().find(parameters.handle);
  if (found == conditions().end() || found->second.has_node) return cudaErrorInvalidValue;
  const unsigned most = parameters.type == cudaGraphCondTypeIf      ? 2
                        : parameters.type == cudaGraphCondTypeWhile ? 1
                        : parameters.type == cudaGraphCondTypeSwitch
                            ? ~0u
                            : 0;  // for a caller that may have made it of any number
  if (parameters.size == 0 || parameters.size > most) return cudaErrorInvalidValue;
  ConditionalWork made;
  made.handle = parameters.handle;
  made.type = parameters.type;
  made.handles = std::make_shared<std::vector<cudaGraph_t>>();
  for (unsigned i = 0; i < parameters.size; ++i) {
    made.bodies.push_back(std::make_shared<Graph>());
    made.handles->push_back(handle_of(made.bodies.back().get()));
  }
  found->second.has_node = true;
  parameters.phGraph_out = made.handles->data();
  work = std::move(made);
  return cudaSuccess;
}

cudaError_t run_conditional(Process& process, const ConditionalWork& work, std::uint32_t stream) {
  const std::uint32_t& value = conditions()[work.handle].value;
  const auto body = [&](std::size_t number) {
    if (number >= work.orders.size()) return cudaSuccess;
    return run_all(process, work.orders[number], stream);
  };
  if (work.type == cudaGraphCondTypeIf) return body(value != 0 ? 0 : 1);
  if (work.type == cudaGraphCondTypeSwitch) return body(value);
  while (value != 0 && process.last_failure() == cudaSuccess) {
    const cudaError_t result = body(0);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace warpmeter::runtime
