// SPDX-License-Identifier: MIT
// A .cu is read as text: what nobody has instantiated is in no compiled module, and parameters have
// no names there.
#include "collector/family/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "base/comments.h"
#include "base/error.h"
#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "base/words.h"
#include "collector/family/example.h"
#include "collector/family/machine_code.h"
#include "collector/model/input/arguments.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/npy.h"
#include "collector/model/machine/decode/decode.h"

namespace warpmeter::family {
namespace {

std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space) result += c;
    if (is_space && !result.empty() && result.back() != ' ' && result.back() != '(') result += ' ';
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

/// Where the bracket at `open` is closed; npos: nowhere.
std::size_t closing(std::string_view text, std::size_t open, char opens, char closes) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// "template <int TILE, int PAD>" that ends before `at`; "": none.
std::string template_before(std::string_view text, std::size_t at) {
  constexpr std::size_t farthest = 8192;  // no parameters are longer; a file may have no template
  const std::size_t begin = at > farthest ? at - farthest : 0;
  const std::size_t before = text.substr(begin, at - begin).rfind("template");
  if (before == std::string_view::npos) return "";
  const std::size_t word = begin + before;
  const std::size_t open = text.find('<', word);
  if (open == std::string_view::npos || open > at) return "";
  const std::size_t close = closing(text, open, '<', '>');
  if (close == std::string_view::npos || close > at) return "";
  // Between it and the kernel stands nothing that ends a declaration.
  if (text.substr(close, at - close).find_first_of(";}") != std::string_view::npos) return "";
  return one_line(text.substr(word, close + 1 - word));
}

/// The body behind `at`.
std::string_view body_behind(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('{', at);
  if (open == std::string_view::npos) return "";
  const std::size_t close = closing(text, open, '{', '}');
  return text.substr(open, close == text.npos ? close : close - open);
}

/// That the body asks for, itself.
int dimensions_of(std::string_view body) {
  const auto asks = [&](std::string_view axis) {
    for (const std::string_view index : {"blockIdx.", "threadIdx."}) {
      if (body.find(std::string(index).append(axis)) != std::string_view::npos) return true;
    }
    return false;
  };
  return asks("z") ? 3 : asks("y") ? 2 : 1;
}

/// True if the body may read what the pointer points to: it does more than assign its elements.
bool may_read(std::string_view body, std::string_view name) {
  bool reads = false;
  for_each_word(body, [&](std::size_t begin, std::string_view word) {
    if (word != name) return;
    const auto next = [&](std::size_t at) { return body.find_first_not_of(" \t\n", at); };
    std::size_t at = next(begin + word.size());
    if (at == body.npos || body[at] != '[') {
      reads = true;
      return;
    }
    const std::size_t close = closing(body, at, '[', ']');
    at = close == body.npos ? close : next(close + 1);
    const bool is_assigned = at != body.npos && body[at] == '=' && body.substr(at, 2) != "==";
    reads = reads || !is_assigned;
  });
  return reads;
}

/// "32", or of a name the number that the source gives it: "#define TILE 32", "TILE = 32".
std::uint32_t extent_of(const std::string& source, const std::string& word) {
  const auto number_at = [](std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t=({");
    std::uint32_t number = 0;
    if (begin != text.npos) std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return number;
  };
  if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return number_at(word);
  std::uint32_t found = 0;
  for_each_word(source, [&](std::size_t begin, std::string_view other) {
    if (found == 0 && other == word) {
      found = number_at(std::string_view(source).substr(begin + other.size(), 16));
    }
  });
  return found;
}

/// The extents of the first array in shared memory; none where one is not known.
std::vector<std::uint32_t> shared_extents(const std::string& source, std::string_view body) {
  const std::size_t at = body.find("__shared__");
  if (at == body.npos) return {};
  const std::string_view declared = body.substr(at, body.find_first_of(";,", at) - at);
  std::vector<std::uint32_t> extents;
  for (std::size_t open = declared.find('['); open != declared.npos;
       open = declared.find('[', open + 1)) {
    const std::vector<std::string> words =
        words_of(declared.substr(open, declared.find(']', open) - open));
    if (words.empty()) return {};
    extents.push_back(extent_of(source, words.front()));
  }
  return extents;
}

/// 16 of "blockIdx.x * 16 + threadIdx.x"; 0: the source does not say so.
std::uint32_t factor_of_block(const std::string& source, std::string_view body) {
  constexpr std::string_view index = "blockIdx.x";
  for (std::size_t at = body.find(index); at != body.npos; at = body.find(index, at + 1)) {
    const std::size_t times = body.find_first_not_of(" \t\n", at + index.size());
    if (times == body.npos || body[times] != '*') continue;
    const std::vector<std::string> words = words_of(body.substr(times, 64));
    if (!words.empty() && words[0] != "blockDim") return extent_of(source, words[0]);
  }
  return 0;
}

/// The extent of a block that the body takes for granted: by an array in shared memory with one
/// element a thread ("tile[16][17]"), or by how it finds its place; 0: none.
std::uint32_t tile_of(const std::string& source, std::string_view body, int dimensions) {
  const std::vector<std::uint32_t> extents = shared_extents(source, body);
  const bool has_array = extents.size() == static_cast<std::size_t>(dimensions);
  const std::uint32_t extent = has_array ? extents.front() : factor_of_block(source, body);
  const std::uint32_t threads = dimensions == 2 ? extent * extent : extent;
  const bool fits = extent <= 1024 && threads >= 32 && threads <= 1024;
  return dimensions <= 2 && extent % 4 == 0 && fits ? extent : 0;
}

/// Finds the blocks to start from in the body.
void find_start(const std::string& source, std::string_view body, std::uint32_t most_threads,
                Found& found) {
  found.dimensions = dimensions_of(body);
  found.block = std::min(found.block, most_threads);
  found.tile = tile_of(source, body, found.dimensions);
  const std::uint32_t threads = found.dimensions == 2 ? found.tile * found.tile : found.tile;
  if (threads > most_threads) found.tile = 0;
  found.has_dynamic_shared = body.find("extern __shared__") != body.npos;
}

std::vector<Found> in_source(const std::string& source) {
  const std::string text = without_commands(source);
  std::vector<Found> all;
  constexpr std::string_view mark = "__global__";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    std::size_t open = text.find('(', at);
    std::uint32_t most_threads = 1024;
    // __launch_bounds__(256) has parentheses of its own.
    while (open != std::string::npos) {
      const std::vector<std::string> before =
          words_of(std::string_view(text).substr(at, open - at));
      if (before.empty() || before.back().find("launch_bounds") == std::string::npos) break;
      const std::size_t close = closing(text, open, '(', ')');
      const std::vector<std::string> bounds = words_of(std::string_view(text).substr(open, 32));
      const std::uint32_t bound = bounds.empty() ? 0 : extent_of(source, bounds.front());
      if (bound > 0) most_threads = std::min(most_threads, bound);
      open = close == std::string::npos ? close : text.find('(', close);
    }
    if (open == std::string::npos) continue;
    const std::size_t close = closing(text, open, '(', ')');
    if (close == std::string::npos) continue;
    const std::vector<std::string> before = words_of(std::string_view(text).substr(at, open - at));
    if (before.size() < 2) continue;
    const std::size_t after = text.find_first_not_of(" \t\n", close + 1);
    if (after != std::string::npos && text[after] == ';') continue;  // defined elsewhere
    Found found;
    const std::string& name = before.back();
    const std::string parameters = one_line(text.substr(open + 1, close - open - 1));
    const std::string templated = template_before(text, at);
    found.signature = fmt::format("{}{}void {}({})", templated, templated.empty() ? "" : " ", name,
                                  fmt::join(split_list(parameters), ", "));
    found.kernel = name;
    const std::string_view body = body_behind(text, close);
    find_start(source, body, most_threads, found);
    if (!templated.empty()) found.tile = 0;
    if (!templated.empty()) {
      found.is_template = true;
      std::vector<std::string> names;
      for (const std::string& parameter : split_list(std::string_view(templated).substr(
               templated.find('<') + 1, templated.size() - templated.find('<') - 2))) {
        const auto words = words_of(parameter.substr(0, parameter.find('=')));
        if (!words.empty()) names.push_back(words.back());
      }
      found.kernel += fmt::format("<{}>", fmt::join(names, ", "));
    }
    for (const std::string& parameter : split_list(parameters)) {
      if (parameter == "void") continue;
      found.parameters.push_back(parameter);
      const std::vector<std::string> words = words_of(parameter);
      found.arguments.push_back(
          example_of_declaration(parameter, side_to_start_from(found.dimensions),
                                 !words.empty() && may_read(body, words.back())));
    }
    all.push_back(std::move(found));
  }
  return all;
}

/// How many entries have each name: -k takes those that are several with their parameters.
std::map<std::string, int> names_in(const model::ptx::Module& module) {
  std::map<std::string, int> names;
  for (const model::ptx::Function& function : module.functions) {
    if (function.is_entry && !function.is_declaration) ++names[readable_name(function.name)];
  }
  return names;
}

int dimensions_of(const model::ptx::Function& kernel) {
  using model::ptx::Special;
  int most = 1;
  for (const model::ptx::Instruction& instruction : kernel.body) {
    for (const model::ptx::Operand& operand : instruction.operands) {
      const Special asked = operand.special;
      if (asked == Special::tid_y || asked == Special::ctaid_y) most = std::max(most, 2);
      if (asked == Special::tid_z || asked == Special::ctaid_z) most = 3;
    }
  }
  return most;
}

/// PTX and machine code know sizes, and types where the name has them; names of parameters are
/// gone.
std::vector<Found> in_module(const model::KernelFile& file) {
  const std::map<std::string, int> names = names_in(*file.module);
  std::vector<Found> all;
  for (const model::ptx::Function& function : file.module->functions) {
    if (!function.is_entry || function.is_declaration) continue;
    Found found;
    found.kernel = readable_name(function.name);
    found.dimensions = dimensions_of(function);
    if (names.at(found.kernel) > 1) found.kernel = name_with_parameters(function.name);
    const std::vector<model::Parameter> parameters = model::parameters_of(function);
    const auto types = parameter_types(function.name);
    const bool has_types = types && types->size() == parameters.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      found.arguments.push_back(example_of_parameter(parameters[i], has_types ? (*types)[i] : "",
                                                     side_to_start_from(found.dimensions)));
    }
    const std::string name(function.name);
    found.signature = name.starts_with("_Z") ? name_with_parameters(name)
                                             : name + model::signature_of(parameters);
    if (function.max_threads) found.block = std::min(found.block, *function.max_threads);
    all.push_back(std::move(found));
  }
  return all;
}

/// "8, 8 and 4 bytes of parameters; …"
std::string facts_of(const model::sass::KernelDeclaration& kernel) {
  const std::vector<std::uint32_t>& bytes = kernel.parameter_bytes;
  std::string text = "no parameters";
  if (bytes.size() == 1) text = fmt::format("a parameter of {}", with_noun(bytes[0], "byte"));
  if (bytes.size() > 1) {
    text = fmt::format("parameters of {} and {}", fmt::join(bytes.begin(), bytes.end() - 1, ", "),
                       with_noun(bytes.back(), "byte"));
  }
  if (kernel.resources.registers) {
    text += fmt::format("; {} a thread", with_noun(*kernel.resources.registers, "register"));
  }
  if (kernel.static_shared_bytes) {
    text += fmt::format("; {} of static shared memory a block",
                        with_noun(*kernel.static_shared_bytes, "byte"));
  }
  if (kernel.max_threads)
    text += fmt::format("; at most {} a block", with_noun(*kernel.max_threads, "thread"));
  return text;
}

std::vector<Found> in_machine_code(const MachineCode& code) {
  std::vector<Found> all = in_module(code.file);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].facts = facts_of(code.declared.kernels[i]);
    all[i].target = code.declared.target;
  }
  return all;
}

}  // namespace

std::int64_t side_to_start_from(int dimensions) {
  return dimensions == 3 ? 64 : dimensions == 2 ? 256 : 1024;
}

std::vector<std::string> kernel_names_in(const std::string& source) {
  std::vector<std::string> names;
  for (const Found& found : in_source(source)) {
    names.push_back(found.kernel.substr(0, found.kernel.find('<')));
  }
  return names;
}

std::string signature_in(const std::string& source, const std::string& kernel) {
  const std::string name = function_name(kernel);
  for (const Found& found : in_source(source)) {
    if (found.kernel.substr(0, found.kernel.find('<')) == name) return found.signature;
  }
  return "";
}

std::vector<std::string> declared_parameters(const std::string& source, const std::string& kernel) {
  const std::string name = function_name(kernel);
  std::vector<std::string> parameters;
  bool is_found = false;
  for (const Found& found : in_source(source)) {
    if (found.is_template || found.kernel != name) continue;
    if (is_found && found.parameters != parameters) return {};
    parameters = found.parameters;
    is_found = true;
  }
  return parameters;
}

std::set<std::string> template_parameters_in(const std::string& source) {
  std::set<std::string> names;
  for (const Found& found : in_source(source)) {
    if (!found.is_template) continue;
    for (const std::string& name :
         words_of(std::string_view(found.kernel).substr(found.kernel.find('<')))) {
      names.insert(name);
    }
  }
  for (const std::string& name : names_in_commands(source)) names.erase(name);
  return names;
}

std::vector<Found> kernels_in(const std::string& path, const model::CompileOptions& options) {
  std::vector<Found> all;
  if (path.ends_with(".cu")) {
    all = in_source(model::read_text_file(path));
  } else if (is_machine_code(path)) {
    all = in_machine_code(read_machine_code(path));
  } else {
    all = in_module(model::read_kernel_file(path, options, {}));
  }
  if (all.empty()) {
    throw Error(ExitCode::usage, fmt::format("{} holds no kernel; one is a __global__ function "
                                             "with a body",
                                             path));
  }
  return all;
}

}  // namespace warpmeter::family
