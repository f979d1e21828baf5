// SPDX-License-Identifier: MIT
#include "collector/cli/profile/backend.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "collector/cupti/device.h"
#include "collector/model/counts/block_selection.h"
#include "collector/model/explain/explain.h"

namespace warpmeter::cli {
namespace {

[[noreturn]] void refuse(const char* why) { throw Error(ExitCode::usage, why); }

[[noreturn]] void refuse_without_gpu(const char* option, const char* why) {
  throw Error(ExitCode::no_hardware, fmt::format("{} needs a GPU: the model {}", option, why));
}

/// --blocks samples counts: it says nothing beside what looks at all blocks.
void check_blocks(const ProfileRequest& request) {
  if (request.blocks.empty()) return;
  model::sample_share(request.blocks);
  if (request.checks) refuse("--check looks at every block, and --blocks at some: leave one out");
  if (!request.shapes.empty()) {
    refuse("--shape is for what `explain` says, and --blocks explains nothing: leave one out");
  }
  if (!request.counts() && !request.lines) {
    refuse("--blocks says which blocks are counted: it needs --metrics (@default will do)");
  }
}

void check_for_model(const ProfileRequest& request) {
  if (request.times) refuse_without_gpu("--timing", "has no clock");
  if (request.replays_program()) {
    refuse_without_gpu("--replay application", "counts everything in one run");
  }
  if (!request.trace_file.empty()) {
    throw Error(ExitCode::no_hardware,
                "--trace-out shows when everything ran, and the model has no clock: leave it out, "
                "or use a machine with a GPU");
  }
  for (const std::string& shape : request.shapes) model::explain::parse_shape(shape);
  if (request.checks && !request.shapes.empty()) {
    refuse("--shape is for what `explain` says, and --check explains nothing: leave one out");
  }
  check_blocks(request);
  if (request.pause_dcgm && request.backend != "auto") {
    refuse("--pause-dcgm is for a GPU's counters, and the model uses none: leave one out");
  }
}

}  // namespace

bool is_for_model(const ProfileRequest& request) {
  const bool asks_model = request.checks || !request.arch.empty() || request.model_devices != 1 ||
                          !request.shapes.empty() || !request.blocks.empty();
  const bool is_model = request.backend == "model" ||
                        (request.backend == "auto" && (asks_model || !cupti::has_device()));
  if (is_model) {
    check_for_model(request);
  } else if (asks_model) {
    refuse(
        "--check, --arch, --shape, --blocks and --model-devices are of the model: leave -b cupti "
        "away");
  }
  return is_model;
}

}  // namespace warpmeter::cli
