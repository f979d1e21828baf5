// SPDX-License-Identifier: MIT
#include "collector/model/counts/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "collector/model/counts/count_fields.h"
#include "collector/model/counts/grades.h"

namespace warpmeter::model {
namespace {

/// How much wider Student's 95 % interval is than the normal one: the expansion of its quantile by
/// Cornish and Fisher.
double student_factor(double freedom) {
  const double z = normal_95, n = std::max(freedom, 2.0);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return (z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
          (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n)) /
         z;
}

double sum_of_products(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void subtract(std::vector<double>& from, double factor, const std::vector<double>& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= factor * what[i];
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void subtract_mean(std::vector<double>& values) {
  const double mean = mean_of(values);
  for (double& value : values) value -= mean;
}

/// How much wider the interval of a skewed count has to be: few blocks that cost much are seen too
/// rarely for a normal error. Cochran's rule asks for 25 times the squared skewness as many blocks
/// (Sampling Techniques, 1977, section 2.15).
double skewness_factor(const std::vector<double>& errors) {
  const double mean = mean_of(errors), number = static_cast<double>(errors.size());
  double square = 0, cube = 0;
  for (const double error : errors) {
    const double from_mean = error - mean;
    square += from_mean * from_mean;
    cube += from_mean * from_mean * from_mean;
  }
  if (square == 0) return 1;
  const double skewness = std::sqrt(number) * cube / std::pow(square, 1.5);
  return std::max(1.0, 5 * std::abs(skewness) / std::sqrt(number));
}

}  // namespace

/// The counted blocks of a place, and the blocks that they stand for.
struct Sample::Regression {
  /// A number that all blocks tell, without what those before it say.
  struct Variable {
    std::vector<double> of;  ///< by block; the mean is 0
    double square = 0;       ///< the sum of squares
  };
  std::vector<double> weights;   ///< how many blocks each counted block stands for
  std::vector<double> leverage;  ///< how far each counted block draws the regression to itself
  std::vector<Variable> variables;
  double left_out = 0;  ///< the share of the blocks that was not counted
  double unseen = 0;    ///< the share of work that no difference of the counted blocks explains
};

Sample::Sample(const Program& program, const Dim3& grid, BlockSelection selection,
               const std::vector<std::string>& counters)
    : program_(program),
      grid_(grid),
      selection_(std::move(selection)),
      counters_(counters.begin(), counters.end()) {
  sum_.counts.resize(program.sites.size());
  sum_.parted.resize(program.places.size());
  first_ = sum_;
}

bool Sample::holds(std::uint64_t block) const {
  return std::binary_search(selection_.blocks.begin(), selection_.blocks.end(), block);
}

void Sample::add(std::uint64_t block, const LaunchOutcome& outcome) {
  constexpr auto spaces = static_cast<std::uint8_t>(std::size(count_spaces));
  constexpr auto fields = static_cast<std::uint8_t>(std::size(count_fields));
  Counted counted;
  counted.block = block;
  counted.work = {outcome.warp_instructions, outcome.thread_instructions};
  counted.values.reserve(counters_.size());
  for (const NamedCounter& counter : counters_) {
    counted.values.push_back(counter_named(counter, program_, outcome).value.value_or(0));
  }
  for (std::uint32_t site = 0; site < outcome.counts.size(); ++site) {
    for (std::uint8_t space = 0; space < spaces; ++space) {
      for (std::uint8_t field = 0; field < fields; ++field) {
        const std::uint64_t count = outcome.counts[site].*count_spaces[space].*count_fields[field];
        if (count != 0) counted.sites.push_back({site, space, field, count});
      }
    }
  }
  const bool is_first = counted_.empty();
  counted_.push_back(std::move(counted));
  sum_ += outcome;
  if (is_first) first_ = sum_;
}

void Sample::pass(std::uint64_t block, const BlockWork& work) {
  Passed& passed = passed_[place_of(block, grid_)];
  passed.warp_instructions.fetch_add(work.warp_instructions, std::memory_order_relaxed);
  passed.thread_instructions.fetch_add(work.thread_instructions, std::memory_order_relaxed);
}

/// The first block of a grid is a corner, and counted.
void Sample::keep_first() {
  std::erase_if(counted_, [](const Counted& counted) { return counted.block != 0; });
  sum_ = first_;
  for (Passed& passed : passed_) passed.warp_instructions = passed.thread_instructions = 0;
}

Sample::Regression Sample::regression_of(std::size_t place,
                                         const std::vector<const Counted*>& counted) const {
  constexpr std::size_t blocks_of_variable = 8;
  constexpr double nothing = 1e-9;
  const std::uint64_t blocks = blocks_at(place, grid_);
  const auto existing = static_cast<double>(blocks);
  const auto number = static_cast<double>(counted.size());
  Regression result;
  result.left_out = 1 - number / existing;
  result.weights.assign(counted.size(), existing / number);
  result.leverage.assign(counted.size(), 1 / number);
  if (counted.size() == blocks) return result;
  const Passed& passed = passed_[place];
  std::vector<double> missing;  // the place's sum of each variable, beyond its blocks at the mean
  const auto take = [&](std::uint64_t BlockWork::*of, std::uint64_t elsewhere) {
    Regression::Variable variable;
    for (const Counted* one : counted) {
      variable.of.push_back(static_cast<double>(one->work.*of));
    }
    const double square = sum_of_products(variable.of, variable.of);
    const double expected = mean_of(variable.of) * (existing - number);
    double more = static_cast<double>(elsewhere) - expected;
    subtract_mean(variable.of);
    for (std::size_t k = 0; k < result.variables.size(); ++k) {
      const Regression::Variable& before = result.variables[k];
      const double factor = sum_of_products(before.of, variable.of) / before.square;
      subtract(variable.of, factor, before.of);
      more -= factor * missing[k];
    }
    variable.square = sum_of_products(variable.of, variable.of);
    const bool varies = variable.square > nothing * square;
    if (!varies || counted.size() < blocks_of_variable * (result.variables.size() + 1)) {
      if (expected > 0) result.unseen = std::max(result.unseen, std::abs(more) / expected);
      return;
    }
    for (std::size_t i = 0; i < counted.size(); ++i) {
      result.weights[i] += more * variable.of[i] / variable.square;
      result.leverage[i] += variable.of[i] * variable.of[i] / variable.square;
    }
    missing.push_back(more);
    result.variables.push_back(std::move(variable));
  };
  take(&BlockWork::warp_instructions, passed.warp_instructions);
  take(&BlockWork::thread_instructions, passed.thread_instructions);
  if (result.unseen < nothing) result.unseen = 0;
  return result;
}

/// The variance of a regression estimate, each residual divided by what its block leaves of it
/// (MacKinnon, White, 1985), since a few blocks draw the regression to themselves.
void Sample::add_errors(const Regression& regression, const std::vector<const Counted*>& counted,
                        std::vector<double>& covariance) const {
  if (regression.left_out <= 0) return;
  constexpr double least_left = 0.05;
  const double freedom =
      static_cast<double>(counted.size()) - 1 - static_cast<double>(regression.variables.size());
  const double factor = student_factor(freedom) * std::sqrt(regression.left_out);
  std::vector<std::size_t> uneven;
  std::vector<std::vector<double>> errors;
  for (std::size_t c = 0; c < counters_.size(); ++c) {
    std::vector<double> values;
    for (const Counted* one : counted) values.push_back(one->values[c]);
    const double estimate = sum_of_products(values, regression.weights);
    const double square = sum_of_products(values, values);
    subtract_mean(values);
    for (const Regression::Variable& variable : regression.variables) {
      subtract(values, sum_of_products(variable.of, values) / variable.square, variable.of);
    }
    // Below this, they are what rounding leaves.
    if (sum_of_products(values, values) < 1e-20 * square) {
      std::fill(values.begin(), values.end(), 0.0);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *=
          factor * regression.weights[i] / std::max(1 - regression.leverage[i], least_left);
    }
    const double skewed = skewness_factor(values);
    for (double& value : values) value *= skewed;
    values.push_back(regression.unseen * estimate);
    if (sum_of_products(values, values) == 0) continue;
    uneven.push_back(c);
    errors.push_back(std::move(values));
  }
  for (std::size_t a = 0; a < uneven.size(); ++a) {
    for (std::size_t b = 0; b < uneven.size(); ++b) {
      covariance[uneven[a] * counters_.size() + uneven[b]] += sum_of_products(errors[a], errors[b]);
    }
  }
}

LaunchOutcome Sample::whole() const {
  LaunchOutcome whole = sum_;
  SampledBlocks& sampled = whole.sampled.emplace();
  sampled.blocks = grid_.count();
  sampled.counted = counted_.size();
  sampled.covariance.assign(counters_.size() * counters_.size(), 0);
  std::array<std::vector<const Counted*>, grid_places> places;
  for (const Counted& one : counted_) places[place_of(one.block, grid_)].push_back(&one);
  std::vector<std::array<std::array<double, std::size(count_fields)>, std::size(count_spaces)>>
      sums(whole.counts.size());
  for (std::size_t place = 0; place < grid_places; ++place) {
    std::vector<const Counted*>& counted = places[place];
    if (counted.empty()) continue;
    // In one order, whichever worker ran them: sums of fractions depend on it.
    std::sort(counted.begin(), counted.end(),
              [](const Counted* a, const Counted* b) { return a->block < b->block; });
    const Regression regression = regression_of(place, counted);
    for (std::size_t i = 0; i < counted.size(); ++i) {
      for (const SiteCount& of : counted[i]->sites) {
        sums[of.site][of.space][of.field] += regression.weights[i] * static_cast<double>(of.count);
      }
    }
    add_errors(regression, counted, sampled.covariance);
  }
  for (std::size_t site = 0; site < whole.counts.size(); ++site) {
    for (std::size_t space = 0; space < std::size(count_spaces); ++space) {
      for (std::size_t field = 0; field < std::size(count_fields); ++field) {
        std::uint64_t& count = whole.counts[site].*count_spaces[space].*count_fields[field];
        // The launch has at least what was counted.
        const double estimate = std::max(sums[site][space][field], static_cast<double>(count));
        count = static_cast<std::uint64_t>(std::llround(estimate));
      }
    }
  }
  return whole;
}

}  // namespace warpmeter::model
