// SPDX-License-Identifier: MIT
#include "collector/family/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/host_memory.h"
#include "base/nearest.h"
#include "base/with_noun.h"
#include "collector/family/cpu_call.h"
#include "collector/model/input/npy.h"
#include "collector/model/input/parameter_types.h"
#include "collector/model/input/variables.h"

namespace warpmeter::family {
namespace {

using model::Argument;

/// A buffer without a name is called by its place among the arguments.
std::string name_of(const Argument& argument, std::size_t index) {
  return argument.name.empty() ? fmt::format("argument {}", index + 1) : argument.name;
}

}  // namespace

std::size_t buffer_named(const kernels::Problem& problem, const std::string& name) {
  const auto found = std::find_if(problem.buffers.begin(), problem.buffers.end(),
                                  [&](const kernels::Buffer& b) { return b.name == name; });
  return static_cast<std::size_t>(found - problem.buffers.begin());
}

std::vector<Argument> arguments_at(const FamilySpec& spec, const std::vector<Text>& texts,
                                   const Symbols& symbols) {
  std::vector<Argument> arguments;
  std::vector<std::string> buffers;
  for (const Text& text : texts) {
    try {
      arguments.push_back(model::parse_argument(text.text, symbols));
    } catch (const Error& error) {
      refuse(spec, text, error.what());
    }
    const Argument& argument = arguments.back();
    const bool is_known = std::find(buffers.begin(), buffers.end(), argument.name) != buffers.end();
    if (argument.kind == Argument::Kind::reference && !is_known) {
      refuse(spec, text,
             fmt::format("'{}' names no buffer of an earlier argument{}", text.text,
                         did_you_mean(argument.name, buffers)));
    }
    if (argument.kind != Argument::Kind::buffer || argument.name.empty()) continue;
    if (is_known) {
      refuse(spec, text,
             fmt::format("a second buffer is called '{}'; @{} is the first once more",
                         argument.name, argument.name));
    }
    buffers.push_back(argument.name);
  }
  return arguments;
}

std::uint64_t bytes_of(const FamilySpec& spec, const std::vector<Text>& texts,
                       const std::vector<Argument>& arguments, std::uint64_t available) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != Argument::Kind::buffer) continue;
    const std::uint64_t own = model::buffer_bytes(arguments[i]);
    if (own > available || (bytes += own) > available) {
      refuse(
          spec, texts[i],
          fmt::format("'{}' does not fit into this machine's memory beside the other buffers ({} "
                      "bytes are free); choose a smaller one, or a smaller size",
                      texts[i].text, available));
    }
  }
  return bytes;
}

kernels::Problem outline_of(const std::vector<Argument>& arguments) {
  kernels::Problem problem;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    switch (argument.kind) {
      case Argument::Kind::scalar:
        problem.arguments.emplace_back(kernels::ScalarArgument{argument.bytes});
        break;
      case Argument::Kind::reference:
        problem.arguments.emplace_back(
            kernels::BufferArgument{buffer_named(problem, argument.name)});
        break;
      case Argument::Kind::buffer:
        problem.arguments.emplace_back(kernels::BufferArgument{problem.buffers.size()});
        problem.buffers.push_back({name_of(argument, i), argument.element, {}});
        break;
    }
  }
  return problem;
}

kernels::Problem problem_of(const FamilySpec& spec, const std::vector<Text>& texts,
                            const std::vector<Argument>& arguments) {
  kernels::Problem problem = outline_of(arguments);
  std::size_t next = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.kind != Argument::Kind::buffer) continue;
    problem.buffers[next].is_set = argument.is_set();
    std::vector<std::byte>& contents = problem.buffers[next++].initial;
    contents =
        checked(spec, texts[i], [&] { return model::contents_of(argument, available_memory()); });
    if (!argument.is_set()) std::fill(contents.begin(), contents.end(), std::byte{0xff});
  }
  return problem;
}

void check_files(const FamilySpec& spec, const std::vector<Text>& texts,
                 const std::vector<Argument>& arguments, const Results& results,
                 const Symbols& symbols, const std::string& at) {
  std::vector<Extent> buffers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.kind != Argument::Kind::buffer) continue;
    const std::uint64_t held = checked(spec, texts[i], [&] {
      return model::elements_in_file(argument.fill, argument.element, argument.count,
                                     argument.text);
    });
    buffers.push_back({name_of(argument, i), argument.element, std::max(held, argument.count)});
  }
  for (const auto& result : results) {
    const std::string& buffer = result.first;
    const Text& file = result.second;
    const Extent& extent = *std::find_if(buffers.begin(), buffers.end(),
                                         [&](const Extent& each) { return each.name == buffer; });
    if (is_cpu_call(file.text)) {
      check_cpu_call(spec, file, symbols, buffers, extent);
      continue;
    }
    const Element element = extent.element;
    const std::uint64_t count = extent.count;
    const model::NpyHeader npy =
        checked(spec, file, [&] { return model::read_npy_header(file.text, element); });
    if (npy.element != element) {
      refuse(spec, file,
             fmt::format("{} holds {}, but '{}' is {}", file.text, to_string(npy.element), buffer,
                         to_string(element)));
    }
    if (npy.count != count) {
      refuse(spec, file,
             fmt::format("{} holds {}, and '{}' has {}{}: write it again{}", file.text,
                         with_noun(npy.count, "element"), buffer, count, at,
                         at.empty() ? "" : ", or run the size that it is of (-n)"));
    }
  }
}

void check_outputs(const FamilySpec& spec, const std::vector<Text>& outputs, const Results& results,
                   const kernels::Problem& problem) {
  const auto check = [&](const Text& at, const std::string& buffer) {
    if (buffer_named(problem, buffer) < problem.buffers.size()) return;
    std::vector<std::string> names;
    for (const kernels::Buffer& known : problem.buffers) names.push_back(known.name);
    refuse(
        spec, at,
        fmt::format("there is no buffer '{}' to compare{}", buffer, did_you_mean(buffer, names)));
  };
  for (const Text& output : outputs) check(output, output.text);
  for (const auto& [buffer, result] : results) check(result, buffer);
}

void check_library_arguments(const FamilySpec& spec, const VariantSpec& variant,
                             const std::vector<Argument>& arguments) {
  bool fits = arguments.size() == 6;
  for (std::size_t i = 0; fits && i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    fits = i < 3 ? argument.kind != Argument::Kind::scalar && argument.element == Element::f32
                 : argument.kind == Argument::Kind::scalar && argument.type == "i32";
  }
  if (fits) return;
  refuse(spec, variant.name,
         fmt::format("{} multiplies by {}, whose arguments are c, a, b (buffers of f32) and m, k, "
                     "n (i32), in this order",
                     variant.name.text, variant.library));
}

void add_settings(const FamilySpec& spec, const std::vector<Text>& settings, const Unit& unit,
                  kernels::Problem& problem) {
  for (const Text& text : settings) {
    checked(spec, text, [&] {
      const model::VariableSetting setting = model::parse_setting(unit.file, text.text);
      kernels::Setting result{std::string(setting.variable->name), std::nullopt, setting.bytes};
      if (!setting.buffer.empty()) {
        result.buffer = buffer_named(problem, setting.buffer);
        if (*result.buffer == problem.buffers.size()) {
          throw Error(ExitCode::usage, fmt::format("'{}' names no buffer", text.text));
        }
      }
      problem.settings.push_back(std::move(result));
    });
  }
}

void check_arguments(const FamilySpec& spec, const Configuration& configuration,
                     const Kernel& kernel, const std::vector<Text>& texts,
                     const std::vector<Argument>& arguments) {
  try {
    model::check_signature(kernel.parameters, configuration.kernel, arguments, kernel.declaration);
  } catch (const Error& error) {
    const Text& kernel_text = configuration.variant->kernel;
    refuse(spec, kernel_text.line == 0 ? configuration.variant->name : kernel_text, error.what());
  }
  for (std::size_t i = 0; i < kernel.types.size(); ++i) {
    const std::string why = model::wrong_elements(arguments[i], kernel.types[i]);
    if (why.empty()) continue;
    refuse(spec, texts[i],
           fmt::format("parameter {} of {} is {}, and '{}' does not fit: {}", i + 1,
                       kernel.declaration, kernel.types[i], texts[i].text, why));
  }
}

}  // namespace warpmeter::family
