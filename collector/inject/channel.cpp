// SPDX-License-Identifier: MIT
#include "collector/inject/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace warpmeter::inject {
namespace {

constexpr timeval patience = {10, 0};  // for warpmeter, which answers and reads at once

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

/// Throws Error{file}.
int connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error(ExitCode::file, "the socket's path is too long: " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (peer < 0 || connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const std::string words = std::strerror(errno);
    if (peer >= 0) close(peer);
    throw Error(ExitCode::file, fmt::format("nobody listens at {}: {}", path, words));
  }
  setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return peer;
}

/// False when nobody takes it.
bool send_frame(int peer, const Message& message) {
  const std::vector<std::uint8_t> frame = encode(message);
  ssize_t sent = 0;
  do {
    sent = ::send(peer, frame.data(), frame.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

}  // namespace

Channel::Channel(const std::string& path) : socket_(connected(path)), process_(getpid()) {
  send(Hello{static_cast<std::uint32_t>(process_), static_cast<std::uint32_t>(getppid()),
             own_program()});
}

/// A fork of this process may hold the socket too, and closing alone ends no connection then.
Channel::~Channel() {
  if (getpid() == process_) shutdown(socket_, SHUT_RDWR);
  close(socket_);
}

std::optional<Config> Channel::receive_config() {
  std::vector<std::uint8_t> frame(max_frame_bytes);
  ssize_t bytes = 0;
  do {
    bytes = recv(socket_, frame.data(), frame.size(), 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return std::nullopt;
  frame.resize(static_cast<std::size_t>(bytes));
  const std::optional<Message> message = decode(frame);
  if (!message || !std::holds_alternative<Config>(*message)) return std::nullopt;
  return std::get<Config>(*message);
}

bool Channel::is_open() const {
  return open_.load(std::memory_order_relaxed) && getpid() == process_;
}

void Channel::send(const Message& message) {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  write(message);
}

std::uint32_t Channel::name(std::string_view text) {
  if (!is_open()) return 0;
  const std::lock_guard lock(mutex_);
  if (const auto known = names_.find(text); known != names_.end()) return known->second;
  const auto next = static_cast<std::uint32_t>(names_.size() + 1);
  const auto place = names_.emplace(text, next).first;
  write(Name{next, place->first});
  return next;
}

Launch::Value Channel::value_of(const schema::Counter& counter) {
  const std::uint32_t reason = counter.reason.empty() ? 0 : name(counter.reason);
  if (!counter.value) return {0, reason, schema::Grade::unavailable};
  return {*counter.value, reason, counter.grade};
}

void Channel::write(const Message& message) {
  if (!send_frame(socket_, message)) open_.store(false);
}

namespace {

/// The connection of keep_connection(); -1: none.
std::atomic<int> kept{-1};

}  // namespace

void keep_connection(const std::string& path) {
  if (kept >= 0) return;
  try {
    kept = connected(path);
  } catch (const Error&) {
    return;  // warpmeter has gone, or the right has
  }
}

bool may_connect(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

void send_alone(const std::string& path, const Message& message) {
  try {
    const int peer = connected(path);
    send_frame(peer, message);
    close(peer);
  } catch (const Error&) {
    if (kept >= 0) send_frame(kept, message);  // else warpmeter has gone
  }
}

}  // namespace warpmeter::inject
