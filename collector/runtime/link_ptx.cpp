#include "collector/runtime/link_ptx.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace warpmeter::runtime {
LinkedPtx link_ptx(const std::vector<std::string>& modules) {
  LinkedPtx linked;
  if (modules.empty()) {
    linked.failure = "was compiled apart and holds no PTX";
    return linked;
  }
  linked.text = modules.front();
  if (modules.size() > 1) {
    linked.text.clear();
    linked.failure = "is linked from several files";
  }
  return linked;
}

}  // namespace warpmeter::runtime
