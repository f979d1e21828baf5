// SPDX-License-Identifier: MIT
#include "collector/model/input/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/endings.h"
#include "collector/model/input/apart.h"
#include "collector/model/input/compiled_json.h"
#include "collector/model/input/toolkit.h"

namespace warpmeter::model {
namespace {

namespace fs = std::filesystem;

#define WARPMETER_NVRTC_SYMBOLS(X) \
  X(nvrtcCreateProgram)            \
  X(nvrtcDestroyProgram)           \
  X(nvrtcAddNameExpression)        \
  X(nvrtcCompileProgram)           \
  X(nvrtcGetLoweredName)           \
  X(nvrtcGetProgramLogSize)        \
  X(nvrtcGetProgramLog)            \
  X(nvrtcGetPTXSize)               \
  X(nvrtcGetPTX)                   \
  X(nvrtcGetCUBINSize)             \
  X(nvrtcGetCUBIN)                 \
  X(nvrtcGetErrorString)           \
  X(nvrtcVersion)                  \
  X(nvrtcGetNumSupportedArchs)     \
  X(nvrtcGetSupportedArchs)

struct Api {
#define WARPMETER_DECLARE(symbol) decltype(&::symbol) symbol = nullptr;
  WARPMETER_NVRTC_SYMBOLS(WARPMETER_DECLARE)
#undef WARPMETER_DECLARE
  std::string failure;  ///< why it cannot be used
};

/// The library under any of the names that it has had, in a toolkit or where the loader looks.
void* open_library() {
  constexpr const char* files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  for (const fs::path& folder : toolkit_folders()) {
    for (const char* inside : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      for (const char* file : files) {
        const fs::path path = folder / inside / file;
        std::error_code ignored;
        if (!fs::exists(path, ignored)) continue;
        if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      }
    }
  }
  for (const char* file : files) {
    if (void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

Api load() {
  Api api;
  void* library = open_library();
  if (library == nullptr) {
    api.failure =
        "NVRTC (libnvrtc.so) is not here: install the CUDA toolkit or set CUDA_HOME to where it "
        "is, or compile elsewhere with `nvcc -ptx -lineinfo` and give the .ptx";
    return api;
  }
  const auto take = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (function == nullptr) {
      api.failure = fmt::format(
          "NVRTC is too old, it has no {}: install CUDA 12 or newer, or give the .ptx", symbol);
    }
  };
#define WARPMETER_TAKE(symbol) take(api.symbol, #symbol);
  WARPMETER_NVRTC_SYMBOLS(WARPMETER_TAKE)
#undef WARPMETER_TAKE
  return api;
}

/// The library is loaded once and never unloaded.
const Api& nvrtc() {
  static const Api api = load();
  return api;
}

struct Destroy {
  void operator()(nvrtcProgram program) const { nvrtc().nvrtcDestroyProgram(&program); }
};
using CompiledProgram = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy>;

std::string log_of(nvrtcProgram program, nvrtcResult result) {
  std::size_t bytes = 0;
  std::string log;
  if (nvrtc().nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 1) {
    log.resize(bytes);
    nvrtc().nvrtcGetProgramLog(program, log.data());
    log.resize(log.find_last_not_of(std::string("\n\0", 2)) + 1);
  }
  if (log.empty()) log = nvrtc().nvrtcGetErrorString(result);
  return log;
}

std::vector<std::string> words_of(const std::string& path, const CompileOptions& options) {
  std::vector<std::string> words = {fmt::format("--gpu-architecture=sm_{}", options.target()),
                                    "--generate-line-info"};
  if (!options.standard.empty()) words.push_back("--std=" + options.standard);
  const fs::path folder = fs::path(path).parent_path();
  words.push_back("--include-path=" + (folder.empty() ? "." : folder.string()));
  for (const std::string& include : options.includes) words.push_back("--include-path=" + include);
  for (const std::string& define : options.defines) words.push_back("--define-macro=" + define);
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  for (const fs::path& include : toolkit_includes()) {
    words.push_back("--include-path=" + include.string());
  }
  return words;
}

}  // namespace

std::string nvrtc_unavailable() { return nvrtc().failure; }

std::string nvrtc_version() {
  int major = 0, minor = 0;
  if (!nvrtc().failure.empty() || nvrtc().nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return "";
  return fmt::format("{}.{}", major, minor);
}

std::vector<int> nvrtc_architectures() {
  const Api& api = nvrtc();
  int count = 0;
  if (!api.failure.empty() || api.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS) return {};
  std::vector<int> known(static_cast<std::size_t>(count));
  if (api.nvrtcGetSupportedArchs(known.data()) != NVRTC_SUCCESS) return {};
  return known;
}

namespace {

Compiled compile_here(const std::string& path, const std::string& source,
                      const CompileOptions& options, const std::vector<std::string>& expressions) {
  const Api& api = nvrtc();
  Compiled compiled;
  nvrtcProgram created = nullptr;
  nvrtcResult result = api.nvrtcCreateProgram(&created, source.c_str(), operand_of(path).c_str(), 0,
                                              nullptr, nullptr);
  const CompiledProgram program(created);
  for (const std::string& expression : expressions) {
    if (result == NVRTC_SUCCESS) result = api.nvrtcAddNameExpression(created, expression.c_str());
  }
  const std::vector<std::string> words = words_of(path, options);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  if (result == NVRTC_SUCCESS) {
    result = api.nvrtcCompileProgram(created, static_cast<int>(pointers.size()), pointers.data());
  }
  if (result != NVRTC_SUCCESS) {
    compiled.failure = created != nullptr ? log_of(created, result) : "NVRTC took no program";
    return compiled;
  }
  std::size_t bytes = 0;
  if (api.nvrtcGetPTXSize(created, &bytes) == NVRTC_SUCCESS) {
    compiled.ptx.resize(bytes);
    api.nvrtcGetPTX(created, compiled.ptx.data());
    compiled.ptx.resize(compiled.ptx.find('\0') == std::string::npos ? bytes
                                                                     : compiled.ptx.find('\0'));
  }
  if (api.nvrtcGetCUBINSize(created, &bytes) == NVRTC_SUCCESS && bytes > 0) {
    compiled.cubin.resize(bytes);
    api.nvrtcGetCUBIN(created, reinterpret_cast<char*>(compiled.cubin.data()));
  }
  for (const std::string& expression : expressions) {
    const char* name = nullptr;
    if (api.nvrtcGetLoweredName(created, expression.c_str(), &name) == NVRTC_SUCCESS) {
      compiled.named[expression] = name;
    }
  }
  return compiled;
}

}  // namespace

// NVRTC handles SIGINT and SIGTERM while it compiles, by exit(4). In other people's programs it
// may: they called it.
Compiled compile_with_nvrtc(const std::string& path, const std::string& source,
                            const CompileOptions& options,
                            const std::vector<std::string>& expressions) {
  if (!catches_endings()) return compile_here(path, source, options, expressions);
  nvrtc();  // the library is loaded once, not in each child
  const auto answer = work_apart([&] {
    const auto bytes =
        nlohmann::json::to_cbor(json_of(compile_here(path, source, options, expressions)));
    return std::string(bytes.begin(), bytes.end());
  });
  if (answer) return compiled_of(nlohmann::json::from_cbor(*answer));
  Compiled compiled;
  compiled.failure = "NVRTC ended without an answer; it may have run out of memory";
  return compiled;
}

}  // namespace warpmeter::model
