// SPDX-License-Identifier: MIT
#include "collector/cli/request/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "base/words.h"
#include "collector/cli/arguments.h"
#include "collector/family/launch_state.h"
#include "collector/family/listing.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

bool has_suffix(std::string_view word, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return word.ends_with(suffix); });
}

bool is_family(std::string_view file) { return has_suffix(file, {".yaml", ".yml", ".json"}); }

[[noreturn]] void refuse_usage(const std::string& what) {
  throw Error(ExitCode::usage, what + " (see: warpmeter run --help)");
}

family::Text typed(const std::string& text) { return {text, 0, 0}; }

std::vector<family::Text> typed(const std::vector<std::string>& texts) {
  std::vector<family::Text> all;
  for (const std::string& text : texts) all.push_back(typed(text));
  return all;
}

/// "ceil(n/16),min(n,8)" at the commas outside of parentheses; "16x16" is 16,16.
std::vector<family::Text> extent(std::string_view option, std::string_view typed_text) {
  std::string text(typed_text);
  if (text.find_first_not_of("0123456789x") == std::string::npos) {
    std::replace(text.begin(), text.end(), 'x', ',');
  }
  std::vector<family::Text> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    parts.push_back(typed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (parts.size() > 3) {
    refuse_usage(fmt::format("{} takes one to three numbers, not '{}'", option, text));
  }
  return parts;
}

/// Refuses a count or an extent that uses the size where none is given.
void refuse_missing_size(const FilesRequest& request) {
  const auto check = [](std::string_view option, const std::string& text, std::string_view part) {
    for_each_word(part, [&](std::size_t, std::string_view word) {
      if (word != "n") return;
      refuse_usage(
          fmt::format("{} '{}' uses n, the size, and none was given: add -n 1024", option, text));
    });
  };
  check("--grid", request.grid, request.grid);
  check("--block", request.block, request.block);
  for (const std::string& argument : request.arguments) {
    const std::size_t open = argument.find('['), close = argument.find(']');
    if (open < close)
      check("--arg", argument, std::string_view(argument).substr(open, close - open));
  }
}

/// One kernel of one file, as the command line describes it.
family::FamilySpec spec_of_words(const FilesRequest& request,
                                 const std::vector<std::string>& sizes) {
  const std::string& file = request.files.front();
  if (request.grid.empty() || request.block.empty()) {
    refuse_usage(
        fmt::format("a kernel of {} needs --grid and --block: how many blocks, and "
                    "threads in a block",
                    file));
  }
  if (sizes.empty()) refuse_missing_size(request);
  family::FamilySpec spec;
  spec.name = fs::path(file).stem().string();
  spec.source = file;
  spec.cubin = request.cubin;
  spec.options = compile_options_of(request);
  if (!sizes.empty()) spec.sizes = {{typed("n"), typed(sizes)}};
  spec.arguments = typed(request.arguments);
  spec.settings = typed(request.settings);
  family::VariantSpec variant;
  variant.kernel = typed(request.kernel);
  variant.name =
      typed(without_needless_blanks(request.kernel.empty() ? spec.name : request.kernel));
  variant.grid = extent("--grid", request.grid);
  variant.block = extent("--block", request.block);
  if (request.shared != 0) variant.shared = typed(std::to_string(request.shared));
  spec.variants.push_back(std::move(variant));
  return spec;
}

void must_exist(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw Error(ExitCode::file, fmt::format("there is no file {}; check its name", file));
  }
}

}  // namespace

std::vector<std::string> take_files(std::vector<std::string>& words) {
  std::vector<std::string> files;
  std::erase_if(words, [&](const std::string& word) {
    const bool is_file = is_family(word) || has_suffix(word, {".cu", ".ptx", ".cubin"});
    if (is_file) files.push_back(word);
    return is_file;
  });
  return files;
}

bool is_listing(const FilesRequest& request) {
  const bool has_family = std::any_of(request.files.begin(), request.files.end(),
                                      [](const std::string& file) { return is_family(file); });
  return !request.files.empty() && !has_family && !request.names_a_launch();
}

/// A grid and a block to start from: a thread for each element of a problem of that side.
std::pair<std::string, std::string> start_of(const family::Found& found) {
  const auto side = static_cast<std::uint32_t>(family::side_to_start_from(found.dimensions));
  if (found.dimensions == 3) {
    if (found.block < 256) return {"16,16,16", "4,4,4"};
    return {"8,8,16", "8,8,4"};
  }
  if (found.dimensions == 2) {
    const std::uint32_t block = found.tile != 0 ? found.tile : found.block < 256 ? 8U : 16U;
    return {fmt::format("{0},{0}", side / block), fmt::format("{0},{0}", block)};
  }
  const std::uint32_t block = found.tile != 0 ? found.tile : found.block;
  return {std::to_string(std::max(1U, side / block)), std::to_string(block)};
}

std::string listing(const FilesRequest& request) {
  std::string text;
  const model::CompileOptions options = compile_options_of(request);
  for (const std::string& file : request.files) {
    must_exist(file);
    const std::vector<family::Found> kernels = family::kernels_in(file, options);
    const std::string& target = kernels.front().target;
    text += fmt::format(
        "{}{} holds {}{}, and nothing was run. To run one, give it a grid "
        "and arguments:\n",
        text.empty() ? "" : "\n", file, with_noun(kernels.size(), "kernel"),
        target.empty() ? "" : " for " + target);
    for (const family::Found& found : kernels) {
      const auto [grid, block] = start_of(found);
      std::vector<std::string> words = {"warpmeter", "run", file,      "-k", found.kernel,
                                        "--grid",    grid,  "--block", block};
      if (found.has_dynamic_shared) words.insert(words.end(), {"--shared", "16384"});
      for (const std::string& argument : found.arguments) {
        words.insert(words.end(), {"--arg", argument});
      }
      text += fmt::format("\n  {}\n", found.signature);
      if (!found.facts.empty()) text += fmt::format("    ({})\n", found.facts);
      text += fmt::format("    {}\n", shell_line(words));
      if (found.is_template) {
        text += fmt::format("    (values in place of the names in {})\n",
                            found.kernel.substr(found.kernel.find('<')));
      }
    }
  }
  return text;
}

std::vector<family::FamilySpec> specs_of(const FilesRequest& request,
                                         const std::vector<std::string>& sizes, FileClaims& files) {
  std::vector<family::FamilySpec> specs;
  const bool has_family = std::any_of(request.files.begin(), request.files.end(),
                                      [](const std::string& file) { return is_family(file); });
  if (has_family && request.names_a_launch()) {
    refuse_usage(
        "a family file says what is launched: leave out -k, --grid, --block, --shared, "
        "--arg and --set");
  }
  if (!has_family && request.files.size() > 1) {
    refuse_usage("one kernel file at a time; several are for a family file each");
  }
  for (const std::string& file : request.files) {
    must_exist(file);
    if (!is_family(file)) {
      if (has_family) refuse_usage(fmt::format("{} is no family; give it alone", file));
      specs.push_back(spec_of_words(request, sizes));
    } else if (family::is_list_of_launches(file)) {
      throw Error(ExitCode::usage, fmt::format("{0} is a list of launches, which the model runs: "
                                               "warpmeter model --spec {0}; a family has "
                                               "'variants:' instead of 'launches:'",
                                               file));
    } else {
      family::FamilySpec spec = family::read_family(file);
      family::checked(spec, spec.source_place, [&] { must_exist(spec.source); });
      const model::CompileOptions more = compile_options_of(request);
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(spec.options.includes, more.includes);
      append(spec.options.defines, more.defines);
      if (!more.standard.empty()) spec.options.standard = more.standard;
      if (!more.compiler.empty()) spec.options.compiler = more.compiler;
      specs.push_back(std::move(spec));
    }
    for (const std::string& read : family::files_of(specs.back())) {
      files.read(read, read == specs.back().source ? "the kernels' source"
                                                   : fmt::format("what {} is made of", file));
    }
    for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
      if (specs[i].name != specs.back().name) continue;
      throw Error(ExitCode::usage, fmt::format("{} and {} are both called {}; give one another "
                                               "'family:'",
                                               specs[i].path, file, specs[i].name));
    }
  }
  return specs;
}

}  // namespace warpmeter::cli
