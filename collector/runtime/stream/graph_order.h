// SPDX-License-Identifier: MIT
// In which order the nodes of one launch of a graph are, for the races between them: by its edges
// alone. Nodes that follow one another share a track (clock.h), so that there are as many as the
// graph is wide.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/runtime/check/races.h"
#include "collector/runtime/device/clock.h"
#include "collector/runtime/graph/graph.h"

namespace warpmeter::runtime {

class GraphOrder {
 public:
  /// Behind what the stream was given, and what `before` knows: the last launch of the same.
  GraphOrder(Races& races, Stream& stream, const Graph& graph, const Clock& before);

  /// Nodes in the order of Executable::order.
  Given give(const Node& node);
  /// A node that only waits, or does nothing: behind `more` as well.
  void pass(const Node& node, const Clock& more);
  /// Behind all of it.
  const Clock& end();

 private:
  const Clock& before(const Node& node);
  const Clock& behind(const Node& node);
  void note(const Graph& graph, const Node* child);

  Races& races_;
  Stream& stream_;
  Clock begin_, end_;
  std::map<const Graph*, const Node*> children_;  ///< the node that the graph belongs to
  std::map<const Node*, Clock> before_, behind_;
  std::map<const Node*, std::uint32_t> lanes_;
  std::vector<const Node*> last_of_lane_;
};

}  // namespace warpmeter::runtime
