// SPDX-License-Identifier: MIT
// The exports of each unit (see unit.h).
#pragma once

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

namespace baseline {
void run(Warp& w);
void run_observed(Warp& w);
void run_native(Warp& w);
void run_native_observed(Warp& w);
extern const ExecuteOperation* const operations;
}  // namespace baseline
namespace avx2 {
void run(Warp& w);
void run_observed(Warp& w);
void run_native(Warp& w);
void run_native_observed(Warp& w);
extern const ExecuteOperation* const operations;
}  // namespace avx2
namespace avx512 {
void run(Warp& w);
void run_observed(Warp& w);
void run_native(Warp& w);
void run_native_observed(Warp& w);
extern const ExecuteOperation* const operations;
}  // namespace avx512

}  // namespace warpmeter::model
