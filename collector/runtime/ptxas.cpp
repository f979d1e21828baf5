#include "collector/runtime/ptxas.h"

namespace warpmeter::runtime {

model::Assembled assemble_cached(const model::ptx::Module& module) {
  return model::assemble(module);
}

}  // namespace warpmeter::runtime
