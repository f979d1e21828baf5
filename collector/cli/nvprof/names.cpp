// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>
#include <variant>

#include "base/error.h"
#include "schema/catalogue.h"
#include "schema/nvprof_names.h"

namespace warpmeter::cli::nvprof {

using reports::nvprof::Counted;
using reports::nvprof::Form;
using schema::Catalogue;
using schema::NvprofForm;
using schema::NvprofName;

namespace {

Form form_of(NvprofForm form) {
  switch (form) {
    case NvprofForm::count:
      return Form::count;
    case NvprofForm::ratio:
      return Form::ratio;
    case NvprofForm::percent:
      return Form::percent;
    case NvprofForm::bytes_per_second:
      return Form::rate;
    case NvprofForm::level:
      return Form::level;
  }
  return Form::count;
}

/// The reason that the catalogue gives where a metric's denominator is 0.
std::string undefined_of(const std::string& answer) {
  const schema::MetricInfo* metric = Catalogue::get().find_metric(answer);
  return metric != nullptr ? metric->undefined : "";
}

Counted counted(const NvprofName& name) {
  return {name.name,          name.answer, name.description,
          form_of(name.form), name.scale,  undefined_of(name.answer),
          name.is_event};
}

/// A name that nvprof never had: one of the catalogue, or of PerfWorks.
Counted of_catalogue(const std::string& name, bool is_event) {
  const Catalogue& catalogue = Catalogue::get();
  Counted counted{name, name, name};
  counted.is_event = is_event;
  counted.form = Form::ratio;
  if (const schema::MetricInfo* metric = catalogue.find_metric(name)) {
    counted.description = metric->heading.empty() ? name : metric->heading;
    counted.undefined = metric->undefined;
    if (metric->unit == "%") counted.form = Form::percent;
  } else if (catalogue.find_counter(name) != nullptr) {
    counted.form = Form::count;
  }
  return counted;
}

class Reading {
 public:
  void read(const AskedName& asked) {
    if (asked.name == "all" || asked.name == "@analysis") return read_all(asked);
    if (asked.name.starts_with('@')) return read_set(asked);
    if (const NvprofName* name = schema::find_nvprof_name(asked.name, asked.is_event)) {
      if (name->answer.empty()) {
        all_.warnings.push_back(fmt::format("{}: {}", name->name, schema::refusal(*name)));
      } else {
        add(counted(*name), asked.scope);
      }
      return;
    }
    if (schema::find_nvprof_name(asked.name, !asked.is_event) != nullptr) {
      throw Error(ExitCode::usage, fmt::format("{0} is {1}: ask for it with {2}", asked.name,
                                               asked.is_event ? "a metric" : "an event",
                                               asked.is_event ? "--metrics" : "--events"));
    }
    const Catalogue& catalogue = Catalogue::get();
    const bool is_known = catalogue.find_metric(asked.name) || catalogue.find_counter(asked.name) ||
                          asked.name.find("__") != std::string::npos;  // PerfWorks
    if (asked.is_event && !is_known) {
      throw Error(ExitCode::usage, fmt::format("there is no event '{}'{} (see: --query-events)",
                                               asked.name, catalogue.suggestion(asked.name)));
    }
    catalogue.counters_for({&asked.name, 1});  // throws, with the nearest names
    add(of_catalogue(asked.name, asked.is_event), asked.scope);
  }

  Names take() { return std::move(all_); }

 private:
  void add(Counted counted, const Scope& scope) {
    for (ScopedName& known : all_.names) {
      const bool is_same = known.counted.name == counted.name &&
                           known.counted.is_event == counted.is_event && known.scope == scope;
      if (!is_same) continue;
      known.counted.is_of_all = known.counted.is_of_all && counted.is_of_all;
      return;
    }
    all_.names.push_back({std::move(counted), scope});
  }

  /// nvprof too left out what a device lacks.
  void read_all(const AskedName& asked) {
    const bool is_of_kernels = asked.name != "all";
    for (const NvprofName& name : schema::nvprof_names()) {
      if (name.is_event != asked.is_event || name.answer.empty()) continue;
      if (is_of_kernels && name.is_of_links()) continue;
      Counted one = counted(name);
      one.is_of_all = true;
      add(std::move(one), asked.scope);
    }
  }

  void read_set(const AskedName& asked) {
    const schema::SetInfo* set = Catalogue::get().find_set(asked.name.substr(1));
    if (set == nullptr) Catalogue::get().counters_for({&asked.name, 1});  // throws
    for (const std::string& metric : set->metrics) {
      const NvprofName* name = schema::find_nvprof_name(metric, false);
      add(name != nullptr && !name->answer.empty() ? counted(*name) : of_catalogue(metric, false),
          asked.scope);
    }
  }

  Names all_;
};

}  // namespace

Names names_of(std::span<const AskedName> asked) {
  Reading reading;
  for (const AskedName& one : asked) reading.read(one);
  Names names = reading.take();
  if (!asked.empty() && names.names.empty()) {
    throw Error(ExitCode::usage, fmt::format("no event or metric is left to measure: {}",
                                             fmt::join(names.warnings, "; ")));
  }
  return names;
}

std::string available_text(bool is_event, std::span<const std::string> devices) {
  std::string text =
      fmt::format("Available {}:\n{:>32}   Description\n", is_event ? "Events" : "Metrics", "Name");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += fmt::format("Device {} ({}):\n", i, devices[i]);
    for (const NvprofName& name : schema::nvprof_names()) {
      if (name.is_event != is_event || name.answer.empty()) continue;
      text += fmt::format("{:>32}:  {}\n\n", name.name,
                          name.description.empty() ? name.answer : name.description);
    }
  }
  return text;
}

Names names_in(const schema::Reader& reader, std::int64_t run_id) {
  const schema::Rows rows =
      reader.query("SELECT DISTINCT metric FROM results WHERE run_id = :run", {{":run", run_id}});
  std::set<std::string> there;
  for (const auto& row : rows.rows) there.insert(std::get<std::string>(row.front()));
  Names all;
  for (const NvprofName& name : schema::nvprof_names()) {
    if (there.count(name.answer) != 0) all.names.push_back({counted(name), {}});
  }
  return all;
}

}  // namespace warpmeter::cli::nvprof
