// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/program.h"

#include <fmt/format.h>

namespace warpmeter::model::reference {
namespace {

std::string negated(const std::string& predicate) {
  return predicate[0] == '!' ? predicate.substr(1) : "!" + predicate;
}

std::string ptx_within(const Block& block, int& label, int loop_end) {
  std::string text;
  for (const Node& node : block) {
    switch (node.kind) {
      case Node::Kind::line:
        text += node.text + "\n";
        break;
      case Node::Kind::leave:
        text += fmt::format("@{} bra L{};\n", node.text, loop_end);
        break;
      case Node::Kind::branch: {
        const int otherwise = label++, end = label++;
        text += fmt::format("@{} bra L{};\n", negated(node.text), otherwise);
        text += ptx_within(node.first, label, loop_end);
        if (!node.second.empty()) text += fmt::format("bra L{};\n", end);
        text += fmt::format("L{}:\n", otherwise);
        text += ptx_within(node.second, label, loop_end);
        text += fmt::format("L{}:\n", end);
        break;
      }
      case Node::Kind::loop: {
        const int head = label++, end = label++;
        text += fmt::format("L{}:\n", head);
        text += ptx_within(node.first, label, end);
        text += fmt::format("@{} bra L{};\n", negated(node.text), end);
        text += ptx_within(node.second, label, end);
        text += fmt::format("bra L{};\nL{}:\n", head, end);
        break;
      }
    }
  }
  return text;
}

}  // namespace

std::string ptx_of(const Block& block, int& label) { return ptx_within(block, label, -1); }

}  // namespace warpmeter::model::reference
