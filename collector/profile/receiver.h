// SPDX-License-Identifier: MIT
// The receiver of messages from processes with the injected library, while their program runs.
#pragma once

#include <sys/types.h>

#include <string>

#include "collector/inject/protocol.h"

namespace warpmeter::profile {

class Receiver {
 public:
  virtual ~Receiver() = default;

  /// A process has connected.
  virtual void meet(int peer, pid_t process, const std::string& program) = 0;
  /// A message of connection `peer`. False when it breaks the protocol: a number that it did not
  /// give a name to, more names than any program has.
  virtual bool take(int peer, inject::Message&& message) = 0;
  /// The connection has ended.
  virtual void forget(int peer) = 0;
  /// Time to have written what has come.
  virtual void store() {}
};

}  // namespace warpmeter::profile
