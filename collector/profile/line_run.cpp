// SPDX-License-Identifier: MIT
#include "collector/profile/line_run.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace warpmeter::profile {
namespace {

constexpr std::size_t most_texts = 1 << 20, most_counted = 1'000'000;

/// Keeps the first launch that any process tells of; with lines, if one has them.
class LineReceiver final : public Receiver {
 public:
  void meet(int, pid_t, const std::string&) override {}
  void forget(int peer) override { processes_.erase(peer); }

  bool take(int peer, inject::Message&& message) override {
    Process& process = processes_[peer];
    if (auto* name = std::get_if<inject::Name>(&message)) {
      return process.names.size() < most_texts &&
             process.names.emplace(name->id, std::move(name->text)).second;
    }
    if (const auto* lines = std::get_if<inject::Lines>(&message)) return take(process, *lines);
    if (const auto* stalls = std::get_if<inject::Stalls>(&message)) return take(process, *stalls);
    if (const auto* counts = std::get_if<inject::Instructions>(&message)) {
      return take(process, *counts);
    }
    if (const auto* launch = std::get_if<inject::Launch>(&message)) return take(process, *launch);
    if (auto* problem = std::get_if<inject::Problem>(&message); problem && problem_.empty()) {
      problem_ = std::move(problem->text);
    }
    return true;
  }

  LaunchLines finish(const std::string& kernel) {
    if (result_.shape) return std::move(result_);
    result_.reason = !problem_.empty()
                         ? problem_
                         : fmt::format("that run launched no {} outside of a CUDA graph", kernel);
    return std::move(result_);
  }

 private:
  struct Process {
    std::map<std::uint32_t, std::string> names;
    std::vector<schema::Line> lines;  ///< the lines of the launch that comes next
    std::vector<schema::Stall> stalls;
    std::vector<schema::InstructionCount> instructions;
  };

  static bool take(Process& process, const inject::Lines& message) {
    for (const inject::Lines::Line& line : message.lines) {
      const auto file = process.names.find(line.file), access = process.names.find(line.access);
      if (file == process.names.end() || access == process.names.end()) return false;
      process.lines.push_back({file->second, line.line, "", access->second, line.requests,
                               line.transactions, line.ideal, line.grade, line.bytes});
    }
    return process.lines.size() <= most_counted;
  }

  static bool take(Process& process, const inject::Stalls& message) {
    for (const inject::Stalls::Stall& stall : message.stalls) {
      const auto file = process.names.find(stall.file), reason = process.names.find(stall.reason);
      if (reason == process.names.end()) return false;
      if ((stall.file == 0) != (stall.line == 0)) return false;
      if (stall.file != 0 && file == process.names.end()) return false;
      process.stalls.push_back({stall.file != 0 ? file->second : "", stall.line, "", reason->second,
                                stall.samples, stall.idle_samples});
    }
    return process.stalls.size() <= most_counted;
  }

  static bool take(Process& process, const inject::Instructions& message) {
    for (const inject::Instructions::Instruction& one : message.instructions) {
      const auto what = process.names.find(one.what);
      constexpr std::uint64_t most_address = 1U << 31;  // no function is as long
      if (what == process.names.end() || one.address > most_address) return false;
      process.instructions.push_back({one.address, what->second, one.count});
    }
    return process.instructions.size() <= most_counted;
  }

  bool take(Process& process, const inject::Launch& launch) {
    const auto reason = process.names.find(launch.without_lines);
    if (launch.without_lines != 0 && reason == process.names.end()) return false;
    std::vector<schema::Line> lines = std::exchange(process.lines, {});
    std::vector<schema::Stall> stalls = std::exchange(process.stalls, {});
    std::vector<schema::InstructionCount> instructions = std::exchange(process.instructions, {});
    if (result_.shape && (result_.reason.empty() || launch.without_lines != 0)) return true;
    result_.shape = launch.shape;
    result_.lines = std::move(lines);
    result_.stalls = std::move(stalls);
    result_.instructions = std::move(instructions);
    result_.reason = launch.without_lines != 0 ? reason->second : "";
    return true;
  }

  std::map<int, Process> processes_;
  LaunchLines result_;
  std::string problem_;
};

}  // namespace

LaunchLines look_by_line(const Options& options, inject::Config config, inject::Mode mode,
                         const std::string& kernel) {
  config.mode = mode;
  config.counters.clear();
  config.lines_of = kernel;
  LineReceiver receiver;
  const Outcome outcome = profile(options, config, receiver);
  LaunchLines result = receiver.finish(kernel);
  result.is_cancelled = outcome.cancelled;
  if (!result.shape && !outcome.ending.ok()) {
    result.reason = fmt::format("{}; it {}", result.reason, outcome.ending.in_words());
  }
  return result;
}

}  // namespace warpmeter::profile
