// SPDX-License-Identifier: MIT
// One range is open in a process at most: CUDA's calls come from any thread and belong to none.
#include "collector/library/meter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/named_files.h"
#include "base/temporary.h"
#include "collector/cli/request/run_record.h"
#include "collector/cupti/device.h"
#include "collector/cupti/diagnose.h"
#include "collector/cupti/passes.h"
#include "collector/library/gpu_session.h"
#include "collector/library/injected.h"
#include "collector/library/range.h"
#include "collector/model/input/compile_options.h"
#include "collector/model/input/toolkit.h"
#include "schema/catalogue.h"
#include "schema/file_locks.h"

namespace warpmeter::library {
namespace {

namespace fs = std::filesystem;

constexpr const char* counting_takes_longer =
    "not timed: reading counters takes longer than the launch";

/// Never destroyed: other threads may measure while the process ends.
struct Shared {
  std::mutex mutex;
  std::optional<Injected> model;
  std::optional<int> model_arch;  ///< nullopt: a GPU executes
  std::unique_ptr<GpuSession> gpu;
  std::vector<schema::Device> devices;
  inject::Config config;
  std::unique_ptr<Range> range;      ///< null too while it begins or ends
  const Meter* measuring = nullptr;  ///< only its calls use what is above, without the lock
};
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
}

/// With the lock. Throws Error{usage} where a range or `warpmeter profile` measures already.
void require_unmeasured() {
  if (shared().measuring != nullptr) {
    throw Error(ExitCode::usage, "a range is open already in this process: end it first");
  }
  if (std::getenv(inject::socket_variable) != nullptr) {
    throw Error(ExitCode::usage,
                "`warpmeter profile` measures this process already: start it without");
  }
}

/// The open range of the meter, which ends now; null where it has none.
std::unique_ptr<Range> take_range(const Meter* meter) {
  const std::lock_guard lock(shared().mutex);
  return shared().measuring == meter ? std::move(shared().range) : nullptr;
}

/// Lets other meters measure. Ranges begin and end without the lock: both wait for work of the
/// program, which may call this library in turn.
struct Release {
  bool is_due = true;
  ~Release() {
    if (!is_due) return;
    const std::lock_guard lock(shared().mutex);
    shared().measuring = nullptr;
  }
};

void add_project(std::vector<std::string>& folders, const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (!error && fs::is_directory(whole, error)) folders.push_back(project_folder(whole).string());
}

/// The toolkit's sources, which are looked for once: PATH may be long.
const std::vector<std::string>& toolkit_sources() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> folders;
    for (const fs::path& toolkit : model::toolkit_folders()) {
      folders.push_back((toolkit / "include").string());
      folders.push_back((toolkit / "targets").string());
    }
    return folders;
  }();
  return found;
}

/// The sources that may be read: the project's that is worked in, the program's, the toolkit's.
std::vector<std::string> source_folders(const fs::path& program) {
  std::vector<std::string> folders;
  add_project(folders, ".");
  if (program.has_parent_path()) add_project(folders, program.parent_path());
  folders.insert(folders.end(), toolkit_sources().begin(), toolkit_sources().end());
  folders.emplace_back("/usr/include");
  return folders;
}

/// Without folders of sources, which only the first range on a GPU needs.
inject::Config config_of(std::span<const std::string> metrics) {
  static const std::string standard[] = {"@default"};
  inject::Config config;
  config.mode = inject::Mode::counters;
  config.counters =
      schema::Catalogue::get().counters_for(metrics.empty() ? std::span(standard) : metrics);
  return config;
}

void check_permission() {
  if (const std::string refusal = cupti::counters_refusal(); !refusal.empty()) {
    throw Error(ExitCode::no_hardware, refusal);
  }
}

/// The GPU of this machine, from the first range on. CUPTI is planned once for a process.
GpuSession& gpu_session(inject::Config config, const fs::path& program) {
  Shared& all = shared();
  if (all.gpu != nullptr) {
    if (all.gpu->counters() == config.counters) return *all.gpu;
    throw Error(ExitCode::usage,
                "on a GPU all ranges of a process have the metrics of the first: ask for all that "
                "you need there");
  }
  if (!cupti::has_device()) {
    throw Error(ExitCode::no_hardware,
                "there is no GPU here: call use_model() before CUDA is loaded, and the model "
                "executes the kernels");
  }
  check_permission();
  config.source_folders = source_folders(program);
  config.cupti_directory = cupti::cupti_folder();
  config.selection.profiling = inject::Profiling::off;
  clear_left_folders();  // a session's stays when its process ends
  all.devices = cupti::devices();
  all.gpu = std::make_unique<GpuSession>(gpu_functions(), std::move(config));
  return *all.gpu;
}

void complete(schema::Device& device) {
  for (const schema::Device& whole : shared().devices) {
    if (whole.uuid == device.uuid) device = whole;
  }
}

/// Device and inode; zeros where there is no such file.
std::pair<std::uint64_t, std::uint64_t> file_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

profile::RecorderOptions recording_of(std::shared_ptr<schema::Store> store, const fs::path& program,
                                      const std::string& label) {
  const bool is_model = shared().model_arch.has_value();
  profile::RecorderOptions options;
  options.store = std::move(store);
  options.run = cli::run_record(is_model ? "model" : "cupti", program.string(), label);
  options.program = program.filename().string();
  if (is_model) {
    options.timing_reason = profile::no_clock;
  } else {
    options.timing_reason = counting_takes_longer;
    options.complete = complete;
  }
  return options;
}

}  // namespace

void use_model(std::string_view architecture) {
  const int arch = model::checked_arch("use_model", architecture);
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.model_arch == arch) return;
  if (all.model_arch) {
    throw Error(ExitCode::usage, fmt::format("the model executes as sm_{} already: an architecture "
                                             "is chosen once in a process",
                                             *all.model_arch));
  }
  require_unmeasured();
  if (all.gpu != nullptr) {
    throw Error(ExitCode::usage, "a GPU is measured already: choose the model before");
  }
  all.model = Injected::model(arch);
  all.model_arch = arch;
}

const char* libcuda_folder() {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  return all.model ? all.model->libcuda_folder().c_str() : "";
}

void keep_source(const char* file, const char* text) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.model) all.model->keep_source(file, text);
}

Meter::Meter(std::string database, std::string program)
    : database_(std::move(database)), program_(std::move(program)) {
  schema::lock_by_open_file();  // the program may read the database by a SQLite of its own
  store();
}

const std::shared_ptr<schema::Store>& Meter::store() {
  if (store_ == nullptr || file_of(database_) != file_) {
    store_ = nullptr;  // locks the index of a log that a file of the same name has too
    store_ = std::make_shared<schema::Store>(database_);
    file_ = file_of(database_);
  }
  return store_;
}

Meter::~Meter() {
  std::unique_ptr<Range> range = take_range(this);
  if (range == nullptr) return;
  const Release release;
  range = nullptr;
}

void Meter::begin(std::span<const std::string> metrics, const std::string& label) {
  inject::Config config = config_of(metrics);
  Shared& all = shared();
  {
    const std::lock_guard lock(all.mutex);
    require_unmeasured();
    all.measuring = this;
  }
  Release release;
  profile::RecorderOptions options = recording_of(store(), program_, label);
  std::unique_ptr<Range> range;
  if (all.model_arch) {
    config.arch = static_cast<std::uint32_t>(*all.model_arch);
    config.source_folders = source_folders(program_);
    all.config = std::move(config);
    range = std::make_unique<ModelRange>(*all.model, all.config, std::move(options));
  } else {
    range =
        std::make_unique<GpuRange>(gpu_session(std::move(config), program_), std::move(options));
  }
  const std::lock_guard lock(all.mutex);
  all.range = std::move(range);
  release.is_due = false;
}

void Meter::end(std::int64_t& run) {
  const std::unique_ptr<Range> range = take_range(this);
  if (range == nullptr) throw Error(ExitCode::usage, "no range of this meter is open");
  const Release release;
  Ended ended = range->end();
  {
    const std::lock_guard lock(shared().mutex);
    remarks_ = std::move(ended.remarks);
    uuid_ = ended.run ? store_->uuid_of(*ended.run) : "";
  }
  if (!ended.run) {
    throw Error(ExitCode::nothing,
                remarks_.empty() ? "no kernel was launched in the range"
                                 : "no launch was measured in the range: " + remarks_.front());
  }
  if (file_of(database_) != file_) {
    throw Error(ExitCode::file, fmt::format("{} was removed or replaced within the range, and what "
                                            "was measured is lost: measure again",
                                            database_));
  }
  run = *ended.run;
  if (!ended.failure.empty()) throw Error(ExitCode::kernel, "a kernel failed: " + ended.failure);
}

std::string Meter::uuid() const {
  const std::lock_guard lock(shared().mutex);
  return uuid_;
}

std::string Meter::remarks() const {
  const std::lock_guard lock(shared().mutex);
  return fmt::format("{}", fmt::join(remarks_, "\n"));
}

}  // namespace warpmeter::library
