// SPDX-License-Identifier: MIT
#include "collector/cli/model/doctor_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <variant>

#include "base/kernel_name.h"
#include "collector/model/input/compile_options.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"
#include "collector/profile/program.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/program_file.h"
#include "reports/table/number.h"

namespace warpmeter::cli {
namespace {

using runtime::ProgramFile;
using runtime::WayIn;

constexpr const char* not_possible = "cannot";
constexpr std::size_t most_refusals = 10;

Check check_way(const std::string& path, const ProgramFile& program) {
  Check check{"program", true, "", "", not_possible};
  const std::string why = runtime::no_way_into(program.way);
  if (!why.empty()) {
    const std::size_t remedy = why.find(": ");
    check.ok = false;
    check.detail = fmt::format("{}: {}", path, why.substr(0, remedy));
    if (remedy != std::string::npos) check.remedy = why.substr(remedy + 2);
    return check;
  }
  const char* way = program.way == WayIn::static_runtime   ? "the CUDA runtime is linked into it"
                    : program.way == WayIn::shared_runtime ? "it needs libcudart.so"
                    : program.way == WayIn::driver         ? "it uses the driver's API"
                    : program.has_cuda()
                        ? "it has CUDA code"
                        : "no CUDA in the file itself; what it loads may have some";
  check.detail = fmt::format("{}: {}", path, way);
  return check;
}

std::string architectures(const std::vector<int>& all) {
  return all.empty() ? "none" : fmt::format("sm_{}", fmt::join(all, ", sm_"));
}

Check check_code(const ProgramFile& program, int arch) {
  Check check{"code", true, "", "", not_possible};
  check.detail = fmt::format("PTX for {}; machine code for {}", architectures(program.ptx),
                             architectures(program.machine_code));
  const bool has_ptx =
      std::any_of(program.ptx.begin(), program.ptx.end(), [&](int one) { return one <= arch; });
  if (has_ptx) return check;
  check.ok = false;
  const auto later = std::min_element(program.ptx.begin(), program.ptx.end());
  check.remedy = runtime::without_ptx(later == program.ptx.end() ? 0 : *later, arch);
  return check;
}

/// The kernels of a module, and why some of them cannot be executed.
struct Kernels {
  std::size_t count = 0, refused = 0;
  std::vector<std::string> reasons;
};

void look_at(const runtime::ModuleSource& source, Kernels& kernels) {
  if (source.ptx.empty()) {
    kernels.reasons.push_back("a module cannot be linked: " + source.why_no_ptx);
    return;
  }
  auto parsed = model::ptx::parse(std::string(source.ptx));
  if (const auto* wrong = std::get_if<model::ptx::Diagnostic>(&parsed)) {
    kernels.reasons.push_back(fmt::format("a module cannot be read: line {} of its PTX: {}",
                                          wrong->line, wrong->message));
    return;
  }
  const auto& module = std::get<std::unique_ptr<model::ptx::Module>>(parsed);
  for (const model::ptx::Function& function : module->functions) {
    if (!function.is_entry || function.is_declaration) continue;
    ++kernels.count;
    const std::vector<model::Refusal> refusals = model::refusals(*module, function);
    if (refusals.empty()) continue;
    ++kernels.refused;
    const std::string name = readable_name(function.name);
    for (const model::Refusal& refusal : refusals) {
      kernels.reasons.push_back(model::to_string(refusal, name));
    }
  }
}

std::vector<Check> check_kernels(const ProgramFile& program) {
  Kernels kernels;
  for (const runtime::ModuleSource& source : program.modules) look_at(source, kernels);
  Check check{"kernels", kernels.reasons.empty(), "", "", not_possible};
  check.detail = fmt::format("{} of {} can be executed", kernels.count - kernels.refused,
                             reports::counted(kernels.count, "kernel", "kernels"));
  std::vector<Check> checks = {check};
  const std::size_t shown = std::min(kernels.reasons.size(), most_refusals);
  for (std::size_t i = 0; i < shown; ++i) {
    checks.push_back({"kernel", false, kernels.reasons[i], "", not_possible});
  }
  if (shown < kernels.reasons.size()) {
    checks.push_back({"kernel", false,
                      fmt::format("and {} reasons more", kernels.reasons.size() - shown), "",
                      not_possible});
  }
  return checks;
}

}  // namespace

std::vector<Check> check_program(const std::string& name) {
  const std::string path = profile::find_program(name).string();
  const int arch = model::CompileOptions{}.target();
  const ProgramFile program = runtime::read_program(path, arch);
  std::vector<Check> checks = {check_way(path, program)};
  if (program.is_damaged) {
    checks.push_back(
        {"code", false,
         "its CUDA code is damaged: a size in it leads out of the file, or claims more "
         "than any compiler writes",
         "build the program again", not_possible});
  }
  if (program.has_cuda()) {
    checks.push_back(check_code(program, arch));
    if (!program.modules.empty()) {
      for (Check& check : check_kernels(program)) checks.push_back(std::move(check));
    }
  }
  for (const std::string& library : program.libraries) {
    checks.push_back(
        {"library", false,
         fmt::format("{} holds machine code only: the calls that need it fail", library),
         "leave those calls out, or run on a GPU", not_possible});
  }
  return checks;
}

}  // namespace warpmeter::cli
