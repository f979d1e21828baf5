// SPDX-License-Identifier: MIT
// The C interface: exceptions become exit codes and a sentence, texts become memory of malloc.
#include "collector/library/warpmeter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "collector/cli/version.h"
#include "collector/library/meter.h"
#include "reports/explain/explain.h"
#include "reports/gates/check.h"
#include "reports/record.h"
#include "reports/render/report.h"
#include "reports/table/stream.h"
#include "schema/catalogue.h"

struct warpmeter_meter : warpmeter::library::Meter {
  using Meter::Meter;
};

namespace warpmeter::library {
namespace {

/// A literal where it lacks memory for a copy.
thread_local std::string sentence;

int failed(ExitCode code, const char* message) noexcept {
  try {
    sentence = message;
  } catch (const std::exception&) {
    sentence.clear();
  }
  return static_cast<int>(code);
}

const pid_t loading_process = getpid();

/// No exception leaves the library. Nothing is done in a fork, whose locks may be those of threads
/// that it does not have.
template <class Call>
int answer(const Call& call) noexcept {
  if (getpid() != loading_process) {
    return failed(ExitCode::usage,
                  "this process was forked from one that uses libwarpmeter, and CUDA does not work "
                  "in it: start a new process (multiprocessing's method is spawn)");
  }
  try {
    return static_cast<int>(call());
  } catch (const Error& error) {
    return failed(error.code(), error.what());
  } catch (const std::exception& error) {
    return failed(ExitCode::file, error.what());
  }
}

template <class Pointer>
Pointer required(Pointer pointer, const char* name) {
  if (pointer != nullptr) return pointer;
  throw Error(ExitCode::usage, fmt::format("{} is a null pointer", name));
}

void give(const std::string& text, char** target) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *target = copy;
}

reports::Format format_of(const char* name) {
  const auto format = reports::parse_format(required(name, "format"));
  if (format) return *format;
  throw Error(ExitCode::usage, fmt::format("there is no format '{}': markdown, table, html, csv "
                                           "and json are",
                                           name));
}

std::string own_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string json_of(const schema::Reader& reader, const char* sql) {
  std::string text;
  reports::RowStream rows(reports::Format::json, 0, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  reader.query_user(
      sql, {}, [&](const std::vector<std::string>& columns) { rows.columns(columns); },
      [&](const std::vector<schema::Value>& row) { return rows.row(row); });
  rows.finish();
  return text;
}

std::vector<double> values_of(const schema::Reader& reader, std::int64_t run, const char* metric) {
  const std::string asked[] = {metric};
  reports::require_run(reader, run);  // that there is not, like a metric, would have no value
  schema::Catalogue::get().counters_for(asked);
  if (asked[0].starts_with('@')) {
    throw Error(ExitCode::usage, fmt::format("{} is a set of metrics: name one of them", metric));
  }
  constexpr const char* sql =
      "SELECT r.value FROM launches l LEFT JOIN results r ON r.launch_id = l.launch_id AND "
      "r.metric = :metric WHERE l.run_id = :run ORDER BY l.launch_id";
  std::vector<double> values;
  reader.each(sql, {{":metric", std::string(metric)}, {":run", run}}, [&](const auto& row) {
    if (const auto* real = std::get_if<double>(&row[0])) {
      values.push_back(*real);
    } else if (const auto* whole = std::get_if<std::int64_t>(&row[0])) {
      values.push_back(static_cast<double>(*whole));
    } else {
      values.push_back(std::nan(""));
    }
  });
  return values;
}

/// The sum of a metric's terms over all launches.
double total_of(const schema::Reader& reader, std::int64_t run,
                const std::vector<schema::Term>& terms) {
  double total = 0;
  for (const schema::Term& term : terms) {
    for (const double value : values_of(reader, run, term.name.c_str())) {
      total += term.factor * value;
    }
  }
  return total;
}

double cost_of(const schema::Reader& reader, std::int64_t run, const char* metric) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  if (info != nullptr && info->has_counters() && !info->denominator.empty()) {
    const double below = total_of(reader, run, info->denominator);
    if (below == 0) return std::nan("");
    const double all = info->scale * total_of(reader, run, info->numerator) / below;
    return info->is_better_higher ? -all : all;
  }
  const std::vector<double> values = values_of(reader, run, metric);
  const schema::CounterInfo* counter = schema::Catalogue::get().find_counter(metric);
  const bool is_state = counter != nullptr &&
                        (counter->unit == "W" || counter->unit == "MHz" || counter->unit == "°C");
  if (is_state) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double value : values) {
      if (std::isnan(value)) return value;
      most = std::max(most, value);
    }
    return values.empty() ? std::nan("") : most;
  }
  if (info == nullptr || !info->is_better_higher) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
  // A rate or a share that is no quotient of counters: the launch with the least of it.
  double least = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (std::isnan(value)) return value;
    least = std::min(least, value);
  }
  return -least;
}

ExitCode check(const schema::Reader& reader, std::int64_t run, const char* gate, char** text) {
  reports::require_run(reader, run);
  reports::CheckRequest request;
  request.run = run;
  request.gates.push_back(reports::parse_gate(gate));
  request.expectations = false;
  const reports::Check checked = reports::check(reader, request);
  give(reports::render(checked, reports::CheckFormat::table), text);
  if (checked.outcome() == reports::Outcome::holds) return ExitCode::done;
  const bool is_broken = checked.outcome() == reports::Outcome::broken;
  failed(ExitCode::broken,
         fmt::format("the gate {} {}", gate, is_broken ? "is broken" : "cannot be judged").c_str());
  return is_broken ? ExitCode::broken : ExitCode::nothing;
}

}  // namespace
}  // namespace warpmeter::library

using warpmeter::ExitCode;
namespace library = warpmeter::library;

const char* warpmeter_version(void) {
  static const auto* line = new std::string(warpmeter::cli::version_line());
  return line->c_str();
}

const char* warpmeter_message(void) { return library::sentence.c_str(); }

int warpmeter_use_model(const char* architecture) {
  return library::answer([&] {
    library::use_model(architecture != nullptr ? architecture : "sm_90");
    return ExitCode::done;
  });
}

const char* warpmeter_libcuda_folder(void) { return library::libcuda_folder(); }

int warpmeter_keep_source(const char* file, const char* text) {
  return library::answer([&] {
    library::keep_source(library::required(file, "file"), library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_open(const char* database, const char* program, warpmeter_meter** opened) {
  return library::answer([&] {
    *library::required(opened, "opened") = nullptr;
    *opened = new warpmeter_meter(library::required(database, "database"),
                                  program != nullptr ? program : library::own_program());
    return ExitCode::done;
  });
}

void warpmeter_close(warpmeter_meter* meter) {
  library::answer([&] {
    delete meter;
    return ExitCode::done;
  });
}

int warpmeter_begin(warpmeter_meter* meter, const char* const* metrics, size_t count,
                    const char* label) {
  return library::answer([&] {
    library::required(meter, "meter");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.emplace_back(library::required(library::required(metrics, "metrics")[i], "a metric"));
    }
    meter->begin(names, label != nullptr ? label : "");
    return ExitCode::done;
  });
}

int warpmeter_end(warpmeter_meter* meter, int64_t* run) {
  return library::answer([&] {
    *library::required(run, "run") = 0;
    library::required(meter, "meter")->end(*run);
    return ExitCode::done;
  });
}

int warpmeter_remarks(warpmeter_meter* meter, char** text) {
  return library::answer([&] {
    library::give(library::required(meter, "meter")->remarks(), library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_uuid(warpmeter_meter* meter, char** text) {
  return library::answer([&] {
    library::give(library::required(meter, "meter")->uuid(), library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_values(warpmeter_meter* meter, int64_t run, const char* metric, double* values,
                     size_t room, size_t* count) {
  return library::answer([&] {
    const std::vector<double> all = library::values_of(library::required(meter, "meter")->reader(),
                                                       run, library::required(metric, "metric"));
    *library::required(count, "count") = all.size();
    for (size_t i = 0; i < std::min(room, all.size()); ++i) values[i] = all[i];
    return ExitCode::done;
  });
}

int warpmeter_cost(warpmeter_meter* meter, int64_t run, const char* metric, double* cost) {
  return library::answer([&] {
    *library::required(cost, "cost") = library::cost_of(library::required(meter, "meter")->reader(),
                                                        run, library::required(metric, "metric"));
    return ExitCode::done;
  });
}

int warpmeter_query(warpmeter_meter* meter, const char* sql, char** text) {
  return library::answer([&] {
    library::give(library::json_of(library::required(meter, "meter")->reader(),
                                   library::required(sql, "sql")),
                  library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_report(warpmeter_meter* meter, int64_t run, const char* format, char** text) {
  return library::answer([&] {
    library::give(warpmeter::reports::render_report(library::required(meter, "meter")->reader(),
                                                    run, library::format_of(format)),
                  library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_explain(warpmeter_meter* meter, int64_t run, const char* format, int64_t top,
                      char** text) {
  return library::answer([&] {
    warpmeter::reports::ExplainOptions options;
    options.run = run;
    if (top > 0) options.top = top;
    options.is_of_module = true;
    options.format = library::format_of(format);
    library::give(
        warpmeter::reports::explain(library::required(meter, "meter")->reader(), options).text,
        library::required(text, "text"));
    return ExitCode::done;
  });
}

int warpmeter_check(warpmeter_meter* meter, int64_t run, const char* gate, char** text) {
  return library::answer([&] {
    return library::check(library::required(meter, "meter")->reader(), run,
                          library::required(gate, "gate"), library::required(text, "text"));
  });
}

void warpmeter_free(char* text) { std::free(text); }
