// SPDX-License-Identifier: MIT
#include "collector/family/cpu_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/nearest.h"
#include "base/with_noun.h"
#include "collector/family/configurations.h"
#include "kernels/references.h"

namespace warpmeter::family {
namespace {

constexpr std::string_view prefix = "cpu:";

struct Call {
  const kernels::Reference* reference = nullptr;
  std::vector<Text> words;  ///< the arguments
};

std::string form_of(const kernels::Reference& reference) {
  return fmt::format("{}{}({})", prefix, reference.name, reference.parameters);
}

/// The arguments between the outermost parentheses, at the commas that are in no others.
std::vector<Text> split(const Text& call, std::size_t begin, std::size_t end) {
  std::vector<Text> words;
  int depth = 0;
  for (std::size_t at = begin, first = begin; at <= end; ++at) {
    const char c = at == end ? ',' : call.text[at];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != ',' || (depth > 0 && at < end)) continue;
    while (first < at && call.text[first] == ' ') ++first;
    std::string word = call.text.substr(first, at - first);
    word.erase(word.find_last_not_of(' ') + 1);
    words.push_back({std::move(word), call.line, call.column + static_cast<int>(first)});
    first = at + 1;
  }
  if (words.size() == 1 && words.front().empty()) words.clear();
  return words;
}

Call parsed(const FamilySpec& spec, const Text& text) {
  const std::size_t open = text.text.find('(');
  const std::string name =
      text.text.substr(prefix.size(), std::min(open, text.text.size()) - prefix.size());
  Call call{kernels::find_reference(name), {}};
  if (call.reference == nullptr) {
    std::vector<std::string> names;
    for (const kernels::Reference& each : kernels::references()) names.emplace_back(each.name);
    refuse(spec, text,
           fmt::format("the CPU computes no '{}'; known are {}{}", name, fmt::join(names, ", "),
                       did_you_mean(name, names)));
  }
  const bool is_closed = open != std::string::npos && text.text.back() == ')';
  if (is_closed) call.words = split(text, open + 1, text.text.size() - 1);
  if (!is_closed || call.words.size() != call.reference->buffers + call.reference->numbers) {
    refuse(spec, text, fmt::format("'{}' is not {}", text.text, form_of(*call.reference)));
  }
  return call;
}

std::size_t index_of(const FamilySpec& spec, const Text& word, const std::vector<Extent>& buffers) {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const Extent& each) { return each.name == word.text; });
  if (found != buffers.end()) return static_cast<std::size_t>(found - buffers.begin());
  std::vector<std::string> names;
  for (const Extent& buffer : buffers) names.push_back(buffer.name);
  refuse(spec, word,
         fmt::format("there is no buffer '{}' to compute with{}", word.text,
                     did_you_mean(word.text, names)));
}

/// The arguments but for the buffers' contents; adds the buffers' places to `used`.
kernels::ReferenceArguments arguments_of(const FamilySpec& spec, const Text& text, const Call& call,
                                         const Symbols& symbols, const std::vector<Extent>& buffers,
                                         const Extent& result, std::vector<std::size_t>& used) {
  kernels::ReferenceArguments arguments{result.element, {}, {}, result.count};
  if (!call.reference->takes(result.element)) {
    refuse(spec, text,
           fmt::format("{}{} computes with i32, u32, f32 and f64, and '{}' is {}", prefix,
                       call.reference->name, result.name, to_string(result.element)));
  }
  for (std::size_t i = 0; i < call.words.size(); ++i) {
    const Text& word = call.words[i];
    if (i < call.reference->buffers) {
      used.push_back(index_of(spec, word, buffers));
    } else {
      arguments.numbers.push_back(
          whole(spec, word, symbols, 1, std::numeric_limits<std::int32_t>::max()));
    }
  }
  const std::vector<std::uint64_t> sizes = call.reference->sizes(arguments);
  const auto check = [&](const Extent& buffer, std::uint64_t count) {
    if (buffer.element == result.element && buffer.count == count) return;
    refuse(spec, text,
           fmt::format("'{}' needs {} of {} in '{}', which has {} of {}", text.text,
                       with_noun(count, "element"), to_string(result.element), buffer.name,
                       buffer.count, to_string(buffer.element)));
  };
  check(result, sizes.front());
  for (std::size_t i = 0; i < used.size(); ++i) check(buffers[used[i]], sizes[i + 1]);
  return arguments;
}

}  // namespace

bool is_cpu_call(std::string_view text) { return text.starts_with(prefix); }

void check_cpu_call(const FamilySpec& spec, const Text& call, const Symbols& symbols,
                    const std::vector<Extent>& buffers, const Extent& result) {
  std::vector<std::size_t> used;
  arguments_of(spec, call, parsed(spec, call), symbols, buffers, result, used);
}

std::vector<std::byte> call_cpu(const FamilySpec& spec, const Text& call, const Symbols& symbols,
                                const kernels::Problem& problem, std::size_t result) {
  std::vector<Extent> buffers;
  for (const kernels::Buffer& buffer : problem.buffers) {
    buffers.push_back({buffer.name, buffer.type, buffer.initial.size() / bytes_of(buffer.type)});
  }
  std::vector<std::size_t> used;
  const Call named = parsed(spec, call);
  kernels::ReferenceArguments arguments =
      arguments_of(spec, call, named, symbols, buffers, buffers[result], used);
  for (const std::size_t i : used) arguments.buffers.push_back(problem.buffers[i].initial.data());
  std::vector<std::byte> values(problem.buffers[result].initial.size());
  named.reference->compute(arguments, values.data());
  return values;
}

}  // namespace warpmeter::family
