// SPDX-License-Identifier: MIT
#include "collector/inject/lines/line_session.h"

#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "collector/cupti/planner.h"

namespace warpmeter::inject {
namespace {

constexpr const char* shared_wavefronts = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
constexpr const char* shared_ideal = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal";
constexpr const char* global_sectors = "smsp__sass_sectors_mem_global";
constexpr const char* global_ideal = "smsp__sass_sectors_mem_global_ideal";
constexpr const char* executed = "smsp__sass_inst_executed";
constexpr const char* copies = "smsp__sass_inst_executed_op_ldgsts";

/// Requests of one kind; an instruction has a kind if it counts any.
struct Kind {
  const char* requests;
  const char* access;
  bool is_shared;
};
constexpr Kind kinds[] = {
    {"smsp__sass_inst_executed_op_shared_ld", "shared load", true},
    {"smsp__sass_inst_executed_op_shared_st", "shared store", true},
    {"smsp__sass_inst_executed_op_shared_atom", "shared atomic", true},
    {"smsp__sass_inst_executed_op_ldsm", "shared matrix load", true},
    {"smsp__sass_inst_executed_op_shared_stsm", "shared matrix store", true},
    {"smsp__sass_inst_executed_op_global_ld", "global load", false},
    {"smsp__sass_inst_executed_op_global_st", "global store", false},
    {"smsp__sass_inst_executed_op_global_atom", "global atomic", false},
    {"smsp__sass_inst_executed_op_global_red", "global reduction", false},
    // cp.async: from global to shared memory
    {copies, "global load", false},
    {copies, "shared async copy", true},
};

std::vector<const char*> wanted_metrics() {
  std::vector<const char*> all = {executed, shared_wavefronts, shared_ideal, global_sectors,
                                  global_ideal};
  for (const Kind& kind : kinds) {
    if (all.back() != kind.requests) all.push_back(kind.requests);
  }
  return all;
}

std::uint64_t value_of(const InstructionCounts& counts, const char* metric) {
  const auto found = counts.values.find(std::string_view(metric));
  return found != counts.values.end() ? found->second : 0;
}

}  // namespace

LineSession::LineSession(const cupti::CuptiApi& api, CUcontext context, std::uint32_t device,
                         const std::string& chip)
    : api_(api), context_(context) {
  std::vector<CUpti_SassMetrics_Config> configs;
  for (const char* name : wanted_metrics()) {
    CUpti_SassMetrics_GetProperties_Params properties{};
    properties.structSize = CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE;
    properties.pChipName = chip.c_str();
    properties.pMetricName = name;
    // A chip without stmatrix has no metric of it.
    if (api_.cuptiSassMetricsGetProperties(&properties) != CUPTI_SUCCESS) continue;
    metrics_[properties.metric.metricId] = name;
    configs.push_back({properties.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
  }
  if (configs.empty()) {
    throw Error(ExitCode::no_hardware, "CUPTI counts nothing by machine instruction on " + chip +
                                           "; profile without "
                                           "--lines");
  }
  CUpti_SassMetricsSetConfig_Params config{};
  config.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE;
  config.numOfMetricConfig = configs.size();
  config.pConfigs = configs.data();
  config.deviceIndex = device;
  cupti::check(api_, api_.cuptiSassMetricsSetConfig(&config), "choosing what instructions count");
  CUpti_SassMetricsEnable_Params enable{};
  enable.structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE;
  enable.ctx = context_;
  enable.enableLazyPatching = 1;  // the kernel that is launched, not all of the process
  cupti::check(api_, api_.cuptiSassMetricsEnable(&enable), "counting by machine instruction");
}

std::vector<InstructionCounts> LineSession::finish() {
  struct Disable {
    LineSession& session;
    ~Disable() {
      CUpti_SassMetricsDisable_Params parameters{};
      parameters.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE;
      parameters.ctx = session.context_;
      session.api_.cuptiSassMetricsDisable(&parameters);
    }
  } disable{*this};
  CUpti_SassMetricsGetDataProperties_Params size{};
  size.structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE;
  size.ctx = context_;
  cupti::check(api_, api_.cuptiSassMetricsGetDataProperties(&size),
               "asking what instructions counted");
  if (size.numOfPatchedInstructionRecords == 0) return {};
  std::vector<CUpti_SassMetrics_Data> records(size.numOfPatchedInstructionRecords);
  std::vector<CUpti_SassMetrics_InstanceValue> values(records.size() * size.numOfInstances);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].structSize = sizeof(CUpti_SassMetrics_Data);
    records[i].pInstanceValues = &values[i * size.numOfInstances];
  }
  CUpti_SassMetricsFlushData_Params flush{};
  flush.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
  flush.ctx = context_;
  flush.numOfPatchedInstructionRecords = records.size();
  flush.numOfInstances = size.numOfInstances;
  flush.pMetricsData = records.data();
  cupti::check(api_, api_.cuptiSassMetricsFlushData(&flush), "reading what instructions counted");
  // There is a record for each instruction and metric.
  std::map<Instruction, InstructionCounts> merged;
  for (const CUpti_SassMetrics_Data& record : records) {
    const char* name = record.functionName != nullptr ? record.functionName : "";
    const Instruction at{record.cubinCrc, name, record.pcOffset};
    InstructionCounts& counts = merged[at];
    counts.at = at;
    for (const auto& value : std::span(record.pInstanceValues, size.numOfInstances)) {
      counts.values[metrics_[value.metricId]] += value.value;
    }
  }
  std::vector<InstructionCounts> all;
  for (auto& [key, counts] : merged) all.push_back(std::move(counts));
  return all;
}

bool counts_accesses(const std::vector<InstructionCounts>& counts) {
  for (const InstructionCounts& instruction : counts) {
    for (const Kind& kind : kinds) {
      if (value_of(instruction, kind.requests) > 0) return true;
    }
  }
  return false;
}

std::vector<schema::Line> lines_of(const std::vector<InstructionCounts>& counts,
                                   const PlaceOf& place) {
  std::map<std::tuple<std::string, int, std::string>, schema::Line> lines;
  for (const InstructionCounts& instruction : counts) {
    const SourcePlace at = place(instruction.at);
    if (at.line == 0) continue;
    for (const Kind& kind : kinds) {
      const std::uint64_t requests = value_of(instruction, kind.requests);
      if (requests == 0) continue;
      schema::Line& line = lines[{at.file, at.line, kind.access}];
      line.file = at.file;
      line.line = at.line;
      line.access = kind.access;
      line.requests += requests;
      line.transactions +=
          value_of(instruction, kind.is_shared ? shared_wavefronts : global_sectors);
      line.ideal += value_of(instruction, kind.is_shared ? shared_ideal : global_ideal);
      line.grade = schema::Grade::measured;
    }
  }
  std::vector<schema::Line> all;
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

std::vector<schema::InstructionCount> instructions_of(const std::vector<InstructionCounts>& counts,
                                                      std::string_view function) {
  std::vector<schema::InstructionCount> all;
  for (const InstructionCounts& one : counts) {
    const std::uint64_t count = value_of(one, executed);
    if (one.at.function == function && count > 0) all.push_back({one.at.offset, "executed", count});
  }
  return all;
}

}  // namespace warpmeter::inject
