// SPDX-License-Identifier: MIT
#include "collector/profile/passes.h"

#include <fmt/format.h>

#include <utility>

#include "base/with_noun.h"
#include "collector/profile/input.h"

namespace warpmeter::profile {
namespace {

Pass pass_of(const Passes& passes, inject::Mode mode, std::size_t i) {
  const int number = static_cast<int>(i) + 1;
  if (i == passes.counters.size()) return {Pass::Kind::times, number, {}};
  const bool counts = mode == inject::Mode::counters;
  return {counts ? Pass::Kind::counters : Pass::Kind::activities, number, passes.counters[i]};
}

inject::Config config_of(const inject::Config& whole, const Pass& pass) {
  inject::Config config = whole;
  config.counters = pass.counters;
  if (pass.kind == Pass::Kind::times) {
    config.mode = inject::Mode::activity;
    // A trace knows no ranges and no order of launches: all are timed, and the chosen ones matched.
    config.selection.skip = config.selection.count = 0;
    config.selection.ranges.clear();
    config.selection.profiling = inject::Profiling::always;
  }
  return config;
}

std::string in_words(const Pass& pass) {
  return pass.kind == Pass::Kind::times ? "clean times"
                                        : with_noun(pass.counters.size(), "counter");
}

}  // namespace

Outcome profile_passes(const Options& options, const inject::Config& config, const Passes& passes,
                       Recorder& recorder) {
  const Input input;
  Outcome first;
  const auto remark = [&](const std::string& text) {
    if (options.remark && passes.size() > 1) options.remark(text);
  };
  for (std::size_t i = 0; i < passes.size() && !recorder.has_failed(); ++i) {
    const Pass pass = pass_of(passes, config.mode, i);
    if (i > 0 && recorder.launches() == 0) break;
    if (first.cancelled) {
      recorder.skip_pass(pass, "stopped before the run of the program that counts it");
      continue;
    }
    remark(fmt::format("run {} of {} of the program: {}{}", pass.number, passes.size(),
                       in_words(pass), i == 1 ? " (only the first run's output is shown)" : ""));
    Options run = options;
    run.socket += std::to_string(pass.number);
    if (i > 0) {
      input.rewind();
      run.streams = {input.can_rewind(), false};
    }
    recorder.begin_pass(pass);
    const Outcome outcome = profile(run, config_of(config, pass), recorder);
    recorder.end_pass(outcome.cancelled || outcome.timed_out);
    if (i == 0) {
      first = outcome;
      continue;
    }
    first.cancelled = first.cancelled || outcome.cancelled;
    if (outcome.timed_out && !first.timed_out) {
      remark(fmt::format("run {} of the program was ended by --timeout, the first was not",
                         pass.number));
    } else if (!outcome.cancelled && outcome.ending != first.ending) {
      remark(fmt::format("run {} of the program {}, the first {}", pass.number,
                         outcome.ending.in_words(), first.ending.in_words()));
    }
  }
  return first;
}

}  // namespace warpmeter::profile
