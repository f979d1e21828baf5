// The other end of a session: what a program with the injected library in it says, without CUDA.
// Its arguments are what it does, one after the other; see main().
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "collector/inject/channel.h"

namespace {

using namespace warpmeter;
using namespace warpmeter::inject;

std::optional<Channel> channel;
Config config;

void connect() {
  channel.emplace(std::getenv(socket_variable));
  const auto received = channel->receive_config();
  if (!received) std::exit(90);
  config = *received;
  if (config.mode == Mode::off) return;
  Device device;
  device.device.backend = "cupti";
  device.device.name = "fake GPU";
  device.device.uuid = "GPU-fake";
  channel->send(device);
}

LaunchShape shape(const char* kernel) {
  LaunchShape shape;
  shape.kernel = channel->name(kernel);
  shape.grid = {4, 1, 1};
  shape.block = {64, 1, 1};
  shape.registers = 16;
  return shape;
}

void launch(const char* kernel) {
  if (config.mode == Mode::activity) {
    const LaunchShape launched = shape(kernel);
    channel->send(Activities{{{ActivityKind::kernel, launched.kernel, 1500, launched},
                              {ActivityKind::call, channel->name("cudaLaunchKernel"), 4000, {}}}});
  } else if (config.mode == Mode::counters) {
    Launch counted{shape(kernel), {}};
    counted.values.assign(config.counters.size(), {64, 0});
    channel->send(counted);
  }
}

void refuse(const char* kernel) {
  Launch refused{shape(kernel), {}};
  refused.values.assign(config.counters.size(), {0, channel->name("it was a trap")});
  channel->send(refused);
}

/// A connection that follows no protocol.
void send_raw(bool hello, const std::string& bytes) {
  const int descriptor = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, std::getenv(socket_variable), sizeof address.sun_path - 1);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    std::exit(91);
  const auto greeting = encode(Hello{});
  if (hello) send(descriptor, greeting.data(), greeting.size(), 0);
  send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  char rest[1024];
  while (recv(descriptor, rest, sizeof rest, 0) > 0) continue;
  close(descriptor);
}

/// Starts this program again with other arguments.
void start_child(const char* self, const char* what, bool wait) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "connect", what, "launch", "bye", nullptr);
    _exit(92);
  }
  if (wait) waitpid(child, nullptr, 0);
}

void act(const char* self, const std::string& what) {
  using namespace std::chrono_literals;
  if (what == "connect") connect();
  if (what == "launch") launch("_Z6reduceILi4EEvPf");
  if (what == "refuse") refuse("_Z6reduceILi4EEvPf");
  if (what == "seen") channel->send(Seen{channel->name("left_out")});
  if (what == "problem") channel->send(Problem{true, "no permission"});
  if (what == "bye") channel->send(Bye{});
  if (what == "crash") std::abort();
  if (what == "hang") std::this_thread::sleep_for(100s);
  if (what == "doze") std::this_thread::sleep_for(300ms);
  if (what == "stubborn") signal(SIGTERM, SIG_IGN);
  if (what == "flood")
    for (int i = 0; i < 20000; ++i) launch("_Z6reduceILi4EEvPf");
  if (what == "unnamed") channel->send(Seen{4711});
  if (what == "noise") send_raw(true, "this is no frame");
  if (what == "half") send_raw(true, std::string("\x01\x00\x03\x00\x01\x00", 6));
  if (what == "rude") send_raw(false, std::string("\x01\x00\x06\x00\x01\x00\x00\x00", 8));
  if (what == "huge") send_raw(true, std::string(max_frame_bytes + 1, 'x'));
  if (what == "child") start_child(self, "launch", true);
  if (what == "orphan") start_child(self, "doze", false);
  if (what == "print") std::puts("the program's own output");
  if (what == "exit3") std::exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) act(argv[0], argv[i]);
  return 0;
}
