// SPDX-License-Identifier: MIT
// A metric is a quotient of sums of counters. Its error is, to the first order, one of a sum: that
// of the numerator less the quotient times that of the denominator. The errors of both mostly go
// together, so that a quotient is known better than what it is made of.
#include "collector/model/counts/intervals.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "schema/catalogue.h"

namespace warpmeter::model {
namespace {

class Errors {
 public:
  Errors(std::span<const schema::Counter> values, const std::vector<Ran>& grids) : values_(values) {
    for (const Ran& ran : grids) {
      if (!ran.outcome.sampled) continue;
      if (!sampled_) sampled_.emplace();
      *sampled_ += *ran.outcome.sampled;
    }
  }

  bool is_estimated() const { return sampled_.has_value(); }

  /// Adds the interval of a sum of counters, each with its factor, about `value`.
  void add(std::vector<schema::Interval>& all, const std::string& name, double value,
           const std::vector<double>& factors) const {
    double variance = 0;
    for (std::size_t a = 0; a < factors.size(); ++a) {
      if (factors[a] == 0) continue;
      for (std::size_t b = 0; b < factors.size(); ++b) {
        variance += factors[a] * factors[b] * sampled_->covariance[a * factors.size() + b];
      }
    }
    const double half = normal_95 * std::sqrt(std::max(variance, 0.0));
    all.push_back({name, value - half, value + half});
  }

  /// Adds a metric, where it is one of these counters and some of them is an estimate.
  void add(std::vector<schema::Interval>& all, const schema::MetricInfo& metric) const {
    std::vector<double> above(values_.size()), below(values_.size());
    double numerator = 0, denominator = 0;
    bool is_estimate = false;
    const auto read = [&](const std::vector<schema::Term>& terms, std::vector<double>& factors,
                          double& sum) {
      return std::all_of(terms.begin(), terms.end(), [&](const schema::Term& term) {
        const auto found =
            std::find_if(values_.begin(), values_.end(),
                         [&](const schema::Counter& one) { return one.name == term.name; });
        if (found == values_.end() || !found->value) return false;
        factors[static_cast<std::size_t>(found - values_.begin())] += term.factor;
        sum += term.factor * *found->value;
        is_estimate |= is_estimated_counter(found->name);
        return true;
      });
    };
    if (!read(metric.numerator, above, numerator)) return;
    if (!read(metric.denominator, below, denominator)) return;
    if (metric.denominator.empty()) denominator = 1;
    if (denominator == 0 || !is_estimate) return;
    const double quotient = numerator / denominator;
    for (std::size_t i = 0; i < above.size(); ++i) {
      above[i] = metric.scale * (above[i] - quotient * below[i]) / denominator;
    }
    add(all, metric.name, metric.scale * quotient, above);
  }

 private:
  std::span<const schema::Counter> values_;
  std::optional<SampledBlocks> sampled_;
};

}  // namespace

std::vector<schema::Interval> intervals(std::span<const schema::Counter> values,
                                        const std::vector<Ran>& grids) {
  const Errors errors(values, grids);
  std::vector<schema::Interval> all;
  if (!errors.is_estimated()) return all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].value || !is_estimated_counter(values[i].name)) continue;
    std::vector<double> factors(values.size());
    factors[i] = 1;
    errors.add(all, values[i].name, *values[i].value, factors);
  }
  for (const schema::MetricInfo& metric : schema::Catalogue::get().metrics()) {
    if (metric.has_counters()) errors.add(all, metric);
  }
  return all;
}

}  // namespace warpmeter::model
