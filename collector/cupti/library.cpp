// SPDX-License-Identifier: MIT
// A library loads in three small steps: find the file, take every symbol, ask whether it works. The
// first that fails leaves its reason.
#include "collector/cupti/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace warpmeter::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* cupti_file = "libcupti.so.13";
constexpr const char* nvperf_file = "libnvperf_host.so";
constexpr const char* cupti_remedy =
    "install the CUDA 13 toolkit or `pip install nvidia-cuda-cupti`, or put libcupti.so.13 and "
    "libnvperf_host.so next to the program or into LD_LIBRARY_PATH";

void* open_library(const char* file) { return dlopen(file, RTLD_NOW | RTLD_GLOBAL); }

/// Why the last dlopen failed. The file's name comes first in it, so it reads as a clause.
std::string loader_words() {
  const char* words = dlerror();
  return words != nullptr ? words : "the loader gives no reason";
}

/// Fills one pointer; false when the library has no such symbol.
template <class Function>
bool take(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

#define WARPMETER_TAKE(symbol) \
  if (missing == nullptr && !take(library, #symbol, api.symbol)) missing = #symbol;

/// The first symbol that a library lacks, or nullptr.
const char* take_all(void* library, DriverApi& api) {
  const char* missing = nullptr;
  WARPMETER_DRIVER_SYMBOLS(WARPMETER_TAKE)
  return missing;
}
const char* take_all(void* library, CuptiApi& api) {
  const char* missing = nullptr;
  WARPMETER_CUPTI_SYMBOLS(WARPMETER_TAKE)
  return missing;
}
const char* take_all(void* library, NvmlApi& api) {
  const char* missing = nullptr;
  WARPMETER_NVML_SYMBOLS(WARPMETER_TAKE)
#define WARPMETER_TAKE_WHERE_THERE(symbol) take(library, #symbol, api.symbol);
  WARPMETER_LATER_NVML_SYMBOLS(WARPMETER_TAKE_WHERE_THERE)
#undef WARPMETER_TAKE_WHERE_THERE
  return missing;
}
#undef WARPMETER_TAKE

/// The file that a loaded library came from.
std::string path_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

template <class Api>
Loaded<Api> missing(const std::string& failure, const std::string& remedy) {
  Loaded<Api> loaded;
  loaded.failure = failure;
  loaded.remedy = remedy;
  return loaded;
}

Loaded<DriverApi> load_driver() {
  void* library = open_library("libcuda.so.1");
  if (library == nullptr) {
    return missing<DriverApi>("there is no NVIDIA driver here (" + loader_words() + ")",
                              "install the driver, or use the model: `warpmeter run -b model`");
  }
  Loaded<DriverApi> loaded;
  loaded.remedy =
      "install a driver of version 580 or newer, or use the model: `warpmeter run -b model`";
  if (const char* symbol = take_all(library, loaded.api)) {
    loaded.failure = fmt::format("the NVIDIA driver is too old: it has no {}", symbol);
    return loaded;
  }
  loaded.path = path_of(reinterpret_cast<const void*>(loaded.api.cuInit));
  if (const CUresult result = loaded.api.cuInit(0); result != CUDA_SUCCESS) {
    loaded.failure =
        "the NVIDIA driver does not start: cuInit says " + in_words(loaded.api, result);
    loaded.remedy =
        "see whether `nvidia-smi` works and whether this container was given a GPU, or use the "
        "model: `warpmeter run -b model`";
    return loaded;
  }
  int version = 0, devices = 0;
  loaded.api.cuDriverGetVersion(&version);
  loaded.version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  if (version < oldest_driver) {
    loaded.failure =
        "the NVIDIA driver is for CUDA " + loaded.version + ", and CUPTI 13 needs 13.0";
    return loaded;
  }
  if (loaded.api.cuDeviceGetCount(&devices) != CUDA_SUCCESS || devices == 0) {
    loaded.failure = "the NVIDIA driver sees no device";
    loaded.remedy =
        "check CUDA_VISIBLE_DEVICES and `nvidia-smi`, or use the model: `warpmeter run -b model`";
  }
  return loaded;
}

Loaded<NvmlApi> load_nvml() {
  void* library = open_library("libnvidia-ml.so.1");
  if (library == nullptr) {
    return missing<NvmlApi>("NVML is not here (" + loader_words() + ")",
                            "it comes with the NVIDIA driver");
  }
  Loaded<NvmlApi> loaded;
  loaded.remedy = "see whether `nvidia-smi` works";
  if (const char* symbol = take_all(library, loaded.api)) {
    loaded.failure = fmt::format("NVML is too old: it has no {}", symbol);
    return loaded;
  }
  loaded.path = path_of(reinterpret_cast<const void*>(loaded.api.nvmlInit_v2));
  if (const nvmlReturn_t result = loaded.api.nvmlInit_v2(); result != nvml_success) {
    loaded.failure = fmt::format("NVML does not start: {}", loaded.api.nvmlErrorString(result));
    return loaded;
  }
  char version[96] = "";
  loaded.api.nvmlSystemGetDriverVersion(version, sizeof(version));
  loaded.version = version;
  return loaded;
}

/// The directories that match a pattern whose last part may hold one '*': "/usr/local/cuda*".
std::vector<fs::path> glob(const fs::path& pattern) {
  const std::string name = pattern.filename();
  const std::size_t star = name.find('*');
  if (star == std::string::npos) return {pattern};
  const std::string head = name.substr(0, star), tail = name.substr(star + 1);
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(pattern.parent_path(), ignored)) {
    const std::string candidate = entry.path().filename();
    if (candidate.size() >= head.size() + tail.size() && candidate.starts_with(head) &&
        candidate.ends_with(tail)) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.rbegin(), found.rend());  // "cuda-13.1" before "cuda-13.0" before "cuda"
  return found;
}

std::vector<fs::path> split(const std::string& list) {
  std::vector<fs::path> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Collects existing directories, each once.
class Directories {
 public:
  void add(const fs::path& directory) {
    std::error_code ignored;
    const fs::path real = fs::canonical(directory, ignored);
    if (ignored || !fs::is_directory(real, ignored)) return;
    if (std::find(found_.begin(), found_.end(), real) == found_.end()) found_.push_back(real);
  }
  void add_toolkit(const fs::path& toolkit) {
    add(toolkit / "lib64");
    add(toolkit / "extras/CUPTI/lib64");
    add(toolkit / "targets/x86_64-linux/lib");
    add(toolkit / "targets/sbsa-linux/lib");
    add(toolkit / "lib");
  }
  /// pip's packages below a folder such as /usr/local/lib that holds python3.X folders.
  void add_python(const fs::path& library) {
    for (const fs::path& python : glob(library / "python3*")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        add(python / packages / "nvidia/cu13/lib");
        add(python / packages / "nvidia/cuda_cupti/lib");
        add(python / packages / "nvidia/cublas/lib");
      }
    }
  }
  std::vector<fs::path> take() { return std::move(found_); }

 private:
  std::vector<fs::path> found_;
};

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

std::vector<fs::path> cupti_directories(const Environment& environment, const fs::path& program,
                                        const fs::path& root) {
  Directories directories;
  std::error_code ignored;
  if (!program.empty()) directories.add(program.parent_path());
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto toolkit = environment(name)) directories.add_toolkit(*toolkit);
  }
  const std::vector<fs::path> path = split(environment("PATH").value_or(""));
  for (const fs::path& folder : path) {
    const fs::path compiler = fs::canonical(folder / "nvcc", ignored);
    if (!ignored) directories.add_toolkit(compiler.parent_path().parent_path());
  }
  for (const fs::path& toolkit : glob(root / "usr/local/cuda*")) directories.add_toolkit(toolkit);
  for (const fs::path& folder : split(environment("LD_LIBRARY_PATH").value_or(""))) {
    directories.add(folder);
  }
  directories.add(root / "usr/lib/x86_64-linux-gnu");
  directories.add(root / "usr/lib/aarch64-linux-gnu");
  directories.add(root / "usr/lib64");
  for (const fs::path& folder :
       path) {  // a virtual environment's bin/python3 is a link: not followed
    if (fs::exists(folder / "python3", ignored))
      directories.add_python(folder.parent_path() / "lib");
  }
  if (const auto home = environment("HOME")) directories.add_python(fs::path(*home) / ".local/lib");
  directories.add_python(root / "usr/local/lib");
  directories.add_python(root / "usr/lib");
  return directories.take();
}

fs::path cupti_in_use() {
  void* const loaded = dlopen(cupti_file, RTLD_NOLOAD | RTLD_NOW);
  if (loaded == nullptr) return {};
  return fs::path(path_of(dlsym(loaded, "cuptiGetVersion"))).parent_path();
}

std::vector<fs::path> library_directories() {
  std::error_code ignored;
  std::vector<fs::path> directories =
      cupti_directories(process_environment, fs::read_symlink("/proc/self/exe", ignored));
  if (const fs::path in_use = cupti_in_use(); !in_use.empty()) {
    directories.insert(directories.begin(), in_use);
  }
  return directories;
}

fs::path cupti_folder_in(const std::vector<fs::path>& directories) {
  const auto holds = [](const fs::path& directory, const char* file) {
    std::error_code ignored;
    return fs::exists(directory / file, ignored);
  };
  const auto found = std::find_if(directories.begin(), directories.end(), [&](const auto& one) {
    return holds(one, cupti_file) && holds(one, nvperf_file);
  });
  return found != directories.end() ? *found : fs::path();
}

Loaded<CuptiApi> load_cupti(const std::vector<fs::path>& directories, bool search_loader_path,
                            CuptiUse use) {
  std::vector<fs::path> candidates;
  std::error_code ignored;
  for (const fs::path& directory : directories) {
    if (fs::exists(directory / cupti_file, ignored)) candidates.push_back(directory / cupti_file);
  }
  if (search_loader_path) candidates.emplace_back(cupti_file);

  std::string words = "no folder has it";
  for (const fs::path& candidate : candidates) {
    // CUPTI asks for this file by its bare name and finds it only when it is already loaded.
    const fs::path nvperf =
        candidate.has_parent_path() ? candidate.parent_path() / nvperf_file : fs::path(nvperf_file);
    if (use == CuptiUse::counters && open_library(nvperf.c_str()) == nullptr) {
      words = loader_words();
      continue;
    }
    void* library = open_library(candidate.c_str());
    if (library == nullptr) {
      words = loader_words();
      continue;
    }
    Loaded<CuptiApi> loaded;
    loaded.remedy = cupti_remedy;
    if (const char* symbol = take_all(library, loaded.api)) {
      loaded.failure = fmt::format("{} has no {}", candidate.string(), symbol);
      return loaded;
    }
    loaded.path = path_of(reinterpret_cast<const void*>(loaded.api.cuptiGetVersion));
    std::uint32_t version = 0;
    loaded.api.cuptiGetVersion(&version);
    loaded.version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    if (version / 10000 != 13) {
      loaded.failure = fmt::format("{} is version {}, and warpmeter is written for 13", loaded.path,
                                   loaded.version);
    }
    return loaded;
  }
  return missing<CuptiApi>(fmt::format("{} cannot be loaded ({})", cupti_file, words),
                           cupti_remedy);
}

void load_companion(const Loaded<CuptiApi>& cupti) {
  const fs::path companion = fs::path(cupti.path).parent_path() / nvperf_file;
  if (open_library(companion.c_str()) != nullptr) return;
  throw Error(ExitCode::no_hardware, fmt::format("{} cannot be loaded ({}); {}", nvperf_file,
                                                 loader_words(), cupti_remedy));
}

const Loaded<DriverApi>& driver_library() {
  static const Loaded<DriverApi> loaded = load_driver();
  return loaded;
}

const Loaded<CuptiApi>& cupti_library() {
  static const fs::path in_use = cupti_in_use();
  static const Loaded<CuptiApi> loaded =
      in_use.empty() ? load_cupti(library_directories()) : load_cupti({in_use}, false);
  return loaded;
}

const Loaded<NvmlApi>& nvml_library() {
  static const Loaded<NvmlApi> loaded = load_nvml();
  return loaded;
}

std::string in_words(const DriverApi& api, CUresult result) {
  const char *name = nullptr, *words = nullptr;
  if (api.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return fmt::format("error {}", static_cast<int>(result));
  }
  api.cuGetErrorString(result, &words);
  return words == nullptr ? name : fmt::format("{} ({})", name, words);
}

void check(const DriverApi& api, CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  throw Error(ExitCode::no_hardware,
              fmt::format("{} failed: the driver says {}; run `warpmeter doctor`", what,
                          in_words(api, result)));
}

}  // namespace warpmeter::cupti
