// SPDX-License-Identifier: MIT
#include "collector/cupti/neighbours.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace warpmeter::cupti {
namespace {

namespace fs = std::filesystem;
using schema::Disturbance;

constexpr std::size_t most_rows = 32;
constexpr std::size_t longest_name = 100;
constexpr auto looked_back = std::chrono::seconds(2);

struct Kin {
  std::string name;
  pid_t parent = 0;
};

/// The fields of /proc/N/stat, "7 (name) S 1 …"; a name may hold brackets. Nothing where there is
/// no such process.
std::optional<Kin> read_stat(const fs::path& proc, pid_t process) {
  std::ifstream file(proc / std::to_string(process) / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  Kin kin;
  kin.name = text.substr(begin + 1, end - begin - 1);
  if (text.size() > end + 4) {
    std::from_chars(text.data() + end + 4, text.data() + text.size(), kin.parent);
  }
  return kin;
}

/// This process, one that it started, or the same program that started it to measure a part.
bool is_ours(const Look& look, pid_t process) {
  const std::optional<Kin> self = read_stat(look.proc, look.self);
  const std::optional<Kin> other = read_stat(look.proc, process);
  if (self && other && process == self->parent && other->name == self->name) return true;
  constexpr int most_generations = 64;
  for (int i = 0; i < most_generations && process > 1; ++i) {
    if (process == look.self) return true;
    const std::optional<Kin> kin = read_stat(look.proc, process);
    process = kin ? kin->parent : 0;
  }
  return false;
}

/// The program's name as NVML or /proc has it, without its folder; empty when neither does.
std::string name_of(const Look& look, pid_t process) {
  char text[256] = "";
  std::string name;
  if (look.api.nvmlSystemGetProcessName != nullptr &&
      look.api.nvmlSystemGetProcessName(static_cast<unsigned>(process), text, sizeof(text)) ==
          nvml_success) {
    text[sizeof(text) - 1] = '\0';
    name = fs::path(text).filename().string();
  }
  if (name.empty()) name = read_stat(look.proc, process).value_or(Kin{}).name;
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return name.substr(0, longest_name);
}

struct Listed {
  std::vector<nvmlProcessInfo_t> processes;
  std::string reason;  ///< why it is not known
};

using ListFunction = decltype(NvmlApi::nvmlDeviceGetComputeRunningProcesses_v3);

Listed list(const Look& look, ListFunction function) {
  if (function == nullptr) return {{}, "this driver's NVML does not list processes"};
  Listed listed;
  nvmlReturn_t result = nvml_insufficient_size;
  unsigned count = 64;
  for (int i = 0; i < 3 && result == nvml_insufficient_size; ++i) {
    listed.processes.resize(count);
    result = function(look.device, &count, listed.processes.data());
    if (result == nvml_insufficient_size) count += 16;  // more may come meanwhile
  }
  listed.processes.resize(result == nvml_success ? count : 0);
  if (result != nvml_success) {
    listed.reason =
        fmt::format("NVML does not list the processes: {}", look.api.nvmlErrorString(result));
  }
  return listed;
}

/// In how much of the last moments each process computed, %; nothing where NVML does not tell.
std::optional<std::map<pid_t, double>> busy_processes(const Look& look) {
  if (look.api.nvmlDeviceGetProcessUtilization == nullptr) return std::nullopt;
  using std::chrono::duration_cast, std::chrono::microseconds, std::chrono::system_clock;
  const auto since = static_cast<unsigned long long>(
      duration_cast<microseconds>((system_clock::now() - looked_back).time_since_epoch()).count());
  std::vector<nvmlProcessUtilizationSample_t> samples(256);
  auto count = static_cast<unsigned>(samples.size());
  const nvmlReturn_t result =
      look.api.nvmlDeviceGetProcessUtilization(look.device, samples.data(), &count, since);
  if (result == nvml_not_found) return std::map<pid_t, double>{};  // nobody computed
  if (result != nvml_success) return std::nullopt;
  std::map<pid_t, double> busy;
  samples.resize(std::min<std::size_t>(count, samples.size()));
  for (const nvmlProcessUtilizationSample_t& sample : samples) {
    double& most = busy[static_cast<pid_t>(sample.pid)];
    most = std::max<double>(most, sample.smUtil);
  }
  return busy;
}

std::optional<double> memory_of(const nvmlProcessInfo_t& process) {
  if (process.usedGpuMemory == ~0ULL) return std::nullopt;
  return static_cast<double>(process.usedGpuMemory >> 20);
}

/// "python3 (process 490) computed on the card (88 %) and holds 774 MiB of it"
std::string in_words(const Disturbance& row) {
  const std::string who = fmt::format(
      "{} (process {})", row.process_name.empty() ? "a process" : row.process_name, row.process_id);
  const std::string memory = row.memory_mib
                                 ? fmt::format("holds {:.0f} MiB of the card", *row.memory_mib)
                                 : "is on the card";
  if (!row.busy) return fmt::format("{} {}; whether it computed is not known", who, memory);
  if (*row.busy <= 0) return fmt::format("{} {} and computed nothing", who, memory);
  return fmt::format("{} computed on the card ({:.0f} % busy){}", who, *row.busy,
                     row.memory_mib ? fmt::format(" and holds {:.0f} MiB", *row.memory_mib) : "");
}

/// Where the numbers are of another namespace: how many there are besides this process.
std::vector<Disturbance> nameless(const Listed& listed) {
  const std::size_t others = listed.processes.size() - 1;
  if (others == 0) return {};
  Disturbance row{"process", true, "", 0, "", {}, {}, ""};
  row.what = fmt::format(
      "{} computed on the card or {} memory of it (seen from this container "
      "without {})",
      others == 1 ? "another process" : with_noun(others, "other process", "other processes"),
      others == 1 ? "keeps" : "keep", others == 1 ? "its name" : "their names");
  return {row};
}

}  // namespace

std::vector<Disturbance> processes_on(const Look& look) {
  const Listed computing = list(look, look.api.nvmlDeviceGetComputeRunningProcesses_v3);
  const Listed drawing = list(look, look.api.nvmlDeviceGetGraphicsRunningProcesses_v3);
  if (!computing.reason.empty()) {
    return {{"process", false, "", 0, "", {}, {}, computing.reason}};
  }
  const bool sees_itself = std::any_of(
      computing.processes.begin(), computing.processes.end(),
      [&](const nvmlProcessInfo_t& p) { return static_cast<pid_t>(p.pid) == look.self; });
  if (look.has_context && !sees_itself) {
    if (!computing.processes.empty()) return nameless(computing);
    return {{"process",
             false,
             "",
             0,
             "",
             {},
             {},
             "NVML lists no process on the card, not even this one: in this container the others "
             "cannot be seen"}};
  }
  const std::optional<std::map<pid_t, double>> busy = busy_processes(look);
  std::vector<Disturbance> rows;
  std::set<pid_t> seen;
  const auto add = [&](const char* kind, const nvmlProcessInfo_t& process) {
    const auto id = static_cast<pid_t>(process.pid);
    if (!seen.insert(id).second || is_ours(look, id)) return;
    Disturbance row{kind, false, "", id, name_of(look, id), memory_of(process), {}, ""};
    if (busy) {
      const auto found = busy->find(id);
      row.busy = found != busy->end() ? found->second : 0;
    }
    if (row.process_name.starts_with("nvidia-cuda-mps")) row.kind = "MPS";
    row.is_felt = !row.busy || *row.busy > 0;
    row.what = in_words(row);
    rows.push_back(std::move(row));
  };
  for (const nvmlProcessInfo_t& process : computing.processes) add("process", process);
  for (const nvmlProcessInfo_t& process : drawing.processes) add("graphics process", process);
  std::stable_sort(rows.begin(), rows.end(), [](const Disturbance& a, const Disturbance& b) {
    return a.busy.value_or(100) > b.busy.value_or(100);
  });
  if (rows.size() > most_rows) {
    const std::size_t more = rows.size() - most_rows;
    rows.resize(most_rows);
    rows.push_back(
        {"process",
         false,
         fmt::format("{} on the card", with_noun(more, "more process is", "more processes are")),
         0,
         "",
         {},
         {},
         ""});
  }
  return rows;
}

std::vector<Disturbance> services_of(const fs::path& proc) {
  struct Service {
    std::string_view name, kind, what;
  };
  // Names as /proc has them: at most 15 characters.
  static constexpr Service services[] = {
      {"nv-hostengine", "DCGM", "DCGM's engine runs on this machine and may hold the counters"},
      {"dcgm-exporter", "DCGM", "DCGM's exporter runs on this machine and may hold the counters"},
      {"nvidia-cuda-mps", "MPS", "MPS runs on this machine: programs may share a card at a time"}};
  std::vector<Disturbance> rows;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(proc, ignored)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "comm");
    std::string name;
    std::getline(file, name);
    for (const Service& service : services) {
      const bool is_known = std::any_of(rows.begin(), rows.end(), [&](const Disturbance& row) {
        return row.what == service.what;
      });
      if (name != service.name || is_known) continue;
      pid_t id = 0;
      std::from_chars(number.data(), number.data() + number.size(), id);
      rows.push_back(
          {std::string(service.kind), false, std::string(service.what), id, name, {}, {}, ""});
    }
  }
  return rows;
}

std::vector<Disturbance> set_clocks_of(const Look& look) {
  const NvmlApi& api = look.api;
  unsigned set = 0, usual = 0;
  if (api.nvmlDeviceGetApplicationsClock == nullptr ||
      api.nvmlDeviceGetDefaultApplicationsClock == nullptr ||
      api.nvmlDeviceGetApplicationsClock(look.device, nvml_clock_sm, &set) != nvml_success ||
      api.nvmlDeviceGetDefaultApplicationsClock(look.device, nvml_clock_sm, &usual) !=
          nvml_success ||
      set == usual) {
    return {};
  }
  return {{"application clocks",
           false,
           fmt::format("somebody has set the SM clock of applications to {} MHz, {} is its default",
                       set, usual),
           0,
           "",
           {},
           {},
           ""}};
}

std::vector<Disturbance> look_around(const Look& look) {
  std::vector<Disturbance> rows = processes_on(look);
  for (auto more : {set_clocks_of(look), services_of(look.proc)}) {
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace warpmeter::cupti
