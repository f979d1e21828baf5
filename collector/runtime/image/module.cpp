// SPDX-License-Identifier: MIT
#include "collector/runtime/image/module.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "collector/model/counts/sass/audit.h"
#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/resources.h"
#include "collector/model/counts/steps/steps.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/machine/memory/align.h"
#include "collector/runtime/image/ptxas.h"

namespace warpmeter::runtime {
namespace {

/// The part of a module's room for constants: kernels have them in a memory of their own, copies
/// and pointers reach them here.
constexpr std::uint64_t constants_within = Module::most_variable_bytes / 2;

constexpr std::uint64_t device_page_bytes = std::uint64_t{2} << 20;

/// A driver compiles PTX for the device that it runs on, whatever the PTX was written for.
void aim_at(ptx::Module& module, int arch) {
  if (module.target >= arch) return;
  module.target = arch;
  module.target_name = module.unique_names.emplace_back(fmt::format("sm_{}", arch));
}

}  // namespace

model::Program* Kernel::program() {
  if (std::exchange(is_read_, true)) return program_.get();
  const ptx::Module* parsed = module_.parsed();
  if (parsed == nullptr) {
    failure_ = module_.failure();
    return nullptr;
  }
  auto decoded = model::decode(*parsed, entry_, module_.rooms());
  if (const auto* refused = std::get_if<ptx::Diagnostic>(&decoded)) {
    const ptx::Function* function = parsed->find(entry_);
    const auto reasons =
        function != nullptr ? model::refusals(*parsed, *function) : std::vector<model::Refusal>();
    failure_ = reasons.empty() ? refused->message
                               : "the model cannot run it: " + model::reason_of(reasons.front());
    return nullptr;
  }
  program_ = std::make_unique<model::Program>(std::move(std::get<model::Program>(decoded)));
  for (std::string& file : program_->files) file = model::relative_path(file);
  most_dynamic_shared_bytes -= std::min(most_dynamic_shared_bytes, program_->static_shared_bytes);
  if (module_.has_cubin() && module_.why_apart().empty()) program_->resources = resources();
  return program_.get();
}

void Kernel::audit() {
  if (program() == nullptr || std::exchange(is_audited_, true)) return;
  std::string why = module_.why_apart();
  const std::vector<std::byte> none;
  const std::vector<std::byte>& cubin = why.empty() ? module_.cubin() : none;
  if (why.empty()) why = module_.why_no_cubin();
  if (!cubin.empty()) {
    why = model::steps::audit(*program_, *module_.parsed(), cubin);
    if (!why.empty()) why = "the cubin " + why;
  }
  if (!why.empty()) say_unread(why);
}

void Kernel::say_unread(const std::string& why) {
  program_->why_unaudited = fmt::format("{}, since {}", model::Program::not_read, why);
}

void Kernel::read_resources() {
  if (program() == nullptr || is_audited_ || resources_) return;
  const std::string why = module_.why_apart();
  if (!why.empty()) return say_unread(why);
  program_->resources = resources();
  if (!module_.why_no_cubin().empty()) say_unread(module_.why_no_cubin());
}

std::vector<std::uint32_t> Kernel::predicated_barriers() {
  std::call_once(barriers_read_, [&] {
    const std::vector<std::byte>& cubin = module_.cubin();
    if (cubin.empty()) return;
    const auto code = model::sass::read_machine_code(cubin, entry_);
    if (const auto* read = std::get_if<model::sass::MachineCode>(&code)) {
      predicated_barriers_ = model::sass::predicated_barriers(*program(), *read);
    }
  });
  return predicated_barriers_;
}

const model::Resources& Kernel::resources() {
  if (!resources_) {
    resources_.emplace();
    const std::vector<std::byte>& cubin = module_.cubin();
    const auto read = model::sass::Elf::read(cubin);
    if (const auto* elf = std::get_if<model::sass::Elf>(&read)) {
      resources_ = model::sass::resources_of(*elf, entry_);
    }
  }
  return *resources_;
}

Module::Module(ModuleSource source, int arch, Memory& memory, std::uint64_t variables_at,
               Module* managed)
    : arch_(arch),
      memory_(memory),
      variables_at_(variables_at),
      managed_(managed),
      source_(std::move(source)) {}

Module::~Module() {
  for (const std::uint64_t address : placed_) memory_.take_back(address);
  if (mapped_.mapping != nullptr) memory_.unmap_shared(mapped_, mapped_bytes_);
}

const ptx::Module* Module::parsed() {
  if (std::exchange(is_parsed_, true)) return parsed_.get();
  if (source_.ptx.empty()) {
    failure_ = source_.why_no_ptx;
    return nullptr;
  }
  auto parsed = ptx::parse(std::move(source_.ptx));
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
    failure_ = fmt::format("line {} of its PTX: {}", wrong->line, wrong->message);
    return nullptr;
  }
  parsed_ = std::move(std::get<std::unique_ptr<ptx::Module>>(parsed));
  parsed_->is_linked = source_.is_linked;
  ptx_arch_ = parsed_->target;
  aim_at(*parsed_, arch_);
  return parsed_.get();
}

const std::string& Module::failure() {
  parsed();
  return failure_;
}

Kernel* Module::kernel(const std::string& entry) {
  const auto known = kernels_.find(entry);
  if (known != kernels_.end()) return known->second.get();
  const ptx::Module* module = parsed();
  // A module without PTX may have the kernel: the launch will say why it fails.
  if (module != nullptr) {
    const ptx::Function* function = module->find(entry);
    if (function == nullptr || !function->is_entry) return nullptr;
  }
  return (kernels_[entry] = std::make_unique<Kernel>(*this, entry)).get();
}

std::vector<std::string> Module::kernel_names() {
  std::vector<std::string> names;
  if (parsed() == nullptr) return names;
  for (const ptx::Function& function : parsed_->functions) {
    if (function.is_entry && !function.is_declaration) names.emplace_back(function.name);
  }
  return names;
}

void Module::place_variables() {
  if (is_placed_) return;
  for (const std::string& name : kernel_names()) {
    const model::Program* program = kernel(name)->program();
    if (program != nullptr) return place(*program);
  }
  // Without a kernel too: a program may only copy to and from them.
  if (parsed() == nullptr) return;
  const auto variables = model::decode_variables(*parsed_, rooms());
  if (const auto* program = std::get_if<model::Program>(&variables)) place(*program);
}

void Module::place(const model::Program& program) {
  if (std::exchange(is_placed_, true)) return;
  if (managed_ != nullptr) managed_->place_variables();
  std::uint64_t end = variables_at_;
  bool has_managed = false;
  for (const model::ModuleVariable& variable : program.variables) {
    end = std::max(end, variable.address + variable.initial.size());
    has_managed |= is_managed(variable.name);
  }
  // Hardware does not notice who leaves a variable, up to the end of its page.
  std::uint64_t bytes = model::round_up(end - variables_at_, device_page_bytes);
  std::byte* host = nullptr;
  if (has_managed && managed_ == nullptr) {
    bytes = mapped_bytes_ = model::round_up(end - variables_at_, host_page_bytes);
    mapped_ = memory_.map_shared(variables_at_, mapped_bytes_, true);
    host = mapped_.view;
  }
  if (host == nullptr && end > variables_at_) {
    own_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    if (own_ == nullptr) throw std::bad_alloc();
    host = own_.get();
  }
  std::map<std::uint64_t, const model::ModuleVariable*> in_order;
  for (const model::ModuleVariable& variable : program.variables) {
    variables_[variable.name] = {variable.address, variable.initial.size()};
    if (managed_ == nullptr || !is_managed(variable.name)) in_order[variable.address] = &variable;
  }
  for (auto it = in_order.begin(); it != in_order.end(); ++it) {
    const auto& [address, variable] = *it;
    const std::uint64_t next =
        std::next(it) == in_order.end() ? variables_at_ + bytes : std::next(it)->first;
    std::byte* const place = host + (address - variables_at_);
    std::copy(variable->initial.begin(), variable->initial.end(), place);
    memory_.lend(address, place, variable->initial.size(), variable->name,
                 {0, next - address - variable->initial.size()});
    placed_.push_back(address);
  }
  constants_ = program.constant_memory;
  for (const model::ConstantVariable& variable : program.constant_variables) {
    std::uint64_t size = constants_.size() - variable.offset;
    for (const ptx::Variable& declared : parsed_->variables) {
      if (declared.name == variable.name) size = declared.bytes;
    }
    const VariablePlace place{variables_at_ + constants_within + variable.offset, size};
    memory_.lend(place.address, constants_.data() + variable.offset, size, variable.name, {});
    placed_.push_back(place.address);
    variables_[variable.name] = place;
  }
}

std::optional<VariablePlace> Module::variable(std::string_view name) {
  place_variables();
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

std::string_view Module::variable_at(std::uint64_t address) const {
  for (const auto& [name, place] : variables_) {
    if (address >= place.address && address - place.address < place.bytes) return name;
  }
  return {};
}

bool Module::is_managed(std::string_view variable) {
  const ptx::Module* module = parsed();
  return module != nullptr && std::any_of(module->variables.begin(), module->variables.end(),
                                          [&](const ptx::Variable& one) {
                                            return one.is_managed && one.name == variable;
                                          });
}

void Module::set_constants(model::Program& program) const {
  if (is_placed_ && program.constant_memory.size() == constants_.size()) {
    program.constant_memory = constants_;
  }
}

std::string Module::why_apart() const {
  if (source_.cubin_letter == 0) return "";
  return fmt::format(
      "a GPU runs the machine code for sm_{0}{1}, which is compiled apart from the PTX for sm_{2}",
      arch_, source_.cubin_letter, ptx_arch_);
}

std::string Module::apart_remark() {
  if (source_.cubin_letter == 0 || std::exchange(is_told_apart_, true)) return "";
  return fmt::format(
      "{0} that runs here: where the source asks for that architecture it is other code. Compile "
      "with -gencode arch=compute_{1}{2},code=[sm_{1}{2},compute_{1}{2}]",
      why_apart(), arch_, source_.cubin_letter);
}

const std::vector<std::byte>& Module::cubin() {
  if (std::exchange(is_assembled_, true) || !source_.cubin.empty()) return source_.cubin;
  if (parsed() == nullptr) {
    why_no_cubin_ = failure_;
    return source_.cubin;
  }
  model::Assembled assembled = assemble_cached(*parsed_);
  source_.cubin = std::move(assembled.cubin);
  why_no_cubin_ = std::move(assembled.failure);
  return source_.cubin;
}

}  // namespace warpmeter::runtime
