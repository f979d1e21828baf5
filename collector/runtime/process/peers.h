// SPDX-License-Identifier: MIT
// Which memory the kernels of a device reach: all that the host shares, their own device's, and
// another device's where the program has asked for it. cudaDeviceEnablePeerAccess() opens what
// cudaMalloc() and its like gave; pools (cudaMemPoolSetAccess) and mapped memory (cuMemSetAccess)
// have a rule each of their own. Copies reach everything.
#pragma once

#include <vector>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Kernels of `device` reach the memory of `peer` from now on. Several contexts may ask for it.
void enable_peer(int device, int peer);
/// Takes one enable_peer() back; false: there is none.
bool disable_peer(int device, int peer);
bool is_peer_enabled(int device, int peer);
/// The device was reset.
void forget_peers(int device);

/// While it lives, kernels do not reach the memory that is closed to a device.
class Reach {
 public:
  Reach(Process& process, int device);
  ~Reach();
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;

 private:
  std::vector<model::Allocation*> closed_;
};

}  // namespace warpmeter::runtime
