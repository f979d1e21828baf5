// SPDX-License-Identifier: MIT
// A variant on its way through the session's phases.
#pragma once

#include "collector/run/backend.h"
#include "kernels/family.h"
#include "schema/records.h"

namespace warpmeter::run {

struct Pending {
  const kernels::Variant* variant = nullptr;
  Launch launch;
  schema::Launch record;  ///< the record so far
};

}  // namespace warpmeter::run
