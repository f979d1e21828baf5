// SPDX-License-Identifier: MIT
#include "collector/inject/lines/machine_code.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace warpmeter::inject {
namespace {

/// The text that CUPTI allocated for us.
std::string take_text(char* text) {
  std::string taken = text != nullptr ? text : "";
  std::free(text);
  return taken;
}

/// Where an instruction of a cubin came from.
SourcePlace place_of(const cupti::CuptiApi& api, const std::string& cubin,
                     const Instruction& instruction) {
  CUpti_GetSassToSourceCorrelationParams parameters{};
  parameters.size = CUpti_GetSassToSourceCorrelationParamsSize;
  parameters.cubin = cubin.data();
  parameters.cubinSize = cubin.size();
  parameters.functionName = instruction.function.c_str();
  parameters.pcOffset = instruction.offset;
  const bool is_known = api.cuptiGetSassToSourceCorrelation(&parameters) == CUPTI_SUCCESS;
  const std::filesystem::path file = take_text(parameters.fileName);
  const std::filesystem::path folder = take_text(parameters.dirName);
  if (!is_known || parameters.lineNumber == 0) return {};
  return {(folder / file).lexically_normal(), static_cast<int>(parameters.lineNumber)};
}

}  // namespace

void Modules::add(const CUpti_ModuleResourceData& module) {
  const std::string_view cubin(static_cast<const char*>(static_cast<const void*>(module.pCubin)),
                               module.cubinSize);
  if (cubin.find(kernel_) == std::string_view::npos) return;
  const std::lock_guard lock(mutex_);
  cubins_.emplace_back(cubin);
}

std::string Modules::find(const cupti::CuptiApi& api, std::uint32_t crc) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& cubin : cubins_) {
    CUpti_GetCubinCrcParams parameters{};
    parameters.size = CUpti_GetCubinCrcParamsSize;
    parameters.cubin = cubin.data();
    parameters.cubinSize = cubin.size();
    const bool is_known = api.cuptiGetCubinCrc(&parameters) == CUPTI_SUCCESS;
    if (is_known && static_cast<std::uint32_t>(parameters.cubinCrc) == crc) return cubin;
  }
  return "";
}

SourcePlace Places::of(const Instruction& instruction) {
  const auto [cubin, is_new] = cubins_.try_emplace(instruction.crc);
  if (is_new) cubin->second = modules_.find(api_, instruction.crc);
  if (cubin->second.empty()) return {};
  return place_of(api_, cubin->second, instruction);
}

std::string Places::why_none() const {
  const bool is_unseen = std::all_of(cubins_.begin(), cubins_.end(),
                                     [](const auto& cubin) { return cubin.second.empty(); });
  return is_unseen
             ? "its machine code was not seen when it was loaded"
             : "its machine code does not say from which lines it came; compile with -lineinfo";
}

}  // namespace warpmeter::inject
