// SPDX-License-Identifier: MIT
// From what was typed to the plan of a job: the command is looked at, divided by expected cost or
// repeated on nodes, and held against what there is on the cluster, before anything is written.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/with_noun.h"
#include "collector/cli/arguments.h"
#include "collector/cli/submit/request.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", parts);
}

using Durations = std::map<std::tuple<std::string, std::string, std::int64_t>, double>;

/// Medians of earlier runs, ns; none without a database.
Durations durations_in(const std::string& database) {
  Durations durations;
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) return durations;
  const schema::Rows rows = schema::Reader(database).query(
      "SELECT l.family, l.variant, coalesce(l.size, 0), avg(t.median_ns) FROM timings t "
      "JOIN launches l ON l.launch_id = t.launch_id GROUP BY 1, 2, 3");
  for (const auto& row : rows.rows) {
    durations[{std::get<std::string>(row[0]), std::get<std::string>(row[1]),
               std::get<std::int64_t>(row[2])}] = std::get<double>(row[3]);
  }
  return durations;
}

/// Launches with their costs: earlier durations where they are known, elsewhere the work at the
/// pace of those. `known`: of how many they are.
std::vector<lab::Launch> with_costs(const std::vector<PlannedLaunch>& planned,
                                    const Durations& durations, std::size_t& known) {
  double known_ns = 0, known_work = 0;
  std::vector<lab::Launch> launches;
  for (const PlannedLaunch& launch : planned) {
    const auto found = durations.find({launch.family, launch.variant, launch.size});
    const bool is_known = found != durations.end();
    launches.push_back({launch.line, is_known ? found->second : -1});
    if (!is_known) continue;
    ++known;
    known_ns += found->second;
    known_work += launch.work;
  }
  const double pace = known_work > 0 ? known_ns / known_work : 1;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].cost < 0) launches[i].cost = planned[i].work * pace;
  }
  return launches;
}

void split_into(lab::Plan& plan, const SubmitRequest& request) {
  const std::vector<PlannedLaunch> planned =
      planned_launches({plan.command.begin() + 1, plan.command.end()});
  std::size_t known = 0;
  const std::vector<lab::Launch> launches =
      with_costs(planned, durations_in(request.database), known);
  const std::vector<lab::Part> parts =
      lab::split(launches, static_cast<std::size_t>(request.split));
  for (const lab::Part& part : parts) {
    lab::Task task;
    task.number = static_cast<std::int64_t>(plan.tasks.size()) + 1;
    task.launches = part.launches;
    task.share = part.share;
    plan.tasks.push_back(std::move(task));
  }
  const char* by = known == launches.size() ? "by their durations in {2}"
                   : known > 0 ? "by the durations of {1} of them in {2}, the others by their work"
                               : "by their work (bytes and operations)";
  plan.division = with_noun(launches.size(), "launch", "launches") + " divided " +
                  fmt::format(fmt::runtime(by), launches.size(), known, request.database);
}

/// The nodes of the partition that was named, or of the default one.
std::vector<lab::Node> chosen(const std::vector<lab::Node>& nodes, const std::string& partition) {
  std::vector<lab::Node> result;
  for (const lab::Node& node : nodes) {
    const bool is_in = partition.empty() ? node.is_default_partition : node.partition == partition;
    if (is_in) result.push_back(node);
  }
  return result;
}

void check_partition(const SubmitRequest& request, const std::vector<lab::Node>& nodes) {
  std::set<std::string> names;
  for (const lab::Node& node : nodes) names.insert(node.partition);
  std::string_view rest = request.partition;  // several may be named: "lab,night"
  while (!rest.empty()) {
    const std::string name(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (names.contains(name)) continue;
    throw Error(ExitCode::usage, fmt::format("there is no partition '{}'; there are {}", name,
                                             fmt::join(names, ", ")));
  }
}

/// The types of GPUs that these nodes have.
std::set<std::string> gpu_types(const std::vector<lab::Node>& nodes) {
  std::set<std::string> types;
  for (const lab::Node& node : nodes) {
    for (const auto& [type, count] : node.gpus) types.insert(type);
  }
  return types;
}

void check_gres(const std::string& gres, const std::vector<lab::Node>& nodes) {
  const std::map<std::string, std::int64_t> wanted = lab::gpus_of(gres);
  const std::set<std::string> there = gpu_types(nodes);
  for (const auto& [type, count] : wanted) {
    if (there.empty()) {
      throw Error(ExitCode::usage,
                  fmt::format("--gres {} asks for a GPU, and no node of the partition has one that "
                              "Slurm knows of",
                              gres));
    }
    std::int64_t most = 0;
    for (const lab::Node& node : nodes) {
      std::int64_t has = 0;
      for (const auto& [name, number] : node.gpus) has += type.empty() || name == type ? number : 0;
      most = std::max(most, has);
    }
    if (most == 0) {
      throw Error(ExitCode::usage,
                  fmt::format("there is no GPU '{}' in the partition; there are {}", type,
                              fmt::join(there, ", ")));
    }
    if (count > most) {
      throw Error(ExitCode::usage,
                  fmt::format("--gres {} asks for {} GPUs of one node, and none has more than {}",
                              gres, count, most));
    }
  }
}

std::string gres_of(const std::string& type, std::int64_t count) {
  return type.empty() ? fmt::format("gpu:{}", count) : fmt::format("gpu:{}:{}", type, count);
}

/// --each
void repeat_on(lab::Plan& plan, const SubmitRequest& request, const std::vector<lab::Node>& nodes) {
  std::vector<std::string> left_out;
  const auto add = [&](const std::string& node, const std::string& gres, std::int64_t gpu) {
    lab::Task task;
    task.number = static_cast<std::int64_t>(plan.tasks.size()) + 1;
    task.node = node;
    task.gres = gres;
    task.gpu = gpu;
    plan.tasks.push_back(std::move(task));
  };
  if (request.each == "gpu-type") {
    for (const std::string& type : gpu_types(nodes)) add("", gres_of(type, 1), 0);
  } else {
    for (const lab::Node& node : nodes) {
      if (!node.is_usable()) {
        left_out.push_back(fmt::format("{} ({})", node.name, node.state));
      } else if (request.each == "node") {
        add(node.name, "", 0);
      } else {
        std::int64_t gpu = 0;
        std::vector<std::string> all;
        for (const auto& [type, count] : node.gpus) all.push_back(gres_of(type, count));
        for (const auto& [type, count] : node.gpus) {
          for (std::int64_t i = 0; i < count; ++i) {
            add(node.name, fmt::format("{}", fmt::join(all, ",")), ++gpu);
          }
        }
      }
    }
  }
  if (plan.tasks.empty()) {
    throw Error(ExitCode::usage,
                request.each == "node"
                    ? "no node of the partition can be used now (see: sinfo)"
                    : "no node of the partition has a GPU that Slurm knows of (see: sinfo -o %G)");
  }
  const char* what = request.each == "node"       ? "each node"
                     : request.each == "gpu-type" ? "one GPU of each type"
                                                  : "each GPU";
  plan.division = fmt::format("the whole command on {}", what);
  if (!left_out.empty()) {
    plan.division += fmt::format("; left out: {}", fmt::join(left_out, ", "));
  }
  for (lab::Task& task : plan.tasks) task.share = 1.0 / static_cast<double>(plan.tasks.size());
}

}  // namespace

void check_options(const SubmitRequest& request) {
  if (request.split > 0 && !request.command.empty() && request.command.front() != "run") {
    throw Error(ExitCode::usage,
                fmt::format("{} is one program from its start to its end and cannot be split: "
                            "leave out --split, or repeat it with --each",
                            request.command.front()));
  }
  if (request.split > 0 && !request.each.empty()) {
    throw Error(ExitCode::usage, "--split divides a command and --each repeats it: give one");
  }
  if (!request.gres.empty() && (request.each == "gpu" || request.each == "gpu-type")) {
    throw Error(ExitCode::usage,
                fmt::format("--each {} says which GPUs: leave out --gres", request.each));
  }
  check_label(request.label);
  for (const std::string& option : request.options) {
    if (option.empty() || option.front() != '-') {
      throw Error(
          ExitCode::usage,
          fmt::format("--sbatch takes an option of sbatch, as '--qos=low', not '{}'", option));
    }
    for (const char* ours : {"--array", "-a", "--comment", "--dependency", "-d", "--chdir", "-D",
                             "--output", "-o", "--wrap", "--parsable", "--nodelist", "-w"}) {
      const std::string name = option.substr(0, option.find_first_of("= \t"));
      if (name == ours && (name != "--nodelist" && name != "-w" ? true : !request.each.empty())) {
        throw Error(ExitCode::usage,
                    fmt::format("--sbatch '{}' is what submit itself says to sbatch: leave it out",
                                option));
      }
    }
  }
}

lab::Plan plan_of(const SubmitRequest& request, const std::vector<lab::Node>& nodes) {
  check_partition(request, nodes);
  const std::vector<lab::Node> usable = chosen(nodes, request.partition);
  const bool several = request.partition.find(',') != std::string::npos;
  if (several && !request.each.empty()) {
    throw Error(ExitCode::usage, "--each needs one partition, not several");
  }
  check_gres(request.gres, several ? nodes : usable);
  lab::Plan plan;
  plan.id = random_id();
  plan.created = now();
  plan.program = std::filesystem::read_symlink("/proc/self/exe").string();
  plan.directory = std::filesystem::current_path().string();
  plan.command = request.command;
  plan.label = request.label;
  plan.partition = request.partition;
  plan.gres = request.gres;
  plan.time = request.time;
  plan.options = request.options;
  if (request.split > 0) {
    split_into(plan, request);
  } else if (!request.each.empty()) {
    repeat_on(plan, request, usable);
  } else {
    lab::Task task;
    task.number = 1;
    plan.tasks.push_back(task);
    plan.division = "the whole command, once";
  }
  return plan;
}

}  // namespace warpmeter::cli
