// SPDX-License-Identifier: MIT
// Graphs are done node by node, on a driver that only writes down what it is told.
#include "collector/inject/graph_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "collector/inject/graphs.h"

namespace warpmeter::inject {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct FakeGraph;
struct FakeNode {
  CUgraphNodeType type;
  std::string name;
  FakeGraph* child = nullptr;
  int cooperative = 0;
};
struct FakeGraph {
  std::deque<FakeNode> nodes;
  std::vector<std::pair<FakeNode*, FakeNode*>> edges;

  FakeNode* add(CUgraphNodeType type, const char* name, std::vector<FakeNode*> after = {}) {
    FakeNode* node = &nodes.emplace_back(FakeNode{type, name});
    for (FakeNode* before : after) edges.emplace_back(before, node);
    return node;
  }
  FakeNode* kernel(const char* name, std::vector<FakeNode*> after = {}) {
    return add(CU_GRAPH_NODE_TYPE_KERNEL, name, std::move(after));
  }
};

/// The calls of the driver and their refusals; a fresh one a test.
struct FakeDriver {
  std::vector<std::string> done;
  std::string refused;  ///< the kernel that cannot be launched by itself
  std::deque<FakeGraph> made;
};
FakeDriver* driver = nullptr;

template <class T>
T* real(void* handle) {
  return static_cast<T*>(handle);
}

CUresult get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  auto& all = real<FakeGraph>(graph)->nodes;
  for (std::size_t i = 0; nodes != nullptr && i < all.size(); ++i) {
    nodes[i] = reinterpret_cast<CUgraphNode>(&all[i]);
  }
  *count = all.size();
  return CUDA_SUCCESS;
}

CUresult get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*,
                   std::size_t* count) {
  const auto& all = real<FakeGraph>(graph)->edges;
  for (std::size_t i = 0; from != nullptr && i < all.size(); ++i) {
    from[i] = reinterpret_cast<CUgraphNode>(all[i].first);
    to[i] = reinterpret_cast<CUgraphNode>(all[i].second);
  }
  *count = all.size();
  return CUDA_SUCCESS;
}

CUresult get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* kernel) {
  *kernel = {};
  kernel->func = reinterpret_cast<CUfunction>(node);
  kernel->gridDimX = 3;
  kernel->kernelParams = reinterpret_cast<void**>(node);
  return CUDA_SUCCESS;
}

CUresult get_attribute(CUgraphNode node, CUlaunchAttributeID id, CUlaunchAttributeValue* value) {
  if (id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return CUDA_ERROR_INVALID_VALUE;
  value->cooperative = real<FakeNode>(node)->cooperative;
  return CUDA_SUCCESS;
}

CUresult launch_kernel(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  const std::string& name = real<FakeNode>(function)->name;
  if (name == driver->refused) return CUDA_ERROR_INVALID_VALUE;
  const bool is_cooperative =
      config->numAttrs > 0 && config->attrs[0].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  driver->done.push_back(name + (is_cooperative ? " together" : ""));
  return config->gridDimX == 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult launch_graph(CUgraphExec graph, CUstream) {
  for (const FakeNode& node : real<FakeGraph>(graph)->nodes) {
    driver->done.push_back(node.name + " alone");
  }
  return CUDA_SUCCESS;
}

cupti::DriverApi fake_api() {
  cupti::DriverApi api{};
  api.cuGraphGetNodes = get_nodes;
  api.cuGraphGetEdges_v2 = get_edges;
  api.cuGraphKernelNodeGetParams_v2 = get_kernel;
  api.cuGraphKernelNodeGetAttribute = get_attribute;
  api.cuLaunchKernelEx = launch_kernel;
  api.cuGraphLaunch = launch_graph;
  api.cuGraphClone = [](CUgraph* copy, CUgraph graph) {
    *copy = graph;
    return CUDA_SUCCESS;
  };
  api.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType* type) {
    *type = real<FakeNode>(node)->type;
    return CUDA_SUCCESS;
  };
  api.cuFuncGetName = [](const char** name, CUfunction function) {
    *name = real<FakeNode>(function)->name.c_str();
    return CUDA_SUCCESS;
  };
  api.cuGraphChildGraphNodeGetGraph = [](CUgraphNode node, CUgraph* child) {
    *child = reinterpret_cast<CUgraph>(real<FakeNode>(node)->child);
    return CUDA_SUCCESS;
  };
  api.cuGraphNodeFindInClone = [](CUgraphNode* copied, CUgraphNode node, CUgraph copy) {
    const auto& all = real<FakeGraph>(copy)->nodes;
    const bool is_there = std::any_of(
        all.begin(), all.end(), [&](const FakeNode& one) { return &one == real<FakeNode>(node); });
    *copied = node;
    return is_there ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  api.cuGraphKernelNodeSetParams_v2 = [](CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    real<FakeNode>(node)->name = real<FakeNode>(kernel->func)->name;
    return CUDA_SUCCESS;
  };
  api.cuGraphMemcpyNodeSetParams = [](CUgraphNode, const CUDA_MEMCPY3D*) { return CUDA_SUCCESS; };
  api.cuGraphMemcpyNodeGetParams = [](CUgraphNode, CUDA_MEMCPY3D*) { return CUDA_SUCCESS; };
  api.cuGraphCreate = [](CUgraph* graph, unsigned) {
    *graph = reinterpret_cast<CUgraph>(&driver->made.emplace_back());
    return CUDA_SUCCESS;
  };
  api.cuGraphAddMemcpyNode = [](CUgraphNode*, CUgraph graph, const CUgraphNode*, std::size_t,
                                const CUDA_MEMCPY3D*, CUcontext) {
    real<FakeGraph>(graph)->add(CU_GRAPH_NODE_TYPE_MEMCPY, "copy");
    return CUDA_SUCCESS;
  };
  api.cuGraphAddKernelNode_v2 = [](CUgraphNode*, CUgraph graph, const CUgraphNode*, std::size_t,
                                   const CUDA_KERNEL_NODE_PARAMS* kernel) {
    real<FakeGraph>(graph)->kernel(real<FakeNode>(kernel->func)->name.c_str());
    return CUDA_SUCCESS;
  };
  api.cuGraphKernelNodeCopyAttributes = [](CUgraphNode, CUgraphNode) { return CUDA_SUCCESS; };
  api.cuGraphInstantiateWithFlags = [](CUgraphExec* executable, CUgraph graph, unsigned long long) {
    *executable = reinterpret_cast<CUgraphExec>(graph);
    return CUDA_SUCCESS;
  };
  api.cuGraphDestroy = [](CUgraph) { return CUDA_SUCCESS; };
  api.cuGraphExecDestroy = [](CUgraphExec) { return CUDA_SUCCESS; };
  return api;
}

class GraphStepsTest : public testing::Test {
 protected:
  void SetUp() override { driver = &driver_; }

  GraphSteps steps() { return {api_, reinterpret_cast<CUgraph>(&graph_)}; }

  /// Runs them, and notes where the counting of a kernel begins and ends.
  bool run(GraphSteps& steps) {
    return steps.run(nullptr, nullptr,
                     [&](std::size_t kernel, const std::function<bool()>& launch) {
                       numbers_.push_back(kernel);
                       driver_.done.emplace_back("(");
                       const bool ok = launch();
                       driver_.done.emplace_back(")");
                       return ok;
                     });
  }

  FakeDriver driver_;
  FakeGraph graph_;
  cupti::DriverApi api_ = fake_api();
  std::vector<std::size_t> numbers_;  ///< numbers of kernels, in the order of counting
};

TEST_F(GraphStepsTest, EachNodeIsDoneOnceAfterThoseThatItDependsOn) {
  // The order of making is another than the order of running: count waits for both, both for fill,
  // fill for the copy.
  FakeNode* count = graph_.kernel("count");
  FakeNode* left = graph_.kernel("left");
  FakeNode* right = graph_.kernel("right");
  FakeNode* fill = graph_.kernel("fill");
  FakeNode* copy = graph_.add(CU_GRAPH_NODE_TYPE_MEMCPY, "copy");
  graph_.edges = {{left, count}, {right, count}, {fill, left}, {fill, right}, {copy, fill}};
  GraphSteps all = steps();
  EXPECT_EQ(all.obstacle(), "");
  EXPECT_TRUE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("copy alone", "(", "fill", ")", "(", "left", ")", "(",
                                        "right", ")", "(", "count", ")"));
}

TEST_F(GraphStepsTest, RunsAgainAsOftenAsTheProgramLaunchesIt) {
  graph_.add(CU_GRAPH_NODE_TYPE_MEMCPY, "copy");
  GraphSteps all = steps();
  EXPECT_TRUE(run(all) && run(all));
  EXPECT_THAT(driver_.done, ElementsAre("copy alone", "copy alone"));
  EXPECT_EQ(driver_.made.size(), 1U) << "what it needs is made once";
}

TEST_F(GraphStepsTest, ChildGraphsAndEmptyNodesArePartOfTheOrder) {
  FakeGraph child;
  child.kernel("second", {child.kernel("first")});
  FakeNode* begin = graph_.add(CU_GRAPH_NODE_TYPE_EMPTY, "");
  FakeNode* inside = graph_.add(CU_GRAPH_NODE_TYPE_GRAPH, "", {begin});
  inside->child = &child;
  graph_.kernel("last", {inside});
  GraphSteps all = steps();
  EXPECT_THAT(all.kernels(), ElementsAre("first", "second", "last"));
  EXPECT_TRUE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("(", "first", ")", "(", "second", ")", "(", "last", ")"));
  EXPECT_THAT(numbers_, ElementsAre(0U, 1U, 2U)) << "numbers of kernels()";
}

TEST_F(GraphStepsTest, EachKernelSaysHowItIsLaunched) {
  FakeGraph child;
  FakeNode* first = child.kernel("first");
  FakeNode* copy = graph_.add(CU_GRAPH_NODE_TYPE_MEMCPY, "copy");
  FakeNode* inside = graph_.add(CU_GRAPH_NODE_TYPE_GRAPH, "", {copy});
  inside->child = &child;
  FakeNode* second = graph_.kernel("second", {inside});
  const GraphSteps all = steps();
  ASSERT_THAT(all.kernels(), ElementsAre("first", "second"));
  std::size_t i = 0;
  for (FakeNode* node : {first, second}) {
    const LaunchCall call = all.call_of(i++);
    EXPECT_EQ(call.function, reinterpret_cast<CUfunction>(node));
    EXPECT_EQ(call.grid[0], 3U);
    EXPECT_EQ(call.parameters, reinterpret_cast<void**>(node));
  }
  EXPECT_EQ(all.call_of(2).parameters, nullptr);
  api_.cuGraphClone = [](CUgraph*, CUgraph) { return CUDA_ERROR_INVALID_VALUE; };
  api_.cuGetErrorName = api_.cuGetErrorString = [](CUresult, const char** words) {
    *words = "refused";
    return CUDA_SUCCESS;
  };
  EXPECT_EQ(steps().call_of(0).parameters, nullptr) << "the program may have destroyed its graph";
}

TEST_F(GraphStepsTest, KernelsKeepTheirAttributes) {
  graph_.kernel("meeting")->cooperative = 1;
  GraphSteps all = steps();
  EXPECT_TRUE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("(", "meeting together", ")"));
}

TEST_F(GraphStepsTest, WhatCannotBeDoneAloneIsNamedAndNothingRuns) {
  const std::pair<CUgraphNodeType, const char*> cases[] = {
      {CU_GRAPH_NODE_TYPE_HOST, "a host function"},
      {CU_GRAPH_NODE_TYPE_WAIT_EVENT, "an event"},
      {CU_GRAPH_NODE_TYPE_MEM_ALLOC, "an allocation"},
      {CU_GRAPH_NODE_TYPE_CONDITIONAL, "a conditional node"},
      {CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, "an external semaphore"},
      {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "a node of a kind that is not known"}};
  for (const auto& [type, words] : cases) {
    graph_ = {};
    graph_.add(type, "odd", {graph_.kernel("fill")});
    GraphSteps all = steps();
    EXPECT_THAT(all.obstacle(), HasSubstr(words));
    EXPECT_FALSE(run(all)) << words;
  }
  EXPECT_THAT(driver_.done, ElementsAre());
}

TEST_F(GraphStepsTest, AFirstKernelThatCannotBeLaunchedLeavesTheWholeToTheDriver) {
  graph_.kernel("scale", {graph_.kernel("fill")});
  driver_.refused = "fill";
  GraphSteps all = steps();
  EXPECT_FALSE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("(", ")"));
  EXPECT_THAT(all.obstacle(), HasSubstr("could not be launched by itself"));
}

TEST_F(GraphStepsTest, ALaterKernelThatCannotBeLaunchedRunsWithoutItsCounts) {
  graph_.kernel("scale", {graph_.kernel("fill")});
  driver_.refused = "scale";
  GraphSteps all = steps();
  EXPECT_TRUE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("(", "fill", ")", "(", ")", "scale alone"));
  EXPECT_THAT(all.obstacle(), HasSubstr("could not be launched by itself"));
}

TEST_F(GraphStepsTest, AChangedGraphIsRefusedUntilItIsMadeAnew) {
  graph_.kernel("_Z4fillPf");
  const auto executable = reinterpret_cast<CUgraphExec>(1),
             other = reinterpret_cast<CUgraphExec>(2);
  Graphs graphs;
  graphs.add(api_, executable, reinterpret_cast<CUgraph>(&graph_));
  EXPECT_EQ(graphs.name_of(executable), "graph(fill)");
  EXPECT_EQ(graphs.name_of(other), "graph");
  graphs.change(api_, {executable, nullptr, nullptr, {}});
  EXPECT_THAT(graphs.find(executable)->obstacle(), HasSubstr("was changed after"));
  graphs.change(api_, {executable, reinterpret_cast<CUgraph>(&graph_), nullptr, {}});
  EXPECT_EQ(graphs.find(executable)->obstacle(), "");
  graphs.remove(executable);
  EXPECT_EQ(graphs.find(executable), nullptr);
}

TEST_F(GraphStepsTest, AChangedNodeIsChangedInTheCopy) {
  FakeNode* fill = graph_.kernel("fill");
  FakeNode* copy = graph_.add(CU_GRAPH_NODE_TYPE_MEMCPY, "copy", {fill});
  FakeGraph elsewhere;
  FakeNode* scale = elsewhere.kernel("scale");
  GraphSteps all = steps();
  EXPECT_TRUE(run(all));
  const auto to_scale = [&](const cupti::DriverApi& api, CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS kernel{};
    kernel.func = reinterpret_cast<CUfunction>(scale);
    return api.cuGraphKernelNodeSetParams_v2(node, &kernel);
  };
  const auto to_another = [](const cupti::DriverApi& api, CUgraphNode node) {
    const CUDA_MEMCPY3D where{};
    return api.cuGraphMemcpyNodeSetParams(node, &where);
  };
  EXPECT_TRUE(all.change(reinterpret_cast<CUgraphNode>(fill), to_scale));
  EXPECT_TRUE(all.change(reinterpret_cast<CUgraphNode>(copy), to_another));
  EXPECT_THAT(all.kernels(), ElementsAre("scale"));
  driver_.done.clear();
  EXPECT_TRUE(run(all));
  EXPECT_THAT(driver_.done, ElementsAre("(", "scale", ")", "copy alone"));
  EXPECT_EQ(driver_.made.size(), 2U) << "the copy is made anew";
  EXPECT_FALSE(all.change(reinterpret_cast<CUgraphNode>(scale), to_scale)) << "of another graph";
  EXPECT_FALSE(all.change(reinterpret_cast<CUgraphNode>(fill), {}));
}

TEST(GraphName, ListsItsKernelsInOrderAndAtMostEight) {
  const std::vector<std::string> few = {"fill", "scale", "scale", "fill", "count"};
  EXPECT_EQ(graph_name(few), "graph(2 × fill, 2 × scale, count)");
  const std::vector<std::string> many = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  EXPECT_EQ(graph_name(many), "graph(a, b, c, d, e, f, g, h, …)");
  EXPECT_EQ(graph_name({}), "graph()");
}

}  // namespace
}  // namespace warpmeter::inject
