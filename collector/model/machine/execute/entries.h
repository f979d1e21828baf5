// What each unit exports (see unit.h).
#pragma once

#include "collector/model/machine/warp.h"

namespace warpmeter::model {

namespace baseline {
void run(Warp& w);
void run_observed(Warp& w);
}  // namespace baseline
namespace avx2 {
void run(Warp& w);
void run_observed(Warp& w);
}  // namespace avx2
namespace avx512 {
void run(Warp& w);
void run_observed(Warp& w);
}  // namespace avx512

}  // namespace warpmeter::model
