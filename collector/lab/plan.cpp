// SPDX-License-Identifier: MIT
#include "collector/lab/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace warpmeter::lab {
namespace {

using Json = nlohmann::ordered_json;
constexpr int version = 1;

/// Paths and names are bytes; JSON is UTF-8.
Json text(const std::string& bytes) {
  try {
    Json(bytes).dump();
    return bytes;
  } catch (const nlohmann::json::exception&) {
    throw Error(ExitCode::usage,
                "a name, label or path of the job is not UTF-8, which its plan is written in: "
                "choose another");
  }
}

Json texts(const std::vector<std::string>& all) {
  Json list = Json::array();
  for (const std::string& each : all) list.push_back(text(each));
  return list;
}

Json json_of(const Task& task) {
  Json json = {{"task", task.number}, {"share", task.share}};
  if (!task.launches.empty()) json["launches"] = texts(task.launches);
  if (!task.node.empty()) json["node"] = text(task.node);
  if (!task.gres.empty()) json["gres"] = text(task.gres);
  if (task.gpu > 0) json["gpu"] = task.gpu;
  return json;
}

Task task_of(const Json& json) {
  Task task;
  task.number = json.at("task");
  task.share = json.at("share");
  task.launches = json.value("launches", std::vector<std::string>{});
  task.node = json.value("node", "");
  task.gres = json.value("gres", "");
  task.gpu = json.value("gpu", std::int64_t{0});
  return task;
}

}  // namespace

bool Plan::is_pinned() const {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const Task& task) { return !task.node.empty() || !task.gres.empty(); });
}

std::string to_json(const Plan& plan) {
  Json tasks = Json::array();
  for (const Task& task : plan.tasks) tasks.push_back(json_of(task));
  const Json json = {{"version", version},
                     {"id", plan.id},
                     {"created", plan.created},
                     {"program", text(plan.program)},
                     {"directory", text(plan.directory)},
                     {"command", texts(plan.command)},
                     {"label", text(plan.label)},
                     {"division", text(plan.division)},
                     {"partition", text(plan.partition)},
                     {"gres", text(plan.gres)},
                     {"time", text(plan.time)},
                     {"options", texts(plan.options)},
                     {"tasks", tasks}};
  return json.dump(1) + "\n";
}

Plan plan_from_json(const std::string& words, const std::string& name) {
  try {
    const Json json = Json::parse(words);
    if (json.at("version").get<int>() > version) {
      throw Error(ExitCode::file, fmt::format("{} is of a newer warpmeter: use that one", name));
    }
    Plan plan;
    plan.id = json.at("id");
    plan.created = json.at("created");
    plan.program = json.at("program");
    plan.directory = json.at("directory");
    plan.command = json.at("command").get<std::vector<std::string>>();
    plan.label = json.at("label");
    plan.division = json.at("division");
    plan.partition = json.at("partition");
    plan.gres = json.at("gres");
    plan.time = json.at("time");
    plan.options = json.at("options").get<std::vector<std::string>>();
    for (const Json& task : json.at("tasks")) plan.tasks.push_back(task_of(task));
    if (plan.command.empty() || plan.tasks.empty()) {
      throw Error(ExitCode::file, fmt::format("{} is a plan of nothing", name));
    }
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::file, fmt::format("{} is no plan of a job: {}", name, error.what()));
  }
}

bool is_same_job(const Plan& a, const Plan& b) {
  Plan other = b;
  other.id = a.id;
  other.created = a.created;
  // Durations that are known by now may divide the same launches in another way.
  if (other.tasks.size() == a.tasks.size()) other.tasks = a.tasks;
  other.division = a.division;
  return to_json(a) == to_json(other);
}

}  // namespace warpmeter::lab
