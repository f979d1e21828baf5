// SPDX-License-Identifier: MIT
#include "collector/model/input/unset_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "base/named_files.h"
#include "base/words.h"
#include "collector/model/input/toolkit.h"
#include "collector/model/input/variables.h"
#include "collector/model/ptx/memory/variable_uses.h"

namespace warpmeter::model {
namespace {

/// The word `name` from `from` on, not as a part of a longer one.
std::size_t find_word(std::string_view text, std::string_view name, std::size_t from) {
  for (std::size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// True if the source gives the variable a value where it declares it: compilers leave a zero out
/// of the PTX.
bool is_initialised(std::string_view source, std::string_view name) {
  for (std::size_t at = find_word(source, name, 0); at != std::string_view::npos;
       at = find_word(source, name, at + 1)) {
    std::size_t after = at + name.size();
    while (after < source.size() &&
           (std::isspace(static_cast<unsigned char>(source[after])) != 0 || source[after] == '[')) {
      after = source[after] == '[' ? source.find(']', after) : after;
      if (after == std::string_view::npos) return false;
      ++after;
    }
    if (after >= source.size() || (source[after] != '=' && source[after] != '{')) continue;
    if (source.substr(after).starts_with("==")) continue;
    const std::size_t before = source.find_last_of(";{}#", at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view statement = source.substr(begin, after - begin);
    // In open parentheses it is a parameter.
    if (std::count(statement.begin(), statement.end(), '(') !=
        std::count(statement.begin(), statement.end(), ')')) {
      continue;
    }
    for (const char* word : {"__device__", "__constant__", "__managed__"}) {
      if (statement.find(word) != std::string_view::npos) return true;
    }
  }
  return false;
}

/// "lut" of "ns::lut<float>"
std::string_view plain_name(std::string_view readable) {
  readable = readable.substr(0, readable.find('<'));
  const std::size_t colons = readable.rfind("::");
  return colons == std::string_view::npos ? readable : readable.substr(colons + 2);
}

bool is_initialised(const KernelFile& file, const ptx::Variable& variable) {
  if (!variable.initial.empty() || !variable.relocations.empty()) return true;
  const std::string readable = variable_name(variable.name);
  const std::string_view name = plain_name(readable);
  std::vector<std::string> sources = file.module->files;
  if (!file.path.ends_with(".ptx")) sources.push_back(file.path);
  const NamedFiles allowed = allowed_sources(file.path, file.folders);
  return std::any_of(sources.begin(), sources.end(), [&](const std::string& path) {
    return is_initialised(allowed.text(path), name);
  });
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    list += fmt::format("'{}'", names[i]);
  }
  return list;
}

}  // namespace

std::string unset_variables(const KernelFile& file, std::string_view entry,
                            std::set<const ptx::Variable*>& set) {
  const ptx::Function* function = file.module->find(entry);
  if (function == nullptr) return "";
  std::vector<std::string> read, perhaps, before;
  std::string example;
  const auto uses = ptx::variable_uses(*file.module, *function);
  for (const ptx::Variable& variable : file.module->variables) {
    const auto found = uses.find(&variable);
    if (found == uses.end() || !is_settable(variable)) continue;
    const ptx::VariableUse& use = found->second;
    const bool is_told =
        (use.reads || use.escapes) && !set.contains(&variable) && !is_initialised(file, variable);
    if (use.writes || use.escapes || is_told) set.insert(&variable);
    if (!is_told) continue;
    const std::string name = variable_name(variable.name);
    (use.writes ? before : use.reads ? read : perhaps).push_back(name);
    if (example.empty()) {
      example = fmt::format("--set {}={}", name, is_typed(variable) ? "VALUE" : "FILE.npy");
    }
  }
  std::string sentence;
  const auto tell = [&](const std::vector<std::string>& names, const char* one, const char* many) {
    if (names.empty()) return;
    sentence += fmt::format("{}{} {}", sentence.empty() ? "" : "; ", quoted_list(names),
                            names.size() == 1 ? one : many);
  };
  tell(read, "is read and nobody has set it: it is all zero",
       "are read and nobody has set them: they are all zero");
  tell(perhaps, "may be read and nobody has set it: it is all zero",
       "may be read and nobody has set them: they are all zero");
  tell(before, "is read and written, and nobody has set it: it starts as zero",
       "are read and written, and nobody has set them: they start as zero");
  return sentence.empty() ? "" : fmt::format("{}; {}", sentence, example);
}

}  // namespace warpmeter::model
