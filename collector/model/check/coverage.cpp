#include "collector/model/check/coverage.h"

namespace warpmeter::model::check {

std::vector<std::string> looked_for() {
  return {"accesses out of bounds or misaligned",
          "reads of buffers, shared memory, local arrays and variables that nothing has set",
          "races on shared and global memory, between lanes, warps and blocks",
          "asynchronous copies that nobody waits for",
          "barriers that not all threads come to",
          "lanes that a *_sync mask names and that are not there"};
}

std::vector<std::string> not_looked_for(const Coverage& coverage) {
  std::vector<std::string> all;
  if (!coverage.has_ended) all.emplace_back("what comes after the place where the kernel stopped");
  if (!coverage.blocks.empty()) all.emplace_back("the blocks that --blocks left out");
  if (coverage.is_partial) {
    all.emplace_back("races on memory beyond what this machine could follow");
  }
  all.insert(all.end(), {"other geometries, arguments and input than these",
                         "other orders in which threads may come to locks and atomics",
                         "what the host does before and after, and whether results are right"});
  return all;
}

}  // namespace warpmeter::model::check
