// SPDX-License-Identifier: MIT
// libwarpmeter for C++: warpmeter.h with exceptions and owners. Needs no other header.
//
//     warpmeter::Meter meter("warpmeter.db");
//     const std::int64_t run = meter.measure([] { launch_something(); });
//     for (double value : meter.values(run, "gld_efficiency")) …
#ifndef WARPMETER_HPP
#define WARPMETER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "warpmeter.h"

namespace warpmeter {

/// A call of the library that failed: one sentence, and an exit code of the program `warpmeter`.
class Failure : public std::runtime_error {
 public:
  explicit Failure(int exit_code)
      : std::runtime_error(warpmeter_message()), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

inline void require(int exit_code) {
  if (exit_code != 0) throw Failure(exit_code);
}

/// Before anything loads CUDA. Throws Failure.
inline void use_model(const std::string& architecture = "sm_90") {
  require(warpmeter_use_model(architecture.c_str()));
}

class Meter {
 public:
  /// Throws Failure, as all functions do.
  explicit Meter(const std::string& database) {
    warpmeter_meter* opened = nullptr;
    require(warpmeter_open(database.c_str(), nullptr, &opened));
    meter_.reset(opened);
  }

  void begin(const std::vector<std::string>& metrics = {}, const std::string& label = "") {
    std::vector<const char*> names;
    for (const std::string& metric : metrics) names.push_back(metric.c_str());
    require(warpmeter_begin(meter_.get(), names.data(), names.size(), label.c_str()));
  }
  /// The run in the database.
  std::int64_t end() {
    std::int64_t run = 0;
    require(warpmeter_end(meter_.get(), &run));
    return run;
  }
  template <class Work>
  std::int64_t measure(const Work& work, const std::vector<std::string>& metrics = {},
                       const std::string& label = "") {
    begin(metrics, label);
    try {
      work();
    } catch (...) {
      std::int64_t run = 0;
      warpmeter_end(meter_.get(), &run);
      throw;
    }
    return end();
  }

  /// One a launch; NAN where there is no value.
  std::vector<double> values(std::int64_t run, const std::string& metric) {
    std::size_t count = 0;
    require(warpmeter_values(meter_.get(), run, metric.c_str(), nullptr, 0, &count));
    std::vector<double> all(count);
    require(warpmeter_values(meter_.get(), run, metric.c_str(), all.data(), all.size(), &count));
    return all;
  }
  /// What all launches cost together; less is better, see warpmeter_cost().
  double cost(std::int64_t run, const std::string& metric) {
    double cost = 0;
    require(warpmeter_cost(meter_.get(), run, metric.c_str(), &cost));
    return cost;
  }
  std::string report(std::int64_t run, const std::string& format = "markdown") {
    char* text = nullptr;
    require(warpmeter_report(meter_.get(), run, format.c_str(), &text));
    return owned(text);
  }
  std::string explain(std::int64_t run, const std::string& format = "table") {
    char* text = nullptr;
    require(warpmeter_explain(meter_.get(), run, format.c_str(), 0, &text));
    return owned(text);
  }

 private:
  struct Close {
    void operator()(warpmeter_meter* meter) const { warpmeter_close(meter); }
  };
  static std::string owned(char* text) {
    std::string copy = text;
    warpmeter_free(text);
    return copy;
  }
  std::unique_ptr<warpmeter_meter, Close> meter_;
};

}  // namespace warpmeter

#endif
