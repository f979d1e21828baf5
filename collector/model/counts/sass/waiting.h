// SPDX-License-Identifier: MIT
// Kernels that may wait for somebody outside of their grid, and kernels that allocate on the
// device's heap or look at a clock, found in their machine code.
//
// A kernel waits where a loop ends or goes on by a value that the loop loads anew in each round.
// The load has to be one that sees what others write: one of system scope (`volatile`, an atomic of
// the system), one of the GPU's scope, or any in a loop with a fence. Blocks of one grid wait for
// each other too (grid synchronisation, scans in one pass); such a kernel publishes what it waits
// for. At the GPU's scope that tells the two apart. At system scope it does not.
#pragma once

#include <map>
#include <string>

#include "base/bytes.h"

namespace warpmeter::model::sass {

struct Waiting {
  bool waits = false;           ///< for the host, another stream, process or GPU
  bool may_wait = false;        ///< it does, or its blocks wait for each other at system scope
  bool times_itself = false;    ///< a loop ends by a clock, so that no two executions are alike
  bool allocates = false;       ///< it calls malloc or free
  bool copies_in_bulk = false;  ///< it may: tensor maps and reductions in bulk are meant too
  bool loads_generic = false;   ///< it may load by generic addresses
  bool stores_generic = false;  ///< likewise
  bool multiplies_matrices = false;  ///< it may, on the tensor cores

  /// Adds all that is true of `other`.
  Waiting& operator|=(const Waiting& other);
};

/// The kernels of a cubin, by name. A kernel that calls functions has what any function of the
/// cubin has. Empty for what is no cubin.
std::map<std::string, Waiting> waiting_kernels(Bytes cubin);

}  // namespace warpmeter::model::sass
