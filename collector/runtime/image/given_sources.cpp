// SPDX-License-Identifier: MIT
#include "collector/runtime/image/given_sources.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include "collector/model/input/kernel_file.h"

namespace warpmeter::runtime {
namespace {

constexpr std::string_view begin_of_source = "\n// warpmeter: the source ";
constexpr std::string_view begin_of_line = "\n//|";

struct GivenTexts {
  std::mutex mutex;
  std::map<std::string, std::string> of_name;
};

GivenTexts& given_texts() {
  static auto* all = new GivenTexts;  // as long as the process
  return *all;
}

}  // namespace

void remember_source(const std::string& name, const std::string& text) {
  GivenTexts& all = given_texts();
  const std::lock_guard lock(all.mutex);
  all.of_name.insert_or_assign(model::relative_path(name), text);
}

std::optional<std::string> given_source(const std::string& file) {
  GivenTexts& all = given_texts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_name.find(file);
  return found == all.of_name.end() ? std::nullopt : std::optional(found->second);
}

std::string with_source(std::string ptx, const std::string& name, const std::string& text) {
  if (ptx.empty() || name.empty()) return ptx;
  ptx += begin_of_source;
  ptx += name;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ptx += begin_of_line;
    ptx += text.substr(begin, end - begin);
    begin = end + 1;
  }
  return ptx + "\n";
}

std::string without_source(std::string ptx) {
  const std::size_t at = ptx.rfind(begin_of_source);
  if (at == std::string::npos) return ptx;
  std::string_view rest = std::string_view(ptx).substr(at + begin_of_source.size());
  const std::string name(rest.substr(0, rest.find('\n')));
  std::string text;
  rest.remove_prefix(std::min(name.size(), rest.size()));
  while (rest.starts_with(begin_of_line)) {
    rest.remove_prefix(begin_of_line.size());
    const std::string_view line = rest.substr(0, rest.find('\n'));
    text += line;
    text += '\n';
    rest.remove_prefix(line.size());
  }
  if (!text.empty()) text.pop_back();
  remember_source(name, text);
  ptx.resize(at + 1);
  return ptx;
}

}  // namespace warpmeter::runtime
