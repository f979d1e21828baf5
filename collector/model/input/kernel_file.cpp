// SPDX-License-Identifier: MIT
#include "collector/model/input/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/named_files.h"
#include "base/nearest.h"
#include "base/temporary.h"
#include "collector/model/input/compiler_messages.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/npy.h"
#include "collector/model/input/nvcc.h"
#include "collector/model/input/template_instance.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

/// On the command line, and in a spec.
constexpr std::string_view kernel_option = "-k (in a spec, kernel:)";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A name with template arguments is one that has to be asked for; one with parameters as well was
/// copied from a list of what there is.
std::vector<std::string> expressions_in(const std::vector<std::string>& kernels) {
  std::vector<std::string> expressions;
  for (const std::string& kernel : kernels) {
    const bool is_known =
        std::find(expressions.begin(), expressions.end(), kernel) != expressions.end();
    const bool is_instance = kernel.find('<') != std::string::npos && !kernel.ends_with(')');
    if (is_instance && !is_known) expressions.push_back(kernel);
  }
  return expressions;
}

Compiled shown(Compiled compiled, const std::string& path, const CompileOptions& options) {
  if (compiled.failure.empty()) return compiled;
  NamedFiles files = allowed_sources(path, options.includes);
  files.allow(project_folder(fs::path(path).parent_path()));
  compiled.failure = without_quotes(compiled.failure, path, files);
  return compiled;
}

Compiled by_nvcc(const fs::path& nvcc, const std::string& path, const CompileOptions& options,
                 const std::vector<std::string>& expressions) {
  return shown(compile_with_nvcc(nvcc, path, options, expressions), path, options);
}

Compiled by_nvrtc(const std::string& path, const CompileOptions& options,
                  const std::vector<std::string>& expressions) {
  return shown(compile_with_nvrtc(path, read_text_file(path), options, expressions), path, options);
}

/// NVRTC's, where nobody asked for nvcc and it refuses what NVRTC takes.
Compiled compile_preferring_nvcc(const fs::path& nvcc, const std::string& path,
                                 const CompileOptions& options,
                                 const std::vector<std::string>& expressions,
                                 std::vector<std::string>& remarks) {
  Compiled compiled = by_nvcc(nvcc, path, options, expressions);
  const bool is_final = compiled.failure.empty() || options.compiler == "nvcc";
  if (is_final || !nvrtc_unavailable().empty()) return compiled;
  Compiled other = by_nvrtc(path, options, expressions);
  if (!other.failure.empty()) return compiled;
  remarks.push_back(fmt::format("{} is compiled by NVRTC, since nvcc could not ({})", path,
                                first_error(compiled.failure)));
  return other;
}

}  // namespace

// NVRTC stumbles over what only a whole program has: headers of the host and calls of the runtime.
// Its code is not quite nvcc's: addresses in shared memory have 64 bits, and nvcc's 32.
Compiled compile_source(const std::string& path, const CompileOptions& options,
                        const std::vector<std::string>& expressions,
                        std::vector<std::string>& remarks) {
  if (const std::string endless = endless_include(path, options.includes); !endless.empty()) {
    Compiled compiled;
    compiled.failure =
        fmt::format("error: {} includes {}, which is no regular file", path, endless);
    return compiled;
  }
  const auto nvcc = toolkit_program("nvcc");
  if (options.prefers_nvcc()) {
    if (nvcc) return compile_preferring_nvcc(*nvcc, path, options, expressions, remarks);
    remarks.push_back(fmt::format("{} is compiled by NVRTC: there is no nvcc here{}", path,
                                  options.is_timed ? ", and times of what nvcc builds may differ "
                                                     "by some per cent"
                                                   : ""));
  }
  const std::string unavailable = nvrtc_unavailable();
  std::string messages = unavailable;
  if (unavailable.empty()) {
    Compiled compiled = by_nvrtc(path, options, expressions);
    // Kernels that ptxas refuses, as too much shared memory, nvcc would not compile either. (PTX
    // alone would run: drivers take more than ptxas does.)
    const bool is_of_ptxas = compiled.failure.find("ptxas error") != std::string::npos;
    if (compiled.failure.empty() || is_of_ptxas || options.compiler == "nvrtc") return compiled;
    messages = compiled.failure;
  }
  const bool is_nvrtc_alone = !nvcc || options.compiler == "nvrtc";
  if (is_nvrtc_alone && !unavailable.empty()) throw Error(ExitCode::no_hardware, unavailable);
  if (!nvcc) {
    Compiled compiled;
    compiled.failure = messages;
    return compiled;
  }
  Compiled compiled = by_nvcc(*nvcc, path, options, expressions);
  if (compiled.failure.empty()) {
    remarks.push_back(fmt::format("compiled by {}, since NVRTC could not ({})", nvcc->string(),
                                  first_line(messages)));
  }
  return compiled;
}

namespace {

Compiled compile(const std::string& path, const CompileOptions& options,
                 const std::vector<std::string>& expressions, std::vector<std::string>& remarks) {
  Compiled compiled = compile_source(path, options, expressions, remarks);
  if (compiled.failure.empty()) return compiled;
  if (!expressions.empty()) {  // is it the source that is wrong, or the name of a kernel?
    Compiled plain = compile_source(path, options, {}, remarks);
    if (plain.failure.empty()) {
      remarks.push_back(fmt::format("no instance could be made of {}: {}",
                                    fmt::join(expressions, ", "), first_error(compiled.failure)));
      return plain;
    }
    compiled = std::move(plain);
  }
  throw Error(
      ExitCode::usage,
      fmt::format("{} does not compile; mend what the compiler says{}:\n{}", path,
                  !toolkit_program("nvcc")
                      ? ", or, if it holds host code, which NVRTC does not know, compile it "
                        "elsewhere with `nvcc -ptx -lineinfo` and give the .ptx"
                      : "",
                  first_errors(compiled.failure)));
}

std::unique_ptr<ptx::Module> parse(const std::string& path, std::string text) {
  auto parsed = ptx::parse(std::move(text));
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&parsed)) {
    throw Error(ExitCode::usage, fmt::format("{}:{}:{}: {}; give PTX as nvcc writes it", path,
                                             wrong->line, wrong->column, wrong->message));
  }
  return std::move(std::get<std::unique_ptr<ptx::Module>>(parsed));
}

std::string without_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) result += c;
  }
  return result;
}

/// "f<256u, (Kind)1>" and "f<256,(Kind)1>" name the same instance.
std::string comparable(std::string_view name) {
  std::string result;
  const std::string text = without_spaces(name);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_suffix = std::string_view("uUlL").find(text[i]) != std::string_view::npos &&
                           i > 0 && !result.empty() &&
                           std::isdigit(static_cast<unsigned char>(result.back())) != 0 &&
                           (i + 1 == text.size() || std::string_view("uUlL,>)").find(text[i + 1]) !=
                                                        std::string_view::npos);
    if (!is_suffix) result += text[i];
  }
  return result;
}

/// The name without its template arguments.
std::string_view stem(std::string_view name) { return name.substr(0, name.find('<')); }

std::string_view last_part(std::string_view name) {
  const std::size_t colons = stem(name).rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// How well an entry's name answers: 4 with its parameters, 3 all of it but these, 2 without
/// namespaces, 1 without template arguments too; 0: not at all.
int match(std::string_view entry, std::string_view kernel) {
  const std::string whole = comparable(readable_name(entry)), wanted = comparable(kernel);
  if (wanted.ends_with(')')) return comparable(name_with_parameters(entry)) == wanted ? 4 : 0;
  if (whole == wanted) return 3;
  if (last_part(whole) == wanted) return 2;
  if (stem(whole) == wanted || stem(last_part(whole)) == wanted) return 1;
  return 0;
}

/// The machine code of a .ptx. One that nobody named is only an offer: where it cannot be read, the
/// person is told.
void read_cubin(KernelFile& file, const std::string& named) {
  if (!named.empty()) {
    file.cubin = read_whole_file(named);
    file.cubin_path = named;
    file.cubin_is_named = true;
    return;
  }
  const std::string beside = cubin_beside(file.path);
  if (beside.empty()) return;
  try {
    file.cubin = read_whole_file(beside);
    file.cubin_path = beside;
  } catch (const Error& error) {
    file.remarks.push_back(fmt::format("the cubin beside the PTX is not used: {}", error.what()));
  }
}

/// The entries' names as -k takes them: with parameters where overloads have the same one. One's
/// own come first, then those of headers.
std::string names_to_choose(const KernelFile& file, const std::vector<std::string>& entries) {
  constexpr std::size_t most = 100;  // nobody reads more, and libraries have thousands
  std::map<std::string, std::size_t> same;
  for (const std::string& entry : entries) ++same[readable_name(entry)];
  std::vector<std::string> own, of_headers;
  for (const std::string& entry : std::span(entries).first(std::min(most, entries.size()))) {
    const std::string name = readable_name(entry);
    (is_of_header(file, entry) ? of_headers : own)
        .push_back(fmt::format("'{}'", same[name] == 1 ? name : name_with_parameters(entry)));
  }
  if (entries.size() > most) own.push_back(fmt::format("and {} more", entries.size() - most));
  if (of_headers.empty()) return fmt::format("{}", fmt::join(own, ", "));
  return fmt::format("{}{}of headers: {}", fmt::join(own, ", "), own.empty() ? "" : "; ",
                     fmt::join(of_headers, ", "));
}

/// The source that PTX was made of; of a .ptx, the first .cu that it names. "": it names none.
fs::path source_of(const KernelFile& file) {
  if (!file.path.ends_with(".ptx")) return file.path;
  const std::vector<std::string>& files = file.module->files;
  const auto source = std::find_if(files.begin(), files.end(),
                                   [](const std::string& each) { return each.ends_with(".cu"); });
  return source == files.end() ? fs::path() : fs::path(*source);
}

}  // namespace

void refuse_cubin_of_source(const std::string& path, const std::string& cubin) {
  if (cubin.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("a cubin is the machine code of a .ptx, and {} is a source, which is "
                          "compiled here: leave out {}",
                          path, cubin));
}

std::string cubin_beside(const std::string& path) {
  const fs::path beside = fs::path(path).replace_extension(".cubin");
  std::error_code ignored;
  return path.ends_with(".ptx") && fs::is_regular_file(beside, ignored) ? beside.string() : "";
}

bool is_of_header(const KernelFile& file, std::string_view entry) {
  const ptx::Function* function = file.module->find(entry);
  const fs::path source = source_of(file);
  if (function == nullptr || source.empty()) return false;
  const auto placed =
      std::find_if(function->body.begin(), function->body.end(),
                   [](const ptx::Instruction& each) { return each.location.has_value(); });
  if (placed == function->body.end()) return false;
  const auto number = static_cast<std::size_t>(placed->location->file);
  if (number >= file.module->files.size()) return false;
  std::error_code error;
  const fs::path place = fs::weakly_canonical(file.module->files[number], error);
  if (error || place.extension() == ".cu") return false;
  const fs::path folder = fs::weakly_canonical(source, error).parent_path();
  return !error && place.lexically_relative(folder).string().starts_with("..");
}

std::string find_entry(const KernelFile& file, std::string_view kernel) {
  const auto named = file.named.find(std::string(kernel));
  if (named != file.named.end()) {
    const ptx::Function* function = file.module->find(named->second);
    if (function != nullptr && function->is_entry) return named->second;
    throw Error(ExitCode::usage, fmt::format("'{}' of {} is no kernel, for it is not __global__",
                                             kernel, file.path));
  }
  std::vector<std::string> entries, names, found;
  int best = 1;
  for (const ptx::Function& function : file.module->functions) {
    if (!function.is_entry || function.is_declaration) continue;
    const std::string entry(function.name);
    if (entry == kernel) return entry;
    entries.push_back(entry);
    names.push_back(readable_name(entry));
    const int quality = kernel.empty() ? best : match(entry, kernel);
    if (quality < best) continue;
    if (quality > best) found.clear();
    best = quality;
    found.push_back(entry);
  }
  if (found.size() == 1) return found[0];
  if (found.empty() && file.path.ends_with(".cu")) {
    const std::string instance = instance_of_template(source_text(file.path), kernel);
    if (!instance.empty()) {
      throw Error(
          ExitCode::usage,
          fmt::format("{} is a template of {}: write an instance with values of yours, '{}'",
                      kernel, file.path, instance));
    }
  }
  if (entries.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds no kernel; one is a __global__ function, and of a template "
                            "one that is named with its arguments: 'reduce<float, 256>'",
                            file.path));
  }
  if (kernel.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds {} kernels; choose one with {}: {}", file.path,
                            entries.size(), kernel_option, names_to_choose(file, entries)));
  }
  if (found.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds no kernel '{}'{}; it holds {} (a template needs its "
                            "arguments: 'reduce<float, 256>')",
                            file.path, kernel, did_you_mean(kernel, names),
                            names_to_choose(file, entries)));
  }
  throw Error(ExitCode::usage,
              fmt::format("{} holds {} kernels '{}'; choose one with {}: {}", file.path,
                          found.size(), kernel, kernel_option, names_to_choose(file, found)));
}

KernelFile read_kernel_file(const std::string& path, const CompileOptions& options,
                            const std::vector<std::string>& kernels, const std::string& cubin) {
  KernelFile file;
  file.path = path;
  file.folders = options.includes;
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".ptx") {
    file.module = parse(path, read_text_file(path));
    if (options.arch.value_or(file.module->target) != file.module->target) {
      throw Error(ExitCode::usage,
                  fmt::format("{} is PTX of sm_{}, not of sm_{}: an architecture is chosen for a "
                              ".cu; leave it out with a .ptx",
                              path, file.module->target, *options.arch));
    }
    read_cubin(file, cubin);
    return file;
  }
  if (suffix != ".cu") {
    throw Error(ExitCode::usage,
                fmt::format("{} is neither .cu nor .ptx; the model executes PTX: give the kernel's "
                            "source, or what `nvcc -ptx -lineinfo` makes of it",
                            path));
  }
  refuse_cubin_of_source(path, cubin);
  KernelFile made =
      kernel_file_of(path, compile(path, options, expressions_in(kernels), file.remarks));
  made.remarks = std::move(file.remarks);
  made.folders = std::move(file.folders);
  return made;
}

KernelFile kernel_file_of(const std::string& path, Compiled compiled) {
  KernelFile file;
  file.path = path;
  file.cubin = std::move(compiled.cubin);
  file.named = std::move(compiled.named);
  file.module = parse(path, std::move(compiled.ptx));
  return file;
}

// Files that were compiled apart are assembled as they are in a program, to be linked: ptxas keeps
// what atomics answer then, which nobody asks for, and they are no reductions (CUDA 13.0, and what
// the driver does on an H200).
Assembled assemble(const ptx::Module& module) {
  const auto ptxas = toolkit_program("ptxas"), nvlink = toolkit_program("nvlink");
  if (!ptxas) return {{}, "there is no ptxas here"};
  const TemporaryFolder folder;
  const std::string source = (folder.path() / "kernels.ptx").string();
  const std::string target = (folder.path() / "kernels.cubin").string();
  std::ofstream(source, std::ios::binary) << module.text;
  const std::string object = (folder.path() / "kernels.o").string();
  const std::string architecture(module.target_name);
  std::vector<std::string> words = {ptxas->string(), "--generate-line-info",
                                    "--gpu-name=" + architecture, source, "-o"};
  if (module.is_linked && nvlink) {
    std::vector<std::string> apart = words;
    apart.insert(apart.end(), {object, "--compile-only"});
    const bool is_done =
        run_tool(apart).exit_code == 0 &&
        run_tool({nvlink->string(), "--arch=" + architecture, object, "-o", target}).exit_code == 0;
    if (is_done) return {read_whole_file(target), {}};
  }
  words.push_back(target);
  const ToolOutcome outcome = run_tool(words);
  if (outcome.exit_code == 0) return {read_whole_file(target), {}};
  const std::string said = first_line(outcome.output);
  return {
      {}, fmt::format("ptxas does not take the PTX ({})", said.empty() ? "no word" : said), true};
}

std::string source_text(const std::string& path) {
  return read_regular_file(path).text.value_or("");
}

std::string relative_path(const std::string& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path near = fs::path(path).lexically_relative(here);
  return error || near.empty() || near.string().starts_with("..") ? path : near.string();
}

}  // namespace warpmeter::model
