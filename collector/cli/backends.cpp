// SPDX-License-Identifier: MIT
#include "collector/cli/backends.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/error.h"
#include "collector/cli/arguments.h"
#include "collector/cupti/backend.h"
#include "collector/cupti/device.h"
#include "collector/family/machine_code.h"
#include "collector/model/counts/block_selection.h"
#include "collector/model/session/backend.h"

namespace warpmeter::cli {
namespace {

int arch_of(std::string_view text) {
  constexpr std::string_view prefix = "sm_";
  const std::string_view digits =
      text.substr(0, prefix.size()) == prefix ? text.substr(prefix.size()) : text;
  constexpr int most = 999;
  try {
    return static_cast<int>(whole_number("--arch", digits, 10, most));
  } catch (const Error&) {
    throw Error(ExitCode::usage,
                fmt::format("--arch takes an architecture such as sm_90, not '{}'", text));
  }
}

/// The ordinals that --device names; nullopt: all that there are.
std::optional<int> ordinal_of(const std::string& text) {
  if (text == "all") return std::nullopt;
  if (text.empty()) return 0;
  constexpr int most = 1023;
  return static_cast<int>(whole_number("--device", text, 0, most));
}

void check(const BackendRequest& request) {
  const bool of_model = !request.arch.empty() || request.threads != 0;
  if (request.backend == "cupti" && of_model) {
    throw Error(ExitCode::usage, "--arch and --threads are of the model: give them with -b model");
  }
  if (request.backend != "cupti" && of_model && !request.device.empty()) {
    throw Error(ExitCode::usage,
                "--device chooses a GPU, --arch and --threads are of the model: give one or the "
                "other");
  }
  if (request.backend == "model" && !request.device.empty()) {
    throw Error(ExitCode::usage, "--device chooses a GPU, and -b model uses none: leave one out");
  }
  if (request.counts == "gpu" && request.backend == "model") {
    throw Error(ExitCode::usage, "--counts gpu needs a GPU, and -b model uses none: leave one out");
  }
  if (request.counts == "gpu" && of_model) {
    throw Error(ExitCode::usage,
                "--counts gpu needs a GPU, and --arch and --threads are of the model: give one or "
                "the other");
  }
  if (!request.blocks.empty()) {
    model::sample_share(request.blocks);
    if (request.backend == "cupti" && request.counts != "model") {
      throw Error(ExitCode::usage,
                  "--blocks samples the model's counts, and a GPU counts all blocks: leave it out, "
                  "or give -b model");
    }
  }
  ordinal_of(request.device);
  if (request.machine_code.empty()) return;
  if (request.backend == "model" || of_model) {
    throw Error(ExitCode::usage, family::without_ptx(request.machine_code));
  }
  if (request.counts == "model") {
    throw Error(ExitCode::usage,
                family::without_ptx(request.machine_code) + ", or leave out --counts model");
  }
}

model::Options options_of_model(const BackendRequest& request) {
  model::Options options;
  options.threads = static_cast<unsigned>(request.threads);
  options.cancelled = request.cancelled;
  for (const std::string& text : request.shapes) {
    options.shapes.push_back(model::explain::parse_shape(text));
  }
  options.shaped = request.shaped;
  options.checked = request.checked;
  options.blocks = request.blocks;
  options.keeps_instructions = request.keeps_instructions;
  return options;
}

std::unique_ptr<run::Backend> open_model(const BackendRequest& request) {
  model::Options options = options_of_model(request);
  if (!request.arch.empty()) options.arch = arch_of(request.arch);
  options.is_embedded = !request.of_files;
  return model::open(options);
}

Backends open_hardware(const BackendRequest& request) {
  Backends backends;
  std::vector<int>& ordinals = backends.ordinals;
  if (const std::optional<int> ordinal = ordinal_of(request.device)) {
    ordinals.push_back(*ordinal);
  } else {
    for (const schema::Device& device : cupti::devices()) {
      ordinals.push_back(device.ordinal);
      backends.notes.push_back(fmt::format("measuring on {}", device.name));
    }
    if (ordinals.empty()) ordinals.push_back(0);  // open() says what is missing
  }
  for (const int ordinal : ordinals) {
    if (request.is_apart && !backends.opened.empty()) break;
    cupti::Options options;
    options.ordinal = ordinal;
    options.cancelled = request.cancelled;
    options.timeout_s = request.timeout_s;
    backends.opened.push_back(request.open_gpu ? request.open_gpu(options) : cupti::open(options));
  }
  if (backends.notes.empty()) {
    backends.notes.push_back(fmt::format("measuring on {}", backends.opened[0]->device().name));
  }
  return backends;
}

/// The model, for the counts of a GPU's launches: on the GPU's own architecture.
std::unique_ptr<run::Backend> open_counting(const BackendRequest& request,
                                            const run::Backend& gpu) {
  model::Options options = options_of_model(request);
  options.arch = gpu.device().compute_capability;
  options.is_embedded = false;
  return model::open(options);
}

/// Each backend's gaps, and who counts in its place. The first that lacks something decides:
/// devices of one machine differ in that at most by their MIG mode.
void check_abilities(const BackendRequest& request, Backends& backends) {
  for (const auto& backend : backends.opened) {
    const std::string& name = backend->device().name;
    const std::string no_timing = backend->timing_unavailable();
    const bool wants_more = request.counters || request.resources;
    if (request.timing && !wants_more && !no_timing.empty()) {
      throw Error(ExitCode::no_hardware,
                  fmt::format("only times were asked for, and {} gives none: {}", name, no_timing));
    }
    const bool is_model = backend->device().backend == "model";
    const std::string no_counters = is_model ? "" : backend->counters_unavailable();
    const bool asks_model = request.counts == "model" && !is_model;
    if (!request.counters || (no_counters.empty() && !asks_model)) continue;
    const bool may_ask_model = request.counts == "auto" && request.backend == "auto";
    if (may_ask_model && request.timing && !request.has_ptx) {
      backends.notes.push_back(fmt::format(
          "{} gives the times, and nobody counts: its counters are unavailable ({}), and {}", name,
          no_counters, family::without_ptx(request.machine_code)));
      continue;
    }
    if (!asks_model && (!may_ask_model || !request.timing)) {
      throw Error(
          ExitCode::no_hardware,
          fmt::format("{} does not give its counters: {}; {}--timing-only measures without", name,
                      no_counters, request.has_ptx ? "--counts model has the model count, " : ""));
    }
    backends.counting.resize(backends.opened.size());
    auto& counting = backends.counting[static_cast<std::size_t>(&backend - backends.opened.data())];
    counting = open_counting(request, *backend);
    backends.notes.push_back(fmt::format(
        "{} gives the times and {} the counts{}{}", name, counting->device().name,
        no_counters.empty() ? "" : ", since the GPU's counters are unavailable: ", no_counters));
  }
}

/// The reason without what to do.
std::string reason_of(const Error& no_gpu) {
  const std::string words = no_gpu.what();
  return words.substr(0, words.find("; "));
}

/// There is no GPU, and the model cannot answer in its place.
void refuse_machine_code(const BackendRequest& request, const Error& no_gpu) {
  if (request.machine_code.empty()) return;
  throw Error(ExitCode::no_hardware,
              fmt::format("{} (no GPU is usable: {})", family::without_ptx(request.machine_code),
                          reason_of(no_gpu)));
}

/// There is no GPU, and the model may not count in its place.
void refuse_counts(const BackendRequest& request, const Error& no_gpu) {
  if (request.counts != "gpu") return;
  throw Error(ExitCode::no_hardware,
              fmt::format("no GPU is usable ({}), and --counts gpu needs one: leave it out, or say "
                          "--counts model, and the model counts",
                          reason_of(no_gpu)));
}

Backends choose(const BackendRequest& request) {
  Backends backends;
  const bool model_only = !request.arch.empty() || request.threads != 0;
  if (request.backend == "model" || model_only) {
    backends.opened.push_back(open_model(request));
    if (request.backend == "auto") {
      backends.notes.push_back(
          fmt::format("{} answers, since --arch and --threads are of the model",
                      backends.opened.front()->device().name));
    }
    return backends;
  }
  try {
    backends = open_hardware(request);
  } catch (const Error& error) {
    if (error.code() != ExitCode::no_hardware) throw;
    refuse_machine_code(request, error);
    if (request.backend == "cupti" || !request.device.empty()) throw;
    refuse_counts(request, error);
    backends = {};
    backends.opened.push_back(open_model(request));
    backends.notes.push_back(fmt::format("{} answers, since no GPU is usable: {}",
                                         backends.opened.front()->device().name, reason_of(error)));
  }
  return backends;
}

}  // namespace

Backends open_backends(const BackendRequest& request) {
  check(request);
  Backends backends = choose(request);
  check_abilities(request, backends);
  const bool explains =
      !backends.counting.empty() || backends.opened.front()->device().backend == "model";
  if (!request.blocks.empty() && !explains) {
    throw Error(ExitCode::usage,
                "--blocks samples the model's counts, and the GPU counts here: leave it out, or "
                "give -b model");
  }
  if (!request.shapes.empty() && !explains) {
    throw Error(ExitCode::usage,
                "--shape is for what the model explains: give -b model, or --counts model beside a "
                "GPU");
  }
  return backends;
}

}  // namespace warpmeter::cli
