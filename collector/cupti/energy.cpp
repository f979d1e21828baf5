// SPDX-License-Identifier: MIT
#include "collector/cupti/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warpmeter::cupti {
namespace {

constexpr std::array<std::string_view, 6> energy_counter_names = {
    "energy", "mean_power", "peak_power", "idle_power", "busy_sm_clock", "busy_temperature"};
constexpr double poll_s = 0.0005, batch_s = 0.02;
constexpr std::size_t batches_ahead = 2, most_launches = 1 << 20;

/// The mean of what is known.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ > 0 ? std::optional<double>(sum_ / count_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

/// The moves of the counter since a first one. A move was seen at `time_s`, `late_s` at most after
/// it happened.
class Moves {
 public:
  /// The power since the move before; nullopt for the first.
  std::optional<double> add(double time_s, double late_s, double energy_j) {
    std::optional<double> power_w;
    if (!first_) first_ = {time_s, late_s, energy_j};
    if (last_) {
      power_w = (energy_j - last_->energy_j) / (time_s - last_->time_s);
      peak_w_ = std::max(peak_w_, *power_w);
    }
    last_ = {time_s, late_s, energy_j};
    return power_w;
  }

  double seconds() const { return first_ ? last_->time_s - first_->time_s : 0; }
  double mean_w() const { return (last_->energy_j - first_->energy_j) / seconds(); }
  double peak_w() const { return peak_w_; }
  double relative_doubt() const { return (first_->late_s + last_->late_s) / 2 / seconds(); }

 private:
  struct Move {
    double time_s = 0, late_s = 0, energy_j = 0;
  };
  std::optional<Move> first_, last_;
  double peak_w_ = 0;
};

/// Keeps a device busy with batches of equal size, and knows the time of a launch.
class Repeater {
 public:
  Repeater(const PowerSource& source, const Load& load, const std::function<bool()>& cancelled)
      : source_(source), load_(load) {
    launches_ = launches_of_batch(cancelled);
    begun_ = load_.batches_done();
    done_ = begun_;
  }

  /// To be called often: begins what is missing, and notes what has ended.
  void go_on() {
    const std::size_t done = load_.batches_done();
    if (done > done_) note(done);
    while (begun_ < done + batches_ahead) {
      load_.begin_batch(launches_);
      ++begun_;
    }
  }

  /// Forgets the batches before now.
  void start_over() { first_.reset(); }

  double launch_s() const {
    if (!first_ || last_.batch == first_->batch) return 0;
    return (last_.time_s - first_->time_s) /
           static_cast<double>((last_.batch - first_->batch) * launches_);
  }

  void finish() const {
    while (load_.batches_done() < begun_) source_.wait(poll_s);
  }

 private:
  struct Ended {
    std::size_t batch = 0;
    double time_s = 0;
  };

  void note(std::size_t done) {
    done_ = done;
    last_ = {done, load_.end_s()};
    if (!first_) first_ = last_;
  }

  /// As many launches as take some 20 ms.
  std::size_t launches_of_batch(const std::function<bool()>& cancelled) const {
    for (std::size_t launches = 1;; launches *= 2) {
      const double begin = source_.now_s();
      const std::size_t done = load_.batches_done();
      load_.begin_batch(launches);
      while (load_.batches_done() == done) source_.wait(poll_s / 10);
      const double took = source_.now_s() - begin;
      if (cancelled() || took >= batch_s / 2 || launches >= most_launches) return launches;
    }
  }

  const PowerSource& source_;
  const Load& load_;
  std::size_t launches_ = 1, begun_ = 0, done_ = 0;
  std::optional<Ended> first_;
  Ended last_;
};

schema::Counter without_value(std::string_view name, const std::string& reason) {
  return {std::string(name), std::nullopt, schema::Grade::unavailable, reason};
}

schema::Counter with_value(std::string_view name, const std::optional<double>& value) {
  if (!value) return without_value(name, "NVML does not tell it on this card");
  return {std::string(name), value, schema::Grade::measured, ""};
}

}  // namespace

bool is_energy_counter(std::string_view name) {
  return std::find(energy_counter_names.begin(), energy_counter_names.end(), name) !=
         energy_counter_names.end();
}

SteadyPower watch_power(const PowerSource& source, const Load* load, const EnergyRule& rule,
                        const std::function<bool()>& cancelled) {
  SteadyPower steady;
  std::optional<double> known_j = source.energy_j();
  if (!known_j) {
    steady.failure = "NVML reads no energy counter of this card";
    return steady;
  }
  std::optional<Repeater> repeater;
  if (load != nullptr) repeater.emplace(source, *load, cancelled);
  Moves moves;
  Mean clock, temperature;
  bool has_first = false;
  const double begin_s = source.now_s();
  for (double looked_s = begin_s; looked_s - begin_s < rule.longest_s;) {
    if (cancelled()) steady.failure = "stopped before its energy was measured";
    if (!steady.failure.empty()) break;
    if (repeater) repeater->go_on();
    const double before_s = looked_s;
    const std::optional<double> energy_j = source.energy_j();
    looked_s = source.now_s();
    if (energy_j == known_j) {
      source.wait(poll_s);
      continue;
    }
    known_j = energy_j;
    if (!energy_j || looked_s - begin_s < rule.settle_s) continue;
    if (!has_first && repeater) repeater->start_over();
    has_first = true;
    const auto power_w = moves.add(looked_s, looked_s - before_s, *energy_j);
    const auto clock_mhz = source.sm_clock_mhz(), celsius = source.temperature_c();
    clock.add(clock_mhz);
    temperature.add(celsius);
    if (power_w) steady.samples.push_back({looked_s - begin_s, *power_w, clock_mhz, celsius});
    if (moves.seconds() >= rule.shortest_s && moves.relative_doubt() <= rule.relative_doubt) break;
  }
  if (repeater) repeater->finish();
  if (steady.failure.empty() && moves.seconds() <= 0) {
    steady.failure = "NVML's energy counter did not move";
  }
  if (!steady.failure.empty()) return steady;
  steady.mean_w = moves.mean_w();
  steady.peak_w = moves.peak_w();
  steady.half_width_w = steady.mean_w * moves.relative_doubt();
  steady.sm_clock_mhz = clock.value();
  steady.temperature_c = temperature.value();
  if (repeater) {
    steady.launch_s = repeater->launch_s();
    if (steady.launch_s <= 0) steady.failure = "a launch takes longer than NVML was watched";
  }
  return steady;
}

std::vector<schema::Counter> energy_counters(const SteadyPower& busy, const SteadyPower* restoring,
                                             const SteadyPower& idle) {
  std::string failure = !busy.failure.empty() ? busy.failure : idle.failure;
  if (restoring != nullptr && failure.empty()) failure = restoring->failure;
  std::vector<schema::Counter> counters;
  if (!failure.empty()) {
    for (const std::string_view name : energy_counter_names)
      counters.push_back(without_value(name, failure));
    return counters;
  }
  double joules = (busy.mean_w - idle.mean_w) * busy.launch_s;
  double doubt = std::hypot(busy.half_width_w, idle.half_width_w) * busy.launch_s;
  if (restoring != nullptr) {
    joules -= (restoring->mean_w - idle.mean_w) * restoring->launch_s;
    doubt = std::hypot(
        doubt, std::hypot(restoring->half_width_w, idle.half_width_w) * restoring->launch_s);
  }
  if (joules <= 2 * doubt) {
    const double busy_j = (busy.mean_w - idle.mean_w) * busy.launch_s;
    const bool is_mostly_restoring = restoring != nullptr && busy_j > 2 * doubt;
    counters.push_back(without_value(
        energy_counter_names[0],
        is_mostly_restoring
            ? fmt::format("restoring its input takes {:.2g} J of {:.2g} J: the rest is too small "
                          "to be known",
                          busy_j - joules, busy_j)
            : fmt::format("repeating it took {:.1f} W where the idle card takes {:.1f} W: the "
                          "difference is too small to be known",
                          busy.mean_w, idle.mean_w)));
  } else {
    counters.push_back({std::string(energy_counter_names[0]), joules, schema::Grade::measured,
                        fmt::format("known to {:.1f} %, without the card's idle power of {:.1f} W",
                                    100 * doubt / joules, idle.mean_w)});
  }
  counters.push_back(with_value(energy_counter_names[1], busy.mean_w));
  counters.push_back(with_value(energy_counter_names[2], busy.peak_w));
  counters.push_back(with_value(energy_counter_names[3], idle.mean_w));
  counters.push_back(with_value(energy_counter_names[4], busy.sm_clock_mhz));
  counters.push_back(with_value(energy_counter_names[5], busy.temperature_c));
  return counters;
}

std::vector<schema::Counter> in_order(std::span<const std::string> asked_for,
                                      const std::vector<schema::Counter>& events,
                                      const std::vector<schema::Counter>& energy) {
  std::vector<schema::Counter> all;
  for (const std::string& name : asked_for) {
    const auto& from = is_energy_counter(name) ? energy : events;
    const auto found = std::find_if(from.begin(), from.end(),
                                    [&](const auto& counter) { return counter.name == name; });
    all.push_back(found != from.end() ? *found
                                      : without_value(name, "stopped before it was measured"));
  }
  return all;
}

}  // namespace warpmeter::cupti
