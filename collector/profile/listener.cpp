// SPDX-License-Identifier: MIT
#include "collector/profile/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace warpmeter::profile {
namespace {

constexpr int frames_a_turn = 64;

/// A peer that broke the protocol.
struct Fault {
  std::string text;
};

pid_t process_of(int descriptor) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  const int result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return result == 0 ? credentials.pid : 0;
}

}  // namespace

Listener::Listener(const std::filesystem::path& socket, Handlers handlers)
    : handlers_(std::move(handlers)), frame_(inject::max_frame_bytes + 1) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  socket_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool fits = path.size() < sizeof address.sun_path;
  if (fits) std::memcpy(address.sun_path, path.data(), path.size());
  if (!fits || socket_ < 0 ||
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_, SOMAXCONN) != 0) {
    const std::string words = fits ? std::strerror(errno) : "its path is too long";
    if (socket_ >= 0) close(socket_);
    throw Error(ExitCode::file, fmt::format("no socket can be made at {} ({}); set TMPDIR to a "
                                            "folder on a local disk",
                                            path, words));
  }
}

Listener::~Listener() {
  for (const Connection& connection : connections_) close(connection.descriptor);
  close(socket_);
}

std::vector<pid_t> Listener::processes() const {
  std::vector<pid_t> all;
  for (const Connection& connection : connections_) {
    if (connection.greeted) all.push_back(connection.peer.process);
  }
  return all;
}

std::vector<pollfd> Listener::descriptors() const {
  std::vector<pollfd> all = {{socket_, POLLIN, 0}};
  for (const Connection& connection : connections_) {
    all.push_back({connection.descriptor, POLLIN, 0});
  }
  return all;
}

bool Listener::listen(std::chrono::milliseconds patience) {
  std::vector<pollfd> waiting = descriptors();
  if (poll(waiting.data(), waiting.size(), static_cast<int>(patience.count())) <= 0) return false;
  std::size_t i = 0;
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    const bool lives = waiting[++i].revents == 0 || read_some(*connection);
    connection = lives ? std::next(connection) : connections_.erase(connection);
  }
  if (waiting.front().revents != 0) accept_all();
  return true;
}

void Listener::accept_all() {
  for (;;) {
    const int descriptor = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE)) {
      throw Error(ExitCode::file,
                  fmt::format("no more files can be open for the program's processes ({} are "
                              "heard); raise the limit: ulimit -n 1024",
                              connections_.size()));
    }
    if (descriptor < 0) return;
    connections_.push_back({{++last_number_, process_of(descriptor)}, descriptor, false});
  }
}

bool Listener::read_some(Connection& connection) {
  try {
    for (int i = 0; i < frames_a_turn; ++i) {
      const ssize_t bytes = recv(connection.descriptor, frame_.data(), frame_.size(), 0);
      if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (bytes <= 0) {
        end(connection, "");
        return false;
      }
      const auto size = static_cast<std::size_t>(bytes);
      std::optional<inject::Message> message;
      if (size <= inject::max_frame_bytes) message = inject::decode({frame_.data(), size});
      if (!message) throw Fault{"it sent something that is no frame"};
      handle(connection, std::move(*message));
    }
  } catch (const Fault& fault) {
    end(connection, fault.text);
    return false;
  }
  return true;
}

void Listener::handle(Connection& connection, inject::Message&& message) {
  if (const auto* hello = std::get_if<inject::Hello>(&message)) {
    if (connection.greeted) throw Fault{"it said hello twice"};
    connection.greeted = true;
    const auto answer = inject::encode(handlers_.hello(connection.peer, *hello));
    // An empty connection has room for it; a peer that has gone is noticed when we read.
    if (send(connection.descriptor, answer.data(), answer.size(), MSG_NOSIGNAL) < 0 &&
        errno == EMSGSIZE) {
      throw Fault{"the list of metrics is too long for it"};
    }
    return;
  }
  const bool needs_hello = !std::holds_alternative<inject::Unobserved>(message);
  if (!connection.greeted && needs_hello) throw Fault{"it did not say hello"};
  if (std::holds_alternative<inject::Config>(message)) throw Fault{"it told us what to do"};
  handlers_.message(connection.peer, std::move(message));
}

void Listener::end(Connection& connection, const std::string& fault) {
  close(connection.descriptor);
  handlers_.gone(connection.peer, fault);
}

}  // namespace warpmeter::profile
