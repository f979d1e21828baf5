// SPDX-License-Identifier: MIT
// NVTX ranges in the domain "warpmeter", so that a timeline tool shows which variant and which
// phase the device was busy with. Without a tool attached a range costs one indirect call.
#pragma once

#include <string>

namespace warpmeter::run {

/// A range from construction to destruction.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace warpmeter::run
