// SPDX-License-Identifier: MIT
// Calls whose row is made when they are called: what is left of the wrappers.
#pragma once

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/null_stream.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {

template <class Body>
cudaError_t call(std::string_view name, const Body& body) {
  return enter(Row(name, Needs::context), nullptr, body);
}
template <class Body>
cudaError_t call_without_context(std::string_view name, const Body& body) {
  return enter(Row(name, Needs::device), nullptr, body);
}
template <class Body>
cudaError_t call_always(std::string_view name, const Body& body) {
  return enter(Row(name, Needs::initialised, Answers::after_failure), nullptr, body);
}
template <class Body>
cudaError_t device_call_always(std::string_view name, const Body& body) {
  return enter(Row(name, Needs::device, Answers::after_failure), nullptr, body);
}

}  // namespace warpmeter::runtime
