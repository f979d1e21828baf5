// SPDX-License-Identifier: MIT
#include "collector/run/statistics.h"

namespace warpmeter::run {

std::string why_stopped(const StoppingRule& rule, int taken, double relative_confidence,
                        bool is_over) {
  if (taken >= rule.min_samples && relative_confidence < rule.relative_confidence) {
    return "confidence";
  }
  if (taken >= rule.max_samples) return "samples";
  return is_over ? "time" : "";
}

}  // namespace warpmeter::run
