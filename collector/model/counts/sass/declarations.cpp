// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "collector/model/counts/sass/info.h"

namespace warpmeter::model::sass {
namespace {

/// More than any architecture lets a kernel take.
constexpr std::uint32_t most_parameter_bytes = 1 << 16;

/// The system's part of a block's shared memory on Hopper and later; it is counted in with a
/// kernel's own.
constexpr std::uint64_t reserved_shared_bytes = 1024;

using Sections = std::unordered_map<std::string_view, const Section*>;

/// Architectures of one chip and of one family have a letter, which is only in the note of the
/// tool's command line: "-arch sm_90a".
std::string target_of(const Elf& elf, const Sections& sections) {
  std::string target = fmt::format("sm_{}", elf.arch());
  const auto note = sections.find(".note.nv.tkinfo");
  if (note == sections.end()) return target;
  const Bytes bytes = note->second->contents;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(target);
  if (at == std::string_view::npos) return target;
  const char letter = at + target.size() < text.size() ? text[at + target.size()] : ' ';
  if (letter == 'a' || letter == 'f') target += letter;
  return target;
}

/// A parameter's entry: a word, its number, its offset, and a word with its size.
void read_parameter(std::uint8_t about, Bytes values,
                    std::map<std::uint16_t, std::uint32_t>& found) {
  const auto number = number_at<std::uint16_t>(values, 4);
  const auto word = number_at<std::uint32_t>(values, 8);
  if (!number || !word) return;
  found[*number] = about == parameter_info ? *word >> 18 : *word & 0xffff;
}

/// Three extents of a block.
std::optional<std::uint64_t> threads_in(Bytes values) {
  std::uint64_t threads = 1;
  for (const std::uint64_t at : {0, 4, 8}) {
    const auto extent = number_at<std::uint32_t>(values, at);
    if (!extent || *extent == 0 || *extent > 1024) return std::nullopt;
    threads *= *extent;
  }
  return threads;
}

KernelDeclaration kernel_of(const Symbol& symbol, const Sections& sections, bool is_linked) {
  KernelDeclaration kernel;
  kernel.name = symbol.name;
  const auto section = [&](std::string_view prefix) -> const Section* {
    const auto found = sections.find(fmt::format("{}{}", prefix, symbol.name));
    return found == sections.end() ? nullptr : found->second;
  };
  if (const Section* shared = section(".nv.shared."); shared != nullptr) {
    const bool has_reserved = sections.contains(".nv.shared.reserved.0");
    kernel.static_shared_bytes =
        shared->bytes - (has_reserved ? std::min(shared->bytes, reserved_shared_bytes) : 0);
  } else if (is_linked) {
    kernel.static_shared_bytes = 0;
  }
  const Section* info = section(".nv.info.");
  if (info == nullptr) {
    kernel.wrong = fmt::format("does not say what parameters {} takes", symbol.name);
    return kernel;
  }
  std::map<std::uint16_t, std::uint32_t> parameters;
  for_each_entry(info->contents, [&](std::uint8_t about, Bytes values) {
    if (about == parameter_info || about == parameter_info_wide) {
      read_parameter(about, values, parameters);
    } else if (about == max_threads || about == required_threads) {
      kernel.max_threads = threads_in(values);
    }
  });
  std::uint64_t sum = 0;
  for (const auto& [number, bytes] : parameters) {
    sum += bytes;
    if (number != kernel.parameter_bytes.size() || bytes == 0 || sum > most_parameter_bytes) {
      kernel.wrong = fmt::format("is damaged: parameters of {} are missing in it", symbol.name);
    }
    kernel.parameter_bytes.push_back(bytes);
  }
  return kernel;
}

}  // namespace

Declarations declarations_of(const Elf& elf) {
  Sections sections;
  for (const Section& section : elf.sections()) sections.emplace(section.name, &section);
  Declarations all;
  all.target = target_of(elf, sections);
  const std::vector<Symbol> symbols = elf.symbols();
  std::unordered_map<std::uint64_t, std::size_t> kernel_of_symbol;
  std::unordered_set<std::string_view> known;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = symbols[i];
    if (symbol.name.empty() || symbol.section == 0) continue;
    const std::string_view section = elf.sections()[symbol.section].name;
    if (symbol.is_kernel) {
      if (!known.insert(symbol.name).second) continue;  // in a damaged file, thousands may be alike
      kernel_of_symbol[i] = all.kernels.size();
      all.kernels.push_back(kernel_of(symbol, sections, !elf.is_relocatable()));
    } else if (!symbol.is_function && section.starts_with(".nv.constant3")) {
      all.variables.push_back({symbol.name, symbol.bytes, true});
    } else if (!symbol.is_function && section.starts_with(".nv.global")) {
      all.variables.push_back({symbol.name, symbol.bytes, false});
    }
  }
  const auto info = sections.find(".nv.info");
  if (info == sections.end()) return all;
  for_each_entry(info->second->contents, [&](std::uint8_t about, Bytes values) {
    const auto symbol = number_at<std::uint32_t>(values, 0);
    const auto value = number_at<std::uint32_t>(values, 4);
    const auto kernel = value ? kernel_of_symbol.find(*symbol) : kernel_of_symbol.end();
    if (kernel == kernel_of_symbol.end()) return;
    Resources& resources = all.kernels[kernel->second].resources;
    if (about == register_count) resources.registers = *value;
    if (about == least_stack) resources.local_bytes = *value;
  });
  return all;
}

}  // namespace warpmeter::model::sass
