// SPDX-License-Identifier: MIT
#include "collector/inject/lines/stall_session.h"

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/cupti/planner.h"

namespace warpmeter::inject {
namespace {

/// A sample each 2^11 cycles: some thousands of a launch of ten microseconds on a large device.
constexpr std::uint32_t period_log2 = 11;
/// A kernel's instructions beyond this number have no room.
constexpr std::size_t most_instructions = 1 << 14;
constexpr std::string_view prefix = "smsp__pcsamp_warps_issue_stalled_", no_issue = "_not_issued";

CUpti_PCSamplingConfigurationInfo attribute(CUpti_PCSamplingConfigurationAttributeType type) {
  CUpti_PCSamplingConfigurationInfo info{};
  info.attributeType = type;
  return info;
}

}  // namespace

void StallSession::Room::make(std::size_t reason_count) {
  instructions.resize(most_instructions);
  reasons.resize(most_instructions * reason_count);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    instructions[i].size = sizeof(CUpti_PCSamplingPCData);
    instructions[i].stallReason = &reasons[i * reason_count];
  }
  data.size = sizeof data;
  data.collectNumPcs = instructions.size();
  data.pPcData = instructions.data();
}

StallSession::StallSession(const cupti::CuptiApi& api, CUcontext context)
    : api_(api), context_(context) {
  CUpti_PCSamplingEnableParams enable{};
  enable.size = CUpti_PCSamplingEnableParamsSize;
  enable.ctx = context_;
  cupti::check(api_, api_.cuptiPCSamplingEnable(&enable), "sampling what warps wait for");
  name_reasons();
  room_.make(indices_.size());
  configure();
}

void StallSession::name_reasons() {
  std::size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams size{};
  size.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
  size.ctx = context_;
  size.numStallReasons = &count;
  cupti::check(api_, api_.cuptiPCSamplingGetNumStallReasons(&size), "asking why warps may wait");
  indices_.resize(count);
  using Name = std::array<char, CUPTI_STALL_REASON_STRING_SIZE>;
  std::vector<Name> names(count);
  std::vector<char*> texts;
  for (Name& name : names) texts.push_back(name.data());
  CUpti_PCSamplingGetStallReasonsParams parameters{};
  parameters.size = CUpti_PCSamplingGetStallReasonsParamsSize;
  parameters.ctx = context_;
  parameters.numStallReasons = count;
  parameters.stallReasonIndex = indices_.data();
  parameters.stallReasons = texts.data();
  cupti::check(api_, api_.cuptiPCSamplingGetStallReasons(&parameters), "asking why warps may wait");
  for (std::size_t i = 0; i < count; ++i) reasons_[indices_[i]] = names[i].data();
}

void StallSession::configure() {
  std::array attributes = {
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER),
      attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)};
  attributes[0].attributeData.collectionModeData.collectionMode =
      CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  attributes[1].attributeData.stallReasonData.stallReasonCount = indices_.size();
  attributes[1].attributeData.stallReasonData.pStallReasonIndex = indices_.data();
  attributes[2].attributeData.samplingDataBufferData.samplingDataBuffer = &room_.data;
  attributes[3].attributeData.samplingPeriodData.samplingPeriod = period_log2;
  CUpti_PCSamplingConfigurationInfoParams parameters{};
  parameters.size = CUpti_PCSamplingConfigurationInfoParamsSize;
  parameters.ctx = context_;
  parameters.numAttributes = attributes.size();
  parameters.pPCSamplingConfigurationInfo = attributes.data();
  cupti::check(api_, api_.cuptiPCSamplingSetConfigurationAttribute(&parameters),
               "choosing how warps are sampled");
}

std::vector<InstructionStalls> StallSession::finish() {
  // The samples are written into the room when sampling is disabled.
  CUpti_PCSamplingDisableParams disable{};
  disable.size = CUpti_PCSamplingDisableParamsSize;
  disable.ctx = context_;
  cupti::check(api_, api_.cuptiPCSamplingDisable(&disable), "reading what warps waited for");
  std::map<Instruction, InstructionStalls> merged;
  for (std::size_t i = 0; i < room_.data.totalNumPcs; ++i) {
    const CUpti_PCSamplingPCData& sampled = room_.instructions.at(i);
    // Records share the names; there is one session a process, so they are left to it.
    const char* name = sampled.functionName != nullptr ? sampled.functionName : "";
    const Instruction at{static_cast<std::uint32_t>(sampled.cubinCrc), name, sampled.pcOffset};
    InstructionStalls& stalls = merged[at];
    stalls.at = at;
    for (std::size_t k = 0; k < sampled.stallReasonCount; ++k) {
      const CUpti_PCSamplingStallReason& reason = sampled.stallReason[k];
      stalls.samples[reasons_[reason.pcSamplingStallReasonIndex]] += reason.samples;
    }
  }
  std::vector<InstructionStalls> all;
  for (auto& [at, stalls] : merged) all.push_back(std::move(stalls));
  return all;
}

namespace {

struct Reason {
  std::string_view name;
  bool is_idle = false;
};

/// "short_scoreboard" of CUPTI's name for it.
Reason reason_of(std::string_view name) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const bool is_idle = name.ends_with(no_issue);
  if (is_idle) name.remove_suffix(no_issue.size());
  return {name, is_idle};
}

}  // namespace

std::vector<schema::InstructionCount> samples_of(const std::vector<InstructionStalls>& samples) {
  std::vector<schema::InstructionCount> all;
  for (const InstructionStalls& instruction : samples) {
    for (const auto& [name, count] : instruction.samples) {
      const auto [reason, is_idle] = reason_of(name);
      if (count == 0 || is_idle) continue;  // the idle ones are among the others
      all.push_back({instruction.at.offset, std::string(reason), count});
    }
  }
  return all;
}

std::vector<schema::Stall> stalls_of(const std::vector<InstructionStalls>& samples,
                                     const PlaceOf& place) {
  std::map<std::tuple<std::string, int, std::string>, schema::Stall> stalls;
  for (const InstructionStalls& instruction : samples) {
    const SourcePlace at = place(instruction.at);
    for (const auto& [name, count] : instruction.samples) {
      if (count == 0) continue;
      const auto [reason, is_idle] = reason_of(name);
      const std::string file = at.line > 0 ? at.file : "";
      schema::Stall& stall = stalls[{file, at.line, std::string(reason)}];
      stall.file = file;
      stall.line = at.line;
      stall.reason = reason;
      (is_idle ? stall.idle_samples : stall.samples) += count;
    }
  }
  std::vector<schema::Stall> all;
  for (auto& [key, stall] : stalls) all.push_back(std::move(stall));
  return all;
}

}  // namespace warpmeter::inject
