// SPDX-License-Identifier: MIT
#include "collector/cli/profile/shown_tables.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/output.h"
#include "base/with_noun.h"
#include "collector/cli/profile/remarks.h"
#include "collector/cli/tables/trace_tables.h"
#include "collector/cli/terminal.h"
#include "collector/cli/trace_file.h"
#include "reports/table/table.h"
#include "reports/trace/trace.h"
#include "schema/nvprof_file/export.h"

namespace warpmeter::cli {
namespace {

using reports::Format;

/// The place of the tables: the file of -o, or standard error.
class Place {
 public:
  explicit Place(const ProfileRequest& request) {
    if (!request.output.empty()) file_ = std::make_unique<Output>(request.destination);
  }
  bool write(std::string_view text) {
    if (file_ != nullptr) return file_->write(text);
    // A terminal is not shown what would act on it. Lines for programs stay as they are.
    if (is_terminal(STDERR_FILENO)) {
      say(text);
      return true;
    }
    return std::fwrite(text.data(), 1, text.size(), stderr) == text.size();
  }
  void finish() {
    if (file_ != nullptr) file_->finish();
  }

 private:
  std::unique_ptr<Output> file_;
};

void write_text(const ProfileRequest& request, const profile::Recorder& recorder,
                const schema::Reader* reader, Place& place) {
  const KernelNameBase base = base_of(request.name_base);
  if (request.counts()) {
    if (reader == nullptr) return;
    place.write(metrics_table(*reader, *recorder.run_id(), shown_metrics(request.metrics), base) +
                "\n");
  } else if (!recorder.activities().empty()) {
    place.write(summary_table(recorder.activities(), base) + "\n");
  }
}

void write_rows(const ProfileRequest& request, const profile::Recorder& recorder,
                const schema::Reader* reader, Format format, Place& place) {
  const KernelNameBase base = base_of(request.name_base);
  if (!request.counts()) {
    place.write(reports::render(summary_rows(recorder.activities(), base), format));
  } else if (reader != nullptr) {
    place.write(reports::render(
        metrics_rows(*reader, *recorder.run_id(), shown_metrics(request.metrics), base), format));
  }
}

}  // namespace

KernelNameBase base_of(const std::string& name) {
  return name == "mangled"     ? KernelNameBase::mangled
         : name == "demangled" ? KernelNameBase::demangled
                               : KernelNameBase::function;
}

void write_tables(const ProfileRequest& request, std::string_view text) {
  Place place(request);
  place.write(text);
  place.finish();
}

void write_nvprof_file(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (request.nvprof_file.empty() || !recorder.run_id()) return;
  const schema::Reader reader(request.database);
  const schema::NvprofExported exported =
      schema::export_nvprof_file(reader, *recorder.run_id(), request.nvprof_destination);
  if (request.quiet) return;
  say_line(fmt::format(
      "warpmeter: {} has {}, {} and sets, {}, {} and {}{}", request.nvprof_file,
      with_noun(exported.kernels, "kernel"),
      with_noun(exported.copies + exported.sets, "copy", "copies"),
      with_noun(exported.calls, "call"), with_noun(exported.ranges, "range"),
      with_noun(exported.values, "metric"),
      exported.has_unknown_times ? "; a start and an end of 0 say that a time is not known" : ""));
}

void write_trace_file(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (request.trace_file.empty() || !recorder.run_id() || recorder.traced() == 0) return;
  const std::string text = write_trace_file(schema::Reader(request.database), *recorder.run_id(),
                                            request.trace_destination);
  if (!request.quiet) say_line("warpmeter: " + text);
}

void show_tables(const ProfileRequest& request, const profile::Recorder& recorder,
                 const schema::Reader* reader) {
  if (request.checks && !request.counts() && !request.traces()) return;  // findings were asked for
  const Format format = *reports::parse_format(request.format);
  Place place(request);
  if (request.traces()) {
    reports::Trace trace;
    if (reader != nullptr) trace = reports::read_trace(*reader, *recorder.run_id());
    write_trace(trace, format, base_of(request.name_base),
                [&](std::string_view text) { return place.write(text); });
  } else if (format == Format::table) {
    write_text(request, recorder, reader, place);
  } else {
    write_rows(request, recorder, reader, format, place);
  }
  place.finish();
}

}  // namespace warpmeter::cli
