// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/ids.h"

#include <array>
#include <charconv>
#include <map>
#include <string>
#include <utility>

#include "schema/embedded.h"
#include "schema/nvprof_file/lists.h"

namespace warpmeter::schema {
namespace {

constexpr std::array<std::pair<std::string_view, NvprofForm>, 5> forms = {
    {{"double", NvprofForm::ratio},
     {"count", NvprofForm::count},
     {"percent", NvprofForm::percent},
     {"throughput", NvprofForm::bytes_per_second},
     {"level", NvprofForm::level}}};

struct NamesByNumber {
  std::map<std::int64_t, std::string_view> by_number;
  std::map<std::string_view, std::int64_t> by_name;  ///< the largest number: the newest chip

  void add(std::int64_t number, std::string_view name) {
    by_number[number] = name;
    std::int64_t& newest = by_name[name];
    newest = std::max(newest, number);
  }
};

std::int64_t hexadecimal(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

struct Ids {
  std::map<std::string_view, NvprofForm> form_of;
  NamesByNumber metrics, events, runtime, driver;

  Ids() {
    for (const std::string_view text : {embedded::nvprof_ids, embedded::nvprof_calls}) {
      for (const std::vector<std::string_view>& words : word_lists(text)) take(words);
    }
  }

  void take(const std::vector<std::string_view>& words) {
    for (const auto& [word, form] : forms) {
      if (word != words.front()) continue;
      for (std::size_t i = 1; i < words.size(); ++i) form_of[words[i]] = form;
      return;
    }
    NamesByNumber& names = named(words.front());
    const std::int64_t first = hexadecimal(words.at(1));
    for (std::size_t i = 2; i < words.size(); ++i) {
      names.add(first + static_cast<std::int64_t>(i) - 2, words[i]);
    }
  }

  NamesByNumber& named(std::string_view word) {
    if (word == "metric") return metrics;
    if (word == "event") return events;
    return word == "runtime" ? runtime : driver;
  }

  static const Ids& get() {
    static const Ids ids;
    return ids;
  }
};

}  // namespace

std::optional<NvprofMetricId> nvprof_metric(std::int64_t id) {
  const Ids& ids = Ids::get();
  const auto found = ids.metrics.by_number.find(id);
  if (found == ids.metrics.by_number.end()) return std::nullopt;
  return NvprofMetricId{found->second, ids.form_of.at(found->second)};
}

std::string_view nvprof_event(std::int64_t id) {
  const auto& known = Ids::get().events.by_number;
  const auto found = known.find(id);
  return found == known.end() ? std::string_view() : found->second;
}

std::optional<NvprofMetricNumber> nvprof_metric_number(std::string_view name) {
  const Ids& ids = Ids::get();
  const auto found = ids.metrics.by_name.find(name);
  if (found == ids.metrics.by_name.end()) return std::nullopt;
  return NvprofMetricNumber{found->second, ids.form_of.at(name)};
}

NvprofCall nvprof_call_number(std::string_view function) {
  const Ids& ids = Ids::get();
  const bool is_runtime = function.starts_with("cuda");
  const auto& known = (is_runtime ? ids.runtime : ids.driver).by_name;
  auto found = known.find(function);
  const std::size_t version = function.rfind("_v");
  if (found == known.end() && version != std::string_view::npos) {
    found = known.find(function.substr(0, version));
  }
  return {is_runtime, found == known.end() ? 0 : found->second};
}

std::string_view nvprof_call(const NvprofCall& call) {
  const Ids& ids = Ids::get();
  const auto& known = (call.is_runtime ? ids.runtime : ids.driver).by_number;
  const auto found = known.find(call.number);
  return found == known.end() ? std::string_view() : found->second;
}

std::optional<std::int64_t> nvprof_event_number(std::string_view name) {
  const auto& known = Ids::get().events.by_name;
  const auto found = known.find(name);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

}  // namespace warpmeter::schema
