// SPDX-License-Identifier: MIT
#include "collector/family/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/host_cores.h"
#include "base/kernel_name.h"
#include "base/nearest.h"
#include "base/words.h"
#include "collector/family/listing.h"
#include "collector/family/machine_code.h"
#include "collector/model/input/cache.h"
#include "collector/model/input/compiler_messages.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/npy.h"
#include "collector/model/input/nvcc.h"
#include "collector/model/input/toolkit.h"
#include "collector/model/machine/decode/decode.h"

namespace warpmeter::family {
namespace {

/// Instances of one compilation: each more costs less than a compilation of its own.
constexpr std::size_t most_together = 8;

/// All that the result depends on.
std::string key_of(const std::string& path, const model::CompileOptions& options,
                   const std::vector<std::string>& expressions) {
  // The whole path: the lines of the code name it.
  std::error_code error;
  const std::string place = std::filesystem::absolute(path, error).string();
  std::string key = fmt::format("warpmeter 3\nnvrtc {}\n{}\nsm_{}\nstd {}\n{}{}",
                                model::nvrtc_version(), place, options.target(), options.standard,
                                options.compiler.empty() ? "" : options.compiler + "\n",
                                options.is_timed ? "timed\n" : "");
  for (const auto* list : {&options.includes, &options.defines, &options.flags, &expressions}) {
    key += fmt::format("{}\n", fmt::join(*list, "\n"));
    key += "--\n";
  }
  key += model::read_text_file(path);
  for (const std::string& header : model::included_files(path, options.includes)) {
    key += fmt::format("\n== {}\n{}", header, model::read_text_file(header));
  }
  return key;
}

/// From the cache, or compiled and kept.
model::Compiled compiled(const std::string& path, const model::CompileOptions& options,
                         const std::vector<std::string>& expressions,
                         std::vector<std::string>& remarks) {
  const std::string key = key_of(path, options, expressions);
  const bool is_second_best = options.prefers_nvcc() && !model::toolkit_program("nvcc");
  if (auto known = model::find_compiled(key); known && !is_second_best) return std::move(*known);
  model::Compiled made = model::compile_source(path, options, expressions, remarks);
  if (made.failure.empty() && made.cubin.empty()) {  // nvcc's, as PTX alone
    const model::KernelFile file = model::kernel_file_of(path, made);
    model::Assembled assembled = model::assemble(*file.module);
    made.cubin = std::move(assembled.cubin);
    if (assembled.is_refused) made.failure = std::move(assembled.failure);
  }
  // A file that was saved meanwhile is another compilation than the key says.
  const bool is_kept = made.failure.empty() && !is_second_best;
  if (is_kept && key_of(path, options, expressions) == key) model::keep_compiled(key, made);
  return made;
}

bool has_word(std::string_view text, std::string_view word) {
  bool found = false;
  for_each_word(text, [&](std::size_t, std::string_view other) { found = found || other == word; });
  return found;
}

}  // namespace

/// Configurations that one compilation serves.
struct CodeBase::Job {
  std::vector<std::size_t> configurations;
  std::vector<std::string> defines, expressions;
  model::Compiled compiled;
  std::vector<std::string> remarks;
  std::exception_ptr error;

  /// The kernel, and its instance where it is a template's.
  void add(std::size_t configuration, const std::string& kernel) {
    configurations.push_back(configuration);
    const bool is_known =
        std::find(expressions.begin(), expressions.end(), kernel) != expressions.end();
    if (kernel.find('<') != std::string::npos && !is_known) expressions.push_back(kernel);
  }
};

Unit& CodeBase::add_unit(model::KernelFile file) {
  Unit& unit = units_.emplace_back();
  unit.file = std::move(file);
  unit.name = fmt::format("{}#{}", spec_.name, units_.size());
  unit.source_path = unit.file.path;
  if (!unit.source_path.empty()) {
    if (!is_machine_code(unit.source_path)) unit.source = model::source_text(unit.source_path);
    // As the lines of its code name it.
    std::error_code none;
    const auto whole = std::filesystem::absolute(unit.source_path, none).lexically_normal();
    if (!none) unit.source_path = model::relative_path(whole.string());
  }
  unit.code.arch = arch_;
  if (unit.file.module) {
    unit.code.arch = unit.file.module->target;
    unit.code.ptx = unit.file.module->text;
  }
  const auto* cubin = reinterpret_cast<const unsigned char*>(unit.file.cubin.data());
  unit.code.cubin = {cubin, unit.file.cubin.size()};
  unit.image = {unit.name, unit.source_path, unit.source, std::span(&unit.code, 1),
                spec_.options.includes};
  return unit;
}

/// The kernels that an error leaves out although it lists the unit's: instances of other
/// compilations.
std::string CodeBase::kernels_elsewhere(const Unit& unit,
                                        const std::vector<Configuration>& configurations) const {
  if (!spec_.source.ends_with(".cu")) return "";
  std::set<std::string> others;
  for (const Configuration& configuration : configurations) {
    const std::string& kernel = configuration.kernel;
    const bool is_instance = kernel.find('<') != std::string::npos;
    if (is_instance && !unit.file.named.contains(kernel)) others.insert(kernel);
  }
  if (others.empty()) return "";
  return fmt::format("; {} more instances that the family names are compiled apart from these",
                     others.size());
}

Kernel CodeBase::kernel_of(const Unit& unit, const Configuration& configuration,
                           const std::vector<Configuration>& all) const {
  Kernel kernel;
  kernel.unit = &unit;
  const Text& at = configuration.variant->kernel;
  try {
    kernel.entry = model::find_entry(unit.file, configuration.kernel);
  } catch (const Error& error) {
    refuse(spec_, at.line == 0 ? configuration.variant->name : at,
           error.what() + kernels_elsewhere(unit, all));
  }
  const model::ptx::Function* function = unit.file.module->find(kernel.entry);
  if (function != nullptr) kernel.parameters = model::parameters_of(*function);
  kernel.declaration = signature_in(unit.source, readable_name(kernel.entry));
  if (kernel.declaration.empty() && kernel.entry.starts_with("_Z")) {
    kernel.declaration = name_with_parameters(kernel.entry);
  }
  // A mangled name knows what a template or a typedef made of a parameter; extern "C" has none.
  if (auto types = parameter_types(kernel.entry)) {
    kernel.types = std::move(*types);
  } else {
    kernel.types = declared_parameters(unit.source, readable_name(kernel.entry));
  }
  if (kernel.types.size() != kernel.parameters.size()) kernel.types.clear();
  return kernel;
}

std::vector<CodeBase::Job> CodeBase::jobs_of(
    const std::vector<Configuration>& configurations) const {
  std::vector<Job> jobs;
  std::map<std::vector<std::string>, std::size_t> open;  // defines → the job that has room
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const Configuration& configuration = configurations[i];
    std::vector<std::string> defines = configuration.defines;
    for (const Text& define : configuration.variant->defines) defines.push_back(define.text);
    const auto known = open.find(defines);
    if (known == open.end() || jobs[known->second].expressions.size() >= most_together) {
      open[defines] = jobs.size();
      jobs.emplace_back();
      jobs.back().defines = defines;
    }
    jobs[open[defines]].add(i, configuration.kernel);
  }
  return jobs;
}

/// In parallel.
void CodeBase::run(std::vector<Job>& jobs, const Progress& progress) const {
  std::atomic<std::size_t> next = 0, done = 0;
  const auto loop = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      Job& job = jobs[i];
      try {
        model::CompileOptions options = spec_.options;
        options.arch = arch_;
        options.defines.insert(options.defines.end(), job.defines.begin(), job.defines.end());
        job.compiled = compiled(spec_.source, options, job.expressions, job.remarks);
      } catch (...) {
        job.error = std::current_exception();
      }
      if (progress) progress(++done, jobs.size());
    }
  };
  const std::size_t cores = usable_cores();
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min(cores, jobs.size()); ++t) threads.emplace_back(loop);
  loop();
}

namespace {

/// Why a source that compiles by itself does not with an instance that it alone was asked for.
std::string no_instance(const Configuration& configuration, const std::string& source,
                        const std::string& messages) {
  return fmt::format("no instance '{}' can be made of a kernel of {}: {}", configuration.kernel,
                     source, model::first_error(messages));
}

}  // namespace

/// The jobs for each configuration of a failed job; none, where the source itself is what the
/// compiler refuses, for all of them then.
std::vector<CodeBase::Job> CodeBase::split(const Job& failed,
                                           const std::vector<Configuration>& configurations) const {
  std::vector<Job> without_instances(1);
  without_instances[0].defines = failed.defines;
  run(without_instances, {});
  if (!without_instances[0].compiled.failure.empty()) return {};
  std::vector<Job> single;
  for (const std::size_t i : failed.configurations) {
    single.emplace_back().defines = failed.defines;
    single.back().add(i, configurations[i].kernel);
  }
  return single;
}

/// Before a compiler works for minutes on a source of many kernels: a name that stands nowhere in
/// the source, in its headers or in -D is no kernel's. Macros that join words (##) may make any.
void CodeBase::refuse_unknown(const std::vector<Configuration>& configurations,
                              const std::string& source) const {
  constexpr std::size_t many = 100;  // the compiled file names each of fewer
  const std::vector<std::string> names = kernel_names_in(source);
  if (names.size() <= many) return;
  std::vector<std::string> texts = {source};
  for (const std::string& header : model::included_files(spec_.source, spec_.options.includes)) {
    texts.push_back(model::source_text(header));
  }
  const auto any = [&](auto&& holds) { return std::any_of(texts.begin(), texts.end(), holds); };
  if (any([](const std::string& text) { return text.find("##") != std::string::npos; })) return;
  for (const auto* defines : {&spec_.options.defines, &spec_.options.flags}) {
    texts.insert(texts.end(), defines->begin(), defines->end());
  }
  for (const Configuration& configuration : configurations) {
    const std::string name = function_name(configuration.kernel);
    if (name.empty() || any([&](const std::string& text) { return has_word(text, name); }))
      continue;
    const std::vector<Text>& own = configuration.variant->defines;
    if (std::any_of(own.begin(), own.end(),
                    [&](const Text& define) { return has_word(define.text, name); })) {
      continue;
    }
    const Text& at = configuration.variant->kernel;
    refuse(
        spec_, at.line == 0 ? configuration.variant->name : at,
        fmt::format("{} holds no kernel '{}'{}; warpmeter run {} lists what it holds", spec_.source,
                    configuration.kernel, did_you_mean(configuration.kernel, names), spec_.source));
  }
}

std::vector<Kernel> CodeBase::compile_source(const std::vector<Configuration>& configurations,
                                             const Progress& progress) {
  const std::string source = model::read_text_file(spec_.source);
  refuse_unknown(configurations, source);
  std::vector<Job> jobs = jobs_of(configurations);
  run(jobs, progress);
  std::vector<Job> single;
  std::erase_if(jobs, [&](const Job& job) {
    if (job.error || job.compiled.failure.empty() || job.expressions.size() < 2) return false;
    std::vector<Job> parts = split(job, configurations);
    std::move(parts.begin(), parts.end(), std::back_inserter(single));
    return !parts.empty();
  });
  run(single, progress);
  std::move(single.begin(), single.end(), std::back_inserter(jobs));

  std::vector<Kernel> kernels(configurations.size());
  for (Job& job : jobs) {
    if (job.error) std::rethrow_exception(job.error);
    for (const std::string& remark : job.remarks) {
      if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
        remarks_.push_back(remark);
      }
    }
    if (job.compiled.failure.empty()) {
      const Unit& unit = add_unit(model::kernel_file_of(spec_.source, std::move(job.compiled)));
      for (const std::size_t i : job.configurations) {
        kernels[i] = kernel_of(unit, configurations[i], configurations);
      }
      continue;
    }
    for (const std::size_t i : job.configurations) {
      const Configuration& configuration = configurations[i];
      const std::string name = function_name(configuration.kernel);  // empty: the only one
      if (!name.empty() && !has_word(source, name)) {
        refuse(spec_, configuration.variant->kernel,
               fmt::format("{} holds no kernel '{}'; warpmeter run {} lists what it holds",
                           spec_.source, configuration.kernel, spec_.source));
      }
      const bool is_of_name = job.expressions.size() == 1 && configuration.doubt.empty() &&
                              job.compiled.failure.starts_with(model::of_kernel_name);
      kernels[i].failure =
          is_of_name ? no_instance(configuration, spec_.source, job.compiled.failure)
                     : fmt::format("{} does not compile{}{}\n{}", spec_.source,
                                   configuration.doubt.empty() ? ":" : ": ", configuration.doubt,
                                   model::first_errors(job.compiled.failure));
    }
  }
  return kernels;
}

/// Refuses a file that is no source.
void CodeBase::refuse_compiled(const Text& at, std::string_view what) const {
  refuse(spec_, at,
         fmt::format("{} is compiled already, and {} nothing of it; give the .cu", spec_.source,
                     what));
}

model::KernelFile CodeBase::compiled_file() const {
  if (!is_machine_code(spec_.source)) {
    model::KernelFile file = model::read_kernel_file(spec_.source, spec_.options, {}, spec_.cubin);
    if (file.cubin_is_named) check_is_machine_code(file.cubin_path, file.cubin);
    return file;
  }
  if (!spec_.cubin.empty()) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} is machine code itself, and takes no other: leave out --cubin (in a "
                    "family file, cubin:)",
                    spec_.source));
  }
  return read_machine_code(spec_.source).file;
}

std::vector<Kernel> CodeBase::compile(const std::vector<Configuration>& configurations,
                                      const Progress& progress) {
  units_.clear();
  remarks_.clear();
  if (spec_.source.ends_with(".cu")) {
    model::refuse_cubin_of_source(spec_.source, spec_.cubin);
    return compile_source(configurations, progress);
  }
  for (const Configuration& configuration : configurations) {
    const bool has_define =
        !configuration.defines.empty() || !configuration.variant->defines.empty();
    if (has_define) refuse_compiled(configuration.variant->name, "a define changes");
  }
  const model::CompileOptions& options = spec_.options;
  const bool has_options = !options.defines.empty() || !options.includes.empty() ||
                           !options.standard.empty() || !options.compiler.empty() ||
                           !options.flags.empty();
  if (has_options) refuse_compiled({}, "include, define, std, compiler and flags change");
  const Unit& unit = add_unit(compiled_file());
  for (const std::string& remark : unit.file.remarks) remarks_.push_back(remark);
  std::vector<Kernel> kernels;
  for (const Configuration& configuration : configurations) {
    kernels.push_back(kernel_of(unit, configuration, configurations));
  }
  return kernels;
}

}  // namespace warpmeter::family
