// SPDX-License-Identifier: MIT
#include "collector/runtime/image/ptxas.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "collector/model/input/cache.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::runtime {

/// By the PTX, the architecture, and which ptxas it was.
model::Assembled assemble_cached(const model::ptx::Module& module) {
  const auto ptxas = model::toolkit_program("ptxas");
  if (!ptxas) return model::assemble(module);  // says what is missing
  std::error_code ignored;
  const std::string key = fmt::format(
      "{} {} {} for {}{}\n{}", ptxas->string(), std::filesystem::file_size(*ptxas, ignored),
      std::filesystem::last_write_time(*ptxas, ignored).time_since_epoch().count(),
      module.target_name, module.is_linked ? " linked" : "", module.text);
  if (auto known = model::find_compiled(key)) return {std::move(known->cubin), {}};
  model::Assembled made = model::assemble(module);
  if (made.failure.empty()) {
    model::Compiled kept;
    kept.cubin = made.cubin;
    model::keep_compiled(key, kept);
  }
  return made;
}

}  // namespace warpmeter::runtime
