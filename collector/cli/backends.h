// SPDX-License-Identifier: MIT
// Which backend answers `run`: the GPU where one is usable, else the model; and why.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collector/run/backend.h"

namespace warpmeter::cupti {
struct Options;
}
namespace warpmeter::model {
struct CheckedLaunch;
}

namespace warpmeter::cli {

/// Opens a GPU; cupti::open, but in tests.
using OpenGpu = std::function<std::unique_ptr<run::Backend>(const cupti::Options&)>;

/// The request, as it was typed.
struct BackendRequest {
  std::string backend = "auto";  ///< "auto", "cupti" or "model"
  std::string device;            ///< an ordinal, "all", or empty: the first
  std::string arch;              ///< the arch of the model: "sm_90", "90", or empty: its own choice
  std::int64_t threads = 0;      ///< the threads of the model; 0: all cores
  std::string counts = "auto";   ///< who counts beside a GPU: "gpu", "model", "auto": who can
  std::string blocks;            ///< which blocks the model counts, as --blocks; empty: all
  std::vector<std::string> shapes;  ///< --shape, of the model
  std::map<std::string, std::string>* shaped =
      nullptr;                      ///< arrays of these that kernels had go here
  double timeout_s = 0;             ///< the timeout of a kernel's first launch on a GPU; 0: none
  bool counters = true;             ///< are counters of the hardware wanted?
  bool resources = false;           ///< is anything else than times? Every backend has some of it
  bool timing = true;               ///< are durations wanted?
  bool keeps_instructions = false;  ///< does the model count each instruction?
  bool of_files = false;            ///< kernels that are compiled here, for any architecture
  /// A file of what is to run that is machine code alone (see family/machine_code.h), which the
  /// model does not run; empty: none is.
  std::string machine_code;
  bool has_ptx = true;    ///< for something that is to run
  bool is_apart = false;  ///< for several GPUs each is for a process of its own: open one alone
  std::function<bool()> cancelled;
  std::function<void(model::CheckedLaunch)> checked;  ///< see model::Options
  OpenGpu open_gpu;                                   ///< empty: cupti::open
};

struct Backends {
  std::vector<std::unique_ptr<run::Backend>> opened;  ///< never empty
  std::vector<int> ordinals;  ///< the ordinals of all GPUs to measure on; of a model none
  /// For each of them the model that counts in its place, or null; empty: none does.
  std::vector<std::unique_ptr<run::Backend>> counting;
  std::vector<std::string> notes;  ///< for the person: what answers, and why
};

/// Throws Error{usage} for options that do not go together, Error{no_hardware} when what was asked
/// for is not there: a GPU, permission for counters under `cupti` unless only timing is wanted, a
/// clock when only timing is wanted.
Backends open_backends(const BackendRequest& request);

}  // namespace warpmeter::cli
