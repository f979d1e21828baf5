// SPDX-License-Identifier: MIT
// The other end of a session: what a program with the injected library in it says, without CUDA.
// Its arguments are what it does, one after the other; see main().
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "collector/inject/channel.h"
#include "collector/inject/shape_numbers.h"

namespace {

using namespace warpmeter;
using namespace warpmeter::inject;

/// Never destroyed: without a Bye the kernel closes it, as the process ends.
std::optional<Channel>& channel = *new std::optional<Channel>;
std::optional<ShapeNumbers> shapes;
Config config;

void connect() {
  channel.emplace(std::getenv(socket_variable));
  shapes.emplace(*channel);
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

/// The wish for a launch: "KERNEL", "KERNEL,VALUE" or "KERNEL,VALUE,STREAM". Each counter has the
/// value, and a duration is 1500 ns unless there is one.
struct Wish {
  std::string kernel;
  std::optional<double> value;
  std::uint32_t stream = 7;
};

Wish wish_of(const std::string& text) {
  Wish wish;
  std::istringstream stream(text);
  std::string value, number;
  std::getline(stream, wish.kernel, ',');
  if (std::getline(stream, value, ',')) wish.value = std::stod(value);
  if (std::getline(stream, number, ',')) wish.stream = std::stoul(number);
  return wish;
}

LaunchShape shape(const Wish& wish) {
  LaunchShape shape;
  shape.kernel = channel->name(wish.kernel);
  shape.stream = wish.stream;
  shape.grid = {4, 1, 1};
  shape.block = {64, 1, 1};
  shape.registers = 16;
  shape.static_shared_bytes = 0;
  shape.local_bytes = 8;
  return shape;
}

/// Two lines; no lines when the value is negative.
void send_lines(const LaunchShape& shape, double value) {
  Launch launch{shape, {}};
  if (value < 0) {
    launch.without_lines = channel->name("compile with -lineinfo");
  } else {
    const auto requests = static_cast<std::uint64_t>(value);
    const std::uint32_t file = channel->name("/src/app.cu");
    Lines lines;
    lines.lines.push_back({file, channel->name("shared load"), 0, 7, requests, 8 * requests,
                           requests, std::nullopt, schema::Grade::measured});
    lines.lines.push_back({file, channel->name("global store"), 0, 9, requests, 4 * requests,
                           4 * requests, std::nullopt, schema::Grade::measured});
    channel->send(lines);
  }
  channel->send(launch);
}

/// Two lines and what has none; nothing when the value is negative.
void send_stalls(const LaunchShape& shape, double value) {
  Launch launch{shape, {}};
  if (value < 0) {
    launch.without_lines = channel->name("the launch was too short for a sample");
  } else {
    const auto samples = static_cast<std::uint64_t>(value);
    const std::uint32_t file = channel->name("/src/app.cu");
    const std::uint32_t shared = channel->name("short_scoreboard");
    Stalls stalls;
    stalls.stalls.push_back({file, shared, 7, 3 * samples, samples});
    stalls.stalls.push_back({file, channel->name("selected"), 9, samples, 0});
    stalls.stalls.push_back({0, shared, 0, 1, 0});
    channel->send(stalls);
    channel->send(Instructions{{{shared, 16, 3 * samples}, {channel->name("selected"), 32, 5}}});
  }
  channel->send(launch);
}

std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> launched;

void launch(const Wish& wish) {
  static std::uint32_t correlation = 0;
  const std::uint32_t occurrence = launched[{wish.kernel, wish.stream}]++;
  if (config.mode == Mode::activity) {
    static std::uint64_t now_ns = 1'000'000;
    if (correlation == 0) channel->send(TraceBegins{now_ns});
    ActivityShape kernel, call;
    kernel.kind = ActivityKind::kernel;
    kernel.shape = shape(wish);
    kernel.name = kernel.shape->kernel;
    call.name = channel->name("cudaLaunchKernel");
    call.thread = 12;
    const std::uint32_t number = ++correlation;
    const Activity called{shapes->number_of(call), now_ns += 1000, 4000, 0, number, false, {}};
    const double duration_ns = wish.value.value_or(1500);
    const Activity ran{shapes->number_of(kernel), now_ns += 500, duration_ns, 0, number, false, {}};
    channel->send(Activities{{ran, called}});
  } else if (config.mode == Mode::counters) {
    Launch counted{shape(wish), {}, occurrence};
    counted.values.assign(config.counters.size(), {wish.value.value_or(64), 0});
    channel->send(counted);
  } else if (config.mode == Mode::lines && config.lines_of == wish.kernel && occurrence == 0) {
    send_lines(shape(wish), wish.value.value_or(64));
  } else if (config.mode == Mode::stalls && config.lines_of == wish.kernel && occurrence == 0) {
    send_stalls(shape(wish), wish.value.value_or(64));
  }
}

/// A launch that the selection leaves out.
void skip(const std::string& kernel) {
  if (config.mode == Mode::activity) {
    launch({kernel, {}});
  } else {
    ++launched[{kernel, Wish{}.stream}];
  }
}

void refuse(const char* kernel) {
  Launch refused{shape({kernel, {}}), {}};
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
void start_child(const char* self, const char* what, const char* then, bool wait) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "connect", what, then, "bye", nullptr);
    _exit(92);
  }
  if (wait) waitpid(child, nullptr, 0);
}

void act(const char* self, const std::string& what) {
  using namespace std::chrono_literals;
  if (what == "connect") connect();
  if (what == "launch") launch({"_Z6reduceILi4EEvPf", {}});
  if (what.starts_with("launch=")) launch(wish_of(what.substr(what.find('=') + 1)));
  if (what == "refuse") refuse("_Z6reduceILi4EEvPf");
  if (what == "seen") channel->send(Seen{channel->name("left_out")});
  if (what == "run") channel->send(Running{channel->name("endless")});
  if (what == "ran") channel->send(Running{});
  if (what == "problem") channel->send(Problem{false, "no permission"});
  if (what == "bye") channel->send(Bye{});
  if (what == "crash") std::abort();
  if (what == "hang") std::this_thread::sleep_for(100s);
  if (what == "doze") std::this_thread::sleep_for(300ms);
  if (what == "stubborn") signal(SIGTERM, SIG_IGN);
  if (what == "flood")
    for (int i = 0; i < 20000; ++i) launch({"_Z6reduceILi4EEvPf", {}});
  if (what == "unnamed") channel->send(Seen{4711});
  if (what == "noise") send_raw(true, "this is no frame");
  const std::string version(1, static_cast<char>(protocol_version));
  if (what == "half") send_raw(true, version + std::string("\x00\x03\x00\x01\x00", 5));
  if (what == "rude") send_raw(false, version + std::string("\x00\x06\x00\x01\x00\x00\x00", 7));
  if (what == "huge") send_raw(true, std::string(max_frame_bytes + 1, 'x'));
  if (what == "child") start_child(self, "launch", "launch", true);
  if (what.starts_with("child=")) {
    start_child(self, ("launch=a," + what.substr(what.find('=') + 1)).c_str(), "nothing", true);
  }
  if (what.starts_with("skip=")) skip(what.substr(what.find('=') + 1));
  if (what == "orphan") start_child(self, "doze", "launch", false);
  if (what == "print") std::puts("the program's own output");
  if (what.starts_with("touch=")) std::ofstream(what.substr(what.find('=') + 1)) << "here";
  if (what.starts_with("wait=")) {
    while (!std::filesystem::exists(what.substr(what.find('=') + 1))) {
      std::this_thread::sleep_for(5ms);
    }
  }
  if (what == "exit3") std::exit(3);
  if (what == "echo") {
    for (int byte = std::getchar(); byte != EOF; byte = std::getchar()) std::putchar(byte);
  }
  if (what == "read" && std::getchar() == EOF) std::exit(4);
}

/// "in=COUNTER": only in the run that counts it; "in=times": in the one that does not count.
bool is_now(const std::string& condition) {
  const std::string wanted = condition.substr(condition.find('=') + 1);
  if (wanted == "times") return config.mode == Mode::activity;
  return std::find(config.counters.begin(), config.counters.end(), wanted) != config.counters.end();
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string what = argv[i];
    if (!what.starts_with("in=")) {
      act(argv[0], what);
    } else if (!is_now(what)) {
      ++i;  // the next one is left out
    }
  }
  return 0;
}
