// SPDX-License-Identifier: MIT
// A CUDA graph, done node by node. CUPTI cannot count a graph: between Start and Stop of a kernel
// replay it does not run at all, and in a user range its kernels count no SASS counter, which then
// reads as 0 (CUPTI 13.0.1, driver 580). Its kernels launched one by one count like any other. So
// each graph is cloned when the program makes it executable, and where the program launches it, its
// nodes are run in an order that its edges allow, each exactly once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/cupti/library.h"
#include "collector/inject/launch_call.h"

namespace warpmeter::inject {

class GraphSteps {
 public:
  /// `graph` may be destroyed or changed later: a copy is kept.
  GraphSteps(const cupti::DriverApi& api, CUgraph graph);
  ~GraphSteps();
  GraphSteps(const GraphSteps&) = delete;
  GraphSteps& operator=(const GraphSteps&) = delete;

  /// Why it can be launched only as a whole; empty when it can be done node by node.
  const std::string& obstacle() const { return obstacle_; }
  void refuse(const std::string& obstacle) { obstacle_ = obstacle; }
  /// Changes the copy as the program changed `node` of the graph. False when that cannot be done.
  bool change(CUgraphNode node,
              const std::function<CUresult(const cupti::DriverApi&, CUgraphNode)>& repeat);
  /// Names of its kernels as the machine code has them, those of its child graphs included.
  const std::vector<std::string>& kernels() const { return kernels_; }
  /// How that one of them is launched. The parameters live as long as this object; there are none
  /// when the driver does not say.
  LaunchCall call_of(std::size_t kernel) const;

  /// Counts a kernel, the how manyth of kernels() it is, and launches it by `launch`. Returns what
  /// that returned: true if the driver did.
  using Around = std::function<bool(std::size_t kernel, const std::function<bool()>& launch)>;
  /// Runs all nodes on `stream`, each kernel by `around`. False when nothing has run, so that the
  /// graph has to be launched after all.
  bool run(CUcontext context, CUstream stream, const Around& around);

 private:
  struct Step {
    CUgraphNode node = nullptr;
    CUgraphNodeType type{};
    CUgraphExec alone = nullptr;  ///< a graph of this node: the driver has no call that does it
  };
  void add(CUgraph graph);
  void add_node(CUgraphNode node);
  bool prepare(CUcontext context);
  CUgraphExec make_alone(const Step& step, CUcontext context) const;
  bool launch_kernel(CUgraphNode node, CUstream stream) const;
  std::optional<CUDA_KERNEL_NODE_PARAMS> read_kernel(CUgraphNode node) const;

  const cupti::DriverApi& api_;
  CUgraph copy_ = nullptr;
  std::vector<Step> steps_;  ///< in an order that the edges allow
  std::vector<std::string> kernels_;
  std::vector<CUgraphNode> kernel_nodes_;  ///< theirs
  std::string obstacle_;
  bool is_prepared_ = false;
};

/// A graph without nodes, ready to be launched in place of one that has been done; nullptr when the
/// driver does not make one.
CUgraphExec empty_graph(const cupti::DriverApi& api);

}  // namespace warpmeter::inject
