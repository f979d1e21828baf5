// SPDX-License-Identifier: MIT
// The injector's end of the connection. Sending never fails for its caller: once warpmeter does not
// listen any more, nothing is sent and is_open() says so.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "collector/inject/protocol.h"

namespace warpmeter::inject {

class Channel {
 public:
  /// Connects to the socket at `path` and says Hello. Throws Error when nobody answers.
  explicit Channel(const std::string& path);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The wishes of warpmeter for this process; nullopt when it did not say within ten seconds.
  std::optional<Config> receive_config();

  void send(const Message& message);
  /// The number of a text, which is sent the first time.
  std::uint32_t name(std::string_view text);
  /// A counter's value, grade and reason as a launch sends them.
  Launch::Value value_of(const schema::Counter& counter);

  /// True if somebody listens, and this is the process that connected, not a fork of it.
  bool is_open() const;

 private:
  /// Finds a text without a copy of it.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  void write(const Message& message);  ///< with mutex_ held

  int socket_ = -1;
  const pid_t process_;
  std::mutex mutex_;
  std::atomic<bool> open_{true};
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> names_;
};

/// Opens a connection for send_alone(), before this process loses the right to make one.
void keep_connection(const std::string& path);
/// True if this process may connect to the socket as the user that it is now.
bool may_connect(const std::string& path);
/// One message over a connection of its own, or the kept one, without a Hello; nothing where nobody
/// listens.
void send_alone(const std::string& path, const Message& message);

}  // namespace warpmeter::inject
