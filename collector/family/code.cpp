#include "collector/family/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/kernel_name.h"
#include "collector/family/cache.h"
#include "collector/family/listing.h"
#include "collector/family/words.h"
#include "collector/model/input/includes.h"
#include "collector/model/input/npy.h"
#include "collector/model/machine/decode/decode.h"

namespace warpmeter::family {
namespace {

/// Instances of one compilation: each more costs less than a compilation of its own.
constexpr std::size_t most_together = 8;

std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = model::read_whole_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// All that the result depends on.
std::string key_of(const std::string& path, const model::CompileOptions& options,
                   const std::vector<std::string>& expressions) {
  std::string key = fmt::format("warpmeter 1\nnvrtc {}\n{}\nsm_{}\nstd {}\n",
                                model::nvrtc_version(), path, options.target(), options.standard);
  for (const auto* list : {&options.includes, &options.defines, &options.flags, &expressions}) {
    key += fmt::format("{}\n", fmt::join(*list, "\n"));
    key += "--\n";
  }
  key += text_of(path);
  for (const std::string& header : model::included_files(path, options.includes)) {
    key += fmt::format("\n== {}\n{}", header, text_of(header));
  }
  return key;
}

/// From the cache, or compiled and kept.
model::Compiled compiled(const std::string& path, const model::CompileOptions& options,
                         const std::vector<std::string>& expressions,
                         std::vector<std::string>& remarks) {
  const std::string key = key_of(path, options, expressions);
  if (auto known = find_compiled(key)) return std::move(*known);
  model::Compiled made = model::compile_source(path, options, expressions, remarks);
  if (made.failure.empty() && made.cubin.empty()) {  // nvcc's, as PTX alone
    const model::KernelFile file = model::kernel_file_of(path, made);
    made.cubin = model::assemble(*file.module).cubin;
  }
  if (made.failure.empty()) keep_compiled(key, made);
  return made;
}

bool is_instance(const std::string& kernel) { return kernel.find('<') != std::string::npos; }

bool has_word(std::string_view text, std::string_view word) {
  bool found = false;
  for_each_word(text, [&](std::size_t, std::string_view other) { found = found || other == word; });
  return found;
}

std::string stem_of(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

}  // namespace

/// Configurations that one compilation serves.
struct CodeBase::Job {
  std::vector<std::size_t> configurations;
  std::vector<std::string> defines, expressions;
  model::Compiled compiled;
  std::vector<std::string> remarks;
  std::exception_ptr error;
};

Unit& CodeBase::add_unit(model::KernelFile file) {
  Unit& unit = units_.emplace_back();
  unit.file = std::move(file);
  unit.name = fmt::format("{}#{}", spec_.name, units_.size());
  unit.source_path = unit.file.path;
  std::error_code ignored;
  if (!unit.source_path.empty()) unit.source = model::source_text(unit.source_path);
  unit.code.arch = arch_;
  if (unit.file.module) {
    unit.code.arch = unit.file.module->target;
    unit.code.ptx = unit.file.module->text;
  }
  const auto* cubin = reinterpret_cast<const unsigned char*>(unit.file.cubin.data());
  unit.code.cubin = {cubin, unit.file.cubin.size()};
  unit.image = {unit.name, unit.source_path, unit.source, std::span(&unit.code, 1)};
  return unit;
}

Kernel CodeBase::kernel_of(const Unit& unit, const Configuration& configuration) const {
  Kernel kernel;
  kernel.unit = &unit;
  const Text& at = configuration.variant->kernel;
  try {
    kernel.entry = model::find_entry(unit.file, configuration.kernel);
  } catch (const Error& error) {
    refuse(spec_, at.line == 0 ? configuration.variant->name : at, error.what());
  }
  const model::ptx::Function* function = unit.file.module->find(kernel.entry);
  if (function != nullptr) kernel.parameters = model::parameters_of(*function);
  kernel.declaration = signature_in(unit.source, readable_name(kernel.entry));
  if (kernel.declaration.empty() && kernel.entry.starts_with("_Z")) {
    kernel.declaration = name_with_parameters(kernel.entry);
  }
  return kernel;
}

std::vector<Kernel> CodeBase::compile_source(const std::vector<Configuration>& configurations,
                                             const Progress& progress) {
  const std::string source = text_of(spec_.source);
  std::vector<Job> jobs;
  std::map<std::vector<std::string>, std::size_t> open;  // defines → the job that has room
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const Configuration& configuration = configurations[i];
    std::vector<std::string> defines = configuration.defines;
    for (const Text& define : configuration.variant->defines) defines.push_back(define.text);
    auto [known, is_new] = open.try_emplace(defines, jobs.size());
    if (!is_new && jobs[known->second].expressions.size() >= most_together) {
      known->second = jobs.size();
      is_new = true;
    }
    if (is_new) {
      jobs.emplace_back();
      jobs.back().defines = defines;
    }
    Job& job = jobs[known->second];
    job.configurations.push_back(i);
    const auto& named = job.expressions;
    const bool is_known =
        std::find(named.begin(), named.end(), configuration.kernel) != named.end();
    if (is_instance(configuration.kernel) && !is_known) {
      job.expressions.push_back(configuration.kernel);
    }
  }

  std::atomic<std::size_t> next = 0, done = 0;
  const auto work = [&](std::vector<Job>& todo) {
    next = 0;
    const auto loop = [&] {
      for (std::size_t i = next++; i < todo.size(); i = next++) {
        Job& job = todo[i];
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
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t t = 1; t < std::min(cores, todo.size()); ++t) threads.emplace_back(loop);
    loop();
  };
  work(jobs);

  // What failed together is tried one by one.
  std::vector<Job> single;
  for (Job& job : jobs) {
    if (job.error || job.compiled.failure.empty() || job.configurations.size() == 1) continue;
    for (const std::size_t i : job.configurations) {
      Job& one = single.emplace_back();
      one.configurations = {i};
      one.defines = job.defines;
      if (is_instance(configurations[i].kernel)) one.expressions = {configurations[i].kernel};
    }
    job.configurations.clear();
  }
  work(single);
  for (Job& job : single) jobs.push_back(std::move(job));

  std::vector<Kernel> kernels(configurations.size());
  for (Job& job : jobs) {
    if (job.error) std::rethrow_exception(job.error);
    if (job.configurations.empty()) continue;
    for (const std::string& remark : job.remarks) {
      if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
        remarks_.push_back(remark);
      }
    }
    if (!job.compiled.failure.empty()) {
      for (const std::size_t i : job.configurations) {
        const Configuration& configuration = configurations[i];
        if (!has_word(source, stem_of(configuration.kernel))) {
          refuse(spec_, configuration.variant->kernel,
                 fmt::format("{} holds no kernel '{}'; warpmeter run {} lists what it holds",
                             spec_.source, configuration.kernel, spec_.source));
        }
        kernels[i].failure =
            fmt::format("{} does not compile:\n{}", spec_.source, job.compiled.failure);
      }
      continue;
    }
    const Unit& unit = add_unit(model::kernel_file_of(spec_.source, std::move(job.compiled)));
    for (const std::size_t i : job.configurations) {
      kernels[i] = kernel_of(unit, configurations[i]);
    }
  }
  return kernels;
}

std::vector<Kernel> CodeBase::compile(const std::vector<Configuration>& configurations,
                                      const Progress& progress) {
  if (spec_.source.ends_with(".cu")) return compile_source(configurations, progress);
  for (const Configuration& configuration : configurations) {
    if (configuration.defines.empty() && configuration.variant->defines.empty()) continue;
    refuse(spec_, configuration.variant->name,
           fmt::format("{} is compiled already, and a define changes nothing of it; give the .cu",
                       spec_.source));
  }
  const Unit& unit =
      add_unit(model::read_kernel_file(spec_.source, spec_.options, {}, spec_.cubin));
  for (const std::string& remark : unit.file.remarks) remarks_.push_back(remark);
  std::vector<Kernel> kernels;
  for (const Configuration& configuration : configurations) {
    kernels.push_back(kernel_of(unit, configuration));
  }
  return kernels;
}

}  // namespace warpmeter::family
