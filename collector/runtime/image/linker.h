// SPDX-License-Identifier: MIT
// cuLinkCreate to cuLinkDestroy: PTX from several inputs, linked by the names that they give each
// other. The result is a fat binary with the linked PTX in it, which is loaded as a cubin is.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/runtime/image/jit_options.h"

namespace warpmeter::runtime {

class Linker {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `say` tells the person what else than the program's mistake is in the way.
  Linker(int arch, const JitOptions& options, Say say)
      : arch_(arch), options_(options), say_(std::move(say)) {}

  /// nvJitLink of a later toolkit than the driver's takes later PTX too.
  void take_later_versions() { takes_later_versions_ = true; }

  CUresult add(CUjitInputType type, std::string_view data, const std::string& name);
  /// The image is the linker's.
  CUresult complete(std::string_view& image);

 private:
  CUresult refuse(CUresult result, const std::string& why);
  CUresult add_ptx(std::string text, const std::string& name);
  /// The PTX of fat binaries that lie one behind the other.
  CUresult add_binaries(std::string_view data, const std::string& name);
  CUresult add_object(std::string_view data, const std::string& name);
  CUresult add_library(std::string_view data, const std::string& name);

  const int arch_;
  JitOptions options_;
  Say say_;
  bool takes_later_versions_ = false;
  std::vector<std::string> texts_;
  std::deque<std::string> images_;
};

}  // namespace warpmeter::runtime
