// SPDX-License-Identifier: MIT
#include "schema/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "base/error.h"
#include "base/nearest.h"
#include "schema/catalogue/built_in_json.h"
#include "schema/catalogue/metric_meaning.h"
#include "schema/embedded.h"
#include "schema/nvprof_names.h"

namespace warpmeter::schema {
namespace {

std::vector<Term> terms_from(const BuiltInJson& json, std::string_view side) {
  std::vector<Term> terms;
  const BuiltInJson* factors = json.find(side);
  if (factors == nullptr) return terms;
  for (const BuiltInJson& factor : factors->children) {
    terms.push_back({factor.number(), std::string(factor.name)});
  }
  return terms;
}

/// `doubts`: those that the catalogue names.
CounterInfo counter_from(const BuiltInJson& json, const BuiltInJson& doubts) {
  CounterInfo counter;
  counter.name = json.at("name").text;
  counter.unit = json.at("unit").text;
  counter.description = json.at("description").text;
  counter.perfworks = json.at("perfworks").text;
  counter.perfworks_also = json.texts_of("also");
  counter.perfworks_else = json.texts_of("else");
  counter.lacking = json.text_of("lacking");
  for (const std::string& name : json.texts_of("doubts")) {
    const BuiltInJson& doubt = doubts.at(name);
    counter.doubts.push_back({std::string(doubt.at("perfworks").text), doubt.text_of("code"),
                              std::string(doubt.at("reason").text)});
  }
  counter.divisor = json.text_of("divisor");
  counter.undefined = json.text_of("undefined");
  counter.sum = terms_from(json, "sum");
  counter.nvprof = json.is_true("nvprof");
  counter.code = json.text_of("code");
  return counter;
}

MetricInfo metric_from(const BuiltInJson& json) {
  MetricInfo metric;
  metric.name = json.at("name").text;
  metric.nvprof = json.is_true("nvprof");
  metric.unit = json.at("unit").text;
  metric.heading = json.at("heading").text;
  metric.description = json.at("description").text;
  if (const BuiltInJson* scale = json.find("scale")) metric.scale = scale->number();
  metric.numerator = terms_from(json, "numerator");
  metric.denominator = terms_from(json, "denominator");
  metric.is_better_higher = json.text_of("better") == "higher";
  const std::string source = json.text_of("of", "counters");
  metric.is_timed = source == "timing";
  metric.is_resource = source == "launch";
  if (!metric.denominator.empty()) metric.undefined = json.at("undefined").text;
  return metric;
}

/// A full PerfWorks name: unit__quantity, with a rollup behind a dot.
bool is_perfworks(std::string_view name) { return name.find("__") != std::string_view::npos; }

}  // namespace

std::vector<std::string> MetricInfo::counters() const {
  std::vector<std::string> names;
  if (!has_counters()) return names;
  for (const auto* terms : {&numerator, &denominator}) {
    for (const Term& term : *terms) names.push_back(term.name);
  }
  return names;
}

const Catalogue& Catalogue::get() {
  static const Catalogue catalogue;
  return catalogue;
}

Catalogue::Catalogue() {
  const BuiltInJson main = BuiltInJson::parse(embedded::catalogue);
  const auto read = [&](const BuiltInJson& part) {
    for (const BuiltInJson& counter : part.at("counters").children) {
      counters_.push_back(counter_from(counter, main.at("doubts")));
    }
    for (const BuiltInJson& metric : part.at("metrics").children) {
      metrics_.push_back(metric_from(metric));
    }
  };
  read(main);
  for (const embedded::File& part : embedded::catalogue_parts()) {
    read(BuiltInJson::parse(part.text));
  }
  counter_named_ = ByName<CounterInfo>(counters_, &CounterInfo::name);
  metric_named_ = ByName<MetricInfo>(metrics_, &MetricInfo::name);
  const auto demand = [&](const std::string& name, const std::string& counter) {
    if (find_counter(counter) != nullptr) return;
    throw std::logic_error(fmt::format("catalogue: {} needs {}", name, counter));
  };
  for (const MetricInfo& metric : metrics_) {
    for (const std::string& counter : metric.counters()) demand(metric.name, counter);
  }
  for (const CounterInfo& counter : counters_) {
    for (const Term& term : counter.sum) demand(counter.name, term.name);
  }
  for (const BuiltInJson& entry : main.at("sets").children) {
    read_set({std::string(entry.at("name").text),
              std::string(entry.at("description").text),
              {},
              entry.texts_of("where_any")},
             entry.texts_of("metrics"));
  }
}

/// A member is a metric, a counter, an earlier @set, "*" for everything, or nvprof's names that are
/// answered ("nvprof metrics", "nvprof events", "nvprof metrics of kernels"), each once.
void Catalogue::read_set(const SetInfo& begun, std::span<const std::string> members) {
  SetInfo set = begun;
  for (const std::string& name : set.where_any) {
    if (find_counter(name) == nullptr) throw std::logic_error("catalogue: no counter " + name);
  }
  for (const std::string& name : members) {
    if (name == "*") {
      for (const MetricInfo& metric : metrics_) set.metrics.push_back(metric.name);
      for (const CounterInfo& counter : counters_) set.metrics.push_back(counter.name);
    } else if (name == "nvprof metrics" || name == "nvprof metrics of kernels" ||
               name == "nvprof events") {
      std::unordered_set<std::string> named(set.metrics.begin(), set.metrics.end());
      for (const NvprofName& known : nvprof_names()) {
        const bool is_left_out = name == "nvprof metrics of kernels" && known.is_of_links();
        if (known.is_event != (name == "nvprof events") || known.answer.empty() || is_left_out ||
            !named.insert(known.answer).second) {
          continue;
        }
        set.metrics.push_back(known.answer);
      }
    } else if (name.front() == '@') {
      const SetInfo* other = find_set(name.substr(1));
      if (other == nullptr) throw std::logic_error("catalogue: no set " + name);
      set.metrics.insert(set.metrics.end(), other->metrics.begin(), other->metrics.end());
    } else {
      if (find_metric(name) == nullptr && find_counter(name) == nullptr) {
        throw std::logic_error("catalogue: no metric " + name);
      }
      set.metrics.push_back(name);
    }
  }
  sets_.push_back(std::move(set));
}

const SetInfo* Catalogue::find_set(std::string_view name) const {
  const auto found = std::find_if(sets_.begin(), sets_.end(),
                                  [&](const SetInfo& set) { return set.name == name; });
  return found == sets_.end() ? nullptr : &*found;
}

bool Catalogue::reads(std::string_view perfworks) const {
  const auto is_it = [&](const std::string& name) { return name == perfworks; };
  return std::any_of(counters_.begin(), counters_.end(), [&](const CounterInfo& counter) {
    return is_it(counter.perfworks) ||
           std::any_of(counter.perfworks_else.begin(), counter.perfworks_else.end(), is_it) ||
           std::any_of(counter.perfworks_also.begin(), counter.perfworks_also.end(), is_it);
  });
}

const CounterInfo* Catalogue::find_counter(std::string_view name) const {
  return counter_named_.find(name);
}

const MetricInfo* Catalogue::find_metric(std::string_view name) const {
  return metric_named_.find(name);
}

std::string Catalogue::own_name(const std::string& name) const {
  if (find_metric(name) != nullptr || find_counter(name) != nullptr) return name;
  for (const bool is_event : {false, true}) {
    const NvprofName* known = find_nvprof_name(name, is_event);
    if (known != nullptr && !known->answer.empty()) return known->answer;
  }
  return name;
}

std::string Catalogue::suggestion(std::string_view name) const {
  std::vector<std::string> known;
  for (const MetricInfo& info : metrics_) known.push_back(info.name);
  for (const CounterInfo& info : counters_) known.push_back(info.name);
  for (const SetInfo& info : sets_) known.push_back("@" + info.name);
  return did_you_mean(nearest_by_meaning(name, known));
}

std::vector<std::string> Catalogue::counters_for(std::span<const std::string> requested) const {
  std::vector<bool> wanted(counters_.size(), false);
  std::vector<std::string> raw;
  const auto want = [&](const std::string& name) {
    const std::string own = own_name(name);
    if (const CounterInfo* counter = find_counter(own)) {
      wanted[static_cast<std::size_t>(counter - counters_.data())] = true;
    } else if (const MetricInfo* metric = find_metric(own)) {
      for (const std::string& input : metric->counters()) {
        wanted[static_cast<std::size_t>(find_counter(input) - counters_.data())] = true;
      }
    } else if (is_perfworks(name)) {
      if (std::find(raw.begin(), raw.end(), name) == raw.end()) raw.push_back(name);
    } else {
      for (const bool is_event : {false, true}) {
        const NvprofName* known = find_nvprof_name(name, is_event);
        if (known == nullptr) continue;
        throw Error(ExitCode::usage,
                    fmt::format("nvprof's {} is not measured: {}", name, refusal(*known)));
      }
      throw Error(ExitCode::usage,
                  fmt::format("there is no metric '{}'{} (see: warpmeter list metrics)", name,
                              suggestion(name)));
    }
  };
  for (const std::string& name : requested) {
    if (name.empty() || name.front() != '@') {
      want(name);
    } else if (const SetInfo* set = find_set(std::string_view(name).substr(1))) {
      for (const std::string& member : set->metrics) want(member);
      for (const std::string& member : set->where_any) want(member);
    } else {
      std::vector<std::string> known;
      for (const SetInfo& info : sets_) known.push_back("@" + info.name);
      throw Error(ExitCode::usage,
                  fmt::format("there is no set of metrics '{}'{} (the sets: {})", name,
                              did_you_mean(name, known), fmt::join(known, ", ")));
    }
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (wanted[i]) result.push_back(counters_[i].name);
  }
  result.insert(result.end(), raw.begin(), raw.end());
  return result;
}

bool Catalogue::names_resource(std::span<const std::string> requested) const {
  return std::any_of(requested.begin(), requested.end(), [&](const std::string& name) {
    const SetInfo* set = name.starts_with('@') ? find_set(name.substr(1)) : nullptr;
    if (set != nullptr) return names_resource(set->metrics);
    const MetricInfo* metric = find_metric(name);
    return metric != nullptr && metric->is_resource;
  });
}

}  // namespace warpmeter::schema
