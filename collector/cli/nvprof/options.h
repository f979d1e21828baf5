// SPDX-License-Identifier: MIT
// nvprof's command line: its options, what each one does here, and what does the job today of those
// that cannot be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/nvprof/summary.h"

namespace warpmeter::cli::nvprof {

/// The launches that --devices and --kernels choose for the events and metrics behind them.
struct Scope {
  std::vector<std::uint32_t> devices;  ///< empty: all
  std::string kernels;                 ///< CONTEXT:STREAM:KERNEL:INVOCATION or KERNEL; empty: all

  bool operator==(const Scope&) const = default;
};

/// An event or metric that was asked for; "all" too.
struct AskedName {
  std::string name;
  bool is_event = false;
  Scope scope;
};

struct Request {
  std::vector<std::string> words;  ///< the program and its arguments
  std::vector<AskedName> names;
  Scope scope;  ///< for the names that follow
  reports::nvprof::Style style;
  bool prints_gpu_summary = false, prints_api_summary = false, prints_summary = false,
       prints_summary_per_gpu = false, prints_gpu_trace = false, prints_api_trace = false,
       prints_nvlink_topology = false, queries_metrics = false, queries_events = false,
       helps = false, tells_version = false;
  bool demangles = true, is_quiet = false, from_start = true, follows_children = false,
       overwrites = false, traces_gpu = true, traces_api = true, managed_memory = true,
       tracks_allocations = false;
  bool asks_for_trace = false;            ///< by --trace
  std::vector<std::string> source_kinds;  ///< the words of --source-level-analysis
  std::string apis = "all";               ///< the value of --profile-api-trace
  std::string replay = "kernel";
  double timeout = 0;  ///< seconds; 0: none
  std::string log_file, export_file, import_file;
  std::string context_name, process_name;  ///< patterns; empty: numbers are all
  std::string backend = "auto";
  std::string database;  ///< empty: a temporary one

  /// The name of --context-name; empty: there is none. Throws Error{usage} for a wrong pattern.
  std::string name_of_context(std::int64_t process, std::int64_t context) const;

  bool looks_at_lines() const { return !source_kinds.empty(); }
  bool counts() const { return !names.empty() || looks_at_lines(); }
  bool prints_trace() const { return prints_gpu_trace || prints_api_trace; }
};

struct Option {
  std::string_view name;  ///< without its dashes
  char letter = 0;        ///< "-m"; 0: none
  /// "" for a flag; "on|off" for one of these words; "<seconds>" for any text.
  std::string_view value;
  std::string_view meaning;
  /// Null: it is accepted and changes nothing here.
  void (*apply)(Request&, const std::string& value) = nullptr;
  /// The value that is refused; "*": all. Empty: none.
  std::string_view refused = {};
  std::string_view instead = {};  ///< the tool that does the job of the refused value today
};

/// All options, in the order of nvprof's help.
std::span<const Option> options();

/// The words behind "nvprof". Throws Error{usage}: an unknown option, a value that nvprof did not
/// take, one that cannot be had today.
Request read_command_line(std::span<const std::string> words);

/// The text of --help.
std::string help_text();

}  // namespace warpmeter::cli::nvprof
