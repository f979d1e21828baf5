// SPDX-License-Identifier: MIT
// Our end of the connections: one socket that every process with the injector connects to.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "collector/inject/protocol.h"

namespace warpmeter::profile {

class Listener {
 public:
  /// The peer is one process. `number` counts connections from 1: process ids are used again.
  struct Peer {
    int number = 0;
    pid_t process = 0;
  };
  struct Handlers {
    /// The first message, with our answer.
    std::function<inject::Config(const Peer&, const inject::Hello&)> hello;
    std::function<void(const Peer&, inject::Message&&)> message;
    /// The connection has ended; `fault` says what was wrong with it, or is empty.
    std::function<void(const Peer&, const std::string& fault)> gone;
  };

  /// Throws Error{file}.
  Listener(const std::filesystem::path& socket, Handlers handlers);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Handles what has come, waiting for it no longer than that. A peer that floods is read in turns
  /// with the others, so this returns soon. True when something came.
  bool listen(std::chrono::milliseconds patience);

  /// The connections to wait for, without a lock that others hold while they listen.
  std::vector<pollfd> descriptors() const;

  /// The processes that are connected and have said hello.
  std::vector<pid_t> processes() const;

 private:
  struct Connection {
    Peer peer;
    int descriptor = -1;
    bool greeted = false;
  };
  void accept_all();
  bool read_some(Connection& connection);  ///< false when it has ended
  void handle(Connection& connection, inject::Message&& message);
  void end(Connection& connection, const std::string& fault);

  Handlers handlers_;
  int socket_ = -1;
  int last_number_ = 0;
  std::list<Connection> connections_;
  std::vector<std::uint8_t> frame_;
};

}  // namespace warpmeter::profile
