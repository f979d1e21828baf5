// SPDX-License-Identifier: MIT
#include "collector/family/machine_code.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/kernel_name.h"
#include "collector/family/example.h"
#include "collector/model/counts/sass/elf.h"
#include "collector/model/input/npy.h"
#include "kernels/family.h"

namespace warpmeter::family {
namespace {

using model::ptx::Type;

/// As PTX would declare a parameter of this C++ type ("": not known) and this many bytes.
Type type_of(const std::string& type, std::uint32_t bytes) {
  const bool is_pointer = type.find_first_of("*&") != std::string::npos;
  if (is_pointer && bytes == sizeof(std::uint64_t)) return Type::u64;
  const auto element = type.empty() ? std::nullopt : element_of(type);
  const bool fits = element && bytes_of(*element) == bytes;
  if (fits && *element == Element::f32) return Type::f32;
  if (fits && *element == Element::f64) return Type::f64;
  const bool is_whole = fits && !is_floating(*element);
  switch (bytes) {
    case 1:
      return is_whole ? Type::u8 : Type::b8;
    case 2:
      return is_whole ? Type::u16 : Type::b16;
    case 4:
      return is_whole ? Type::u32 : Type::b32;
    case 8:
      return is_whole ? Type::u64 : Type::b64;
    default:
      return Type::b8;
  }
}

model::ptx::Function function_of(const model::sass::KernelDeclaration& kernel,
                                 std::string_view name) {
  model::ptx::Function function;
  function.name = name;
  function.is_entry = true;
  if (kernel.max_threads) function.max_threads = static_cast<std::uint32_t>(*kernel.max_threads);
  const auto types = parameter_types(name);
  const bool has_types = types && types->size() == kernel.parameter_bytes.size();
  for (std::size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    model::ptx::Variable parameter;
    parameter.space = model::ptx::Space::param;
    parameter.bytes = kernel.parameter_bytes[i];
    parameter.type = type_of(has_types ? (*types)[i] : "", kernel.parameter_bytes[i]);
    parameter.alignment = 1;
    function.parameters.push_back(parameter);
  }
  return function;
}

model::ptx::Variable variable_of(const model::sass::VariableDeclaration& declared,
                                 std::string_view name) {
  constexpr std::uint64_t most_alignment = 16;
  model::ptx::Variable variable;
  variable.space = declared.is_constant ? model::ptx::Space::constant : model::ptx::Space::global;
  variable.name = name;
  variable.type = Type::b8;
  variable.bytes = declared.bytes;
  // A variable's alignment is at most the power of two in its length.
  variable.alignment = static_cast<std::uint32_t>(
      std::uint64_t{1} << std::countr_zero(declared.bytes | most_alignment));
  return variable;
}

std::unique_ptr<model::ptx::Module> module_of(const model::sass::Declarations& declared, int arch) {
  auto module = std::make_unique<model::ptx::Module>();
  const auto kept = [&](std::string_view name) -> std::string_view {
    return module->unique_names.emplace_back(name);
  };
  module->target = arch;
  module->target_name = kept(declared.target);
  for (const auto& kernel : declared.kernels) {
    module->functions.push_back(function_of(kernel, kept(kernel.name)));
  }
  for (const auto& variable : declared.variables) {
    module->variables.push_back(variable_of(variable, kept(variable.name)));
  }
  return module;
}

model::sass::Elf elf_of(const std::string& path, const std::vector<std::byte>& bytes) {
  auto read = model::sass::Elf::read(bytes);
  if (const auto* wrong = std::get_if<std::string>(&read)) {
    throw Error(ExitCode::file, fmt::format("{} {}", path, *wrong));
  }
  return std::move(std::get<model::sass::Elf>(read));
}

/// 100 of "sm_100a".
int arch_in(std::string_view target) {
  int arch = 0;
  target.remove_prefix(std::min<std::size_t>(target.size(), 3));
  std::from_chars(target.data(), target.data() + target.size(), arch);
  return arch;
}

}  // namespace

bool is_machine_code(std::string_view path) { return path.ends_with(".cubin"); }

MachineCode read_machine_code(const std::string& path) {
  MachineCode code;
  code.file.path = code.file.cubin_path = path;
  code.file.cubin = model::read_whole_file(path);
  const model::sass::Elf elf = elf_of(path, code.file.cubin);
  code.declared = model::sass::declarations_of(elf);
  for (const auto& kernel : code.declared.kernels) {
    if (kernel.wrong.empty()) continue;
    throw Error(ExitCode::file,
                fmt::format("{} {}; make it again with ptxas or nvcc -cubin", path, kernel.wrong));
  }
  code.file.module = module_of(code.declared, elf.arch());
  if (elf.is_relocatable()) {
    code.file.remarks.push_back(fmt::format(
        "{0} is relocatable (nvcc -dc, -rdc=true); where the driver does not load it, link it "
        "first: nvlink -arch={1} {0} -o linked.cubin",
        path, code.declared.target));
  }
  return code;
}

void check_is_machine_code(const std::string& path, const std::vector<std::byte>& bytes) {
  elf_of(path, bytes);
}

std::string target_of(const std::string& path) {
  const std::vector<std::byte> bytes = model::read_whole_file(path);
  return model::sass::declarations_of(elf_of(path, bytes)).target;
}

std::string why_not_on(int compute_capability, const std::string& path, const std::string& target) {
  const int arch = arch_in(target);
  const bool is_of_one_chip = target.ends_with('a');
  const bool runs = is_of_one_chip ? arch == compute_capability
                                   : kernels::runs_machine_code_of(arch, compute_capability);
  if (runs) return "";
  const std::string where = is_of_one_chip
                                ? fmt::format("on {}.{} alone", arch / 10, arch % 10)
                                : fmt::format("on {0}.x from {0}.{1} on", arch / 10, arch % 10);
  return fmt::format(
      "{} is for {} and this device is an sm_{}: machine code of {} runs {}; compile it for this "
      "device (nvcc -cubin -arch=sm_{}), or give the .ptx or the .cu that it was made of",
      path, target, compute_capability, target, where, compute_capability);
}

std::string without_ptx(std::string_view path) {
  return fmt::format(
      "{} is machine code alone, and the model executes PTX: give the .ptx or the .cu that it was "
      "made of",
      path);
}

}  // namespace warpmeter::family
