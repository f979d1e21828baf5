// SPDX-License-Identifier: MIT
// nvprof's tables of events and metrics: a block a device, a block a kernel, a row a name with the
// least, the greatest and the mean value of its invocations. Or, as a trace, a row a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reports/nvprof/summary.h"
#include "schema/store.h"

namespace warpmeter::reports::nvprof {

/// How nvprof printed the value of a name.
enum class Form { count, ratio, percent, rate, level };

struct Counted {
  std::string name;         ///< nvprof's
  std::string answer;       ///< the metric of `results`
  std::string description;  ///< "Shared Memory Load Transactions Per Request"
  Form form = Form::count;
  double scale = 1;  ///< nvprof's value of one of the answer's
  /// The reason of an answer whose denominator is 0. nvprof's value is 0 then.
  std::string undefined = {};
  bool is_event = false;
  bool is_of_all = false;  ///< no row where there is no value: nvprof's all is what a device has
};

/// The process, context, stream and call that a launch came from; 0: not known.
struct Origin {
  std::int64_t process = 0;
  std::uint32_t context = 0, stream = 0, correlation = 0;
};

/// A launch of the run, and which one of its kernel's it is in its process.
struct CountedLaunch {
  std::int64_t device = 0;  ///< its ordinal
  std::string kernel;       ///< as the machine code has it
  std::uint64_t invocation = 1;
  Origin origin = {};
};

struct CountedRequest {
  std::int64_t run_id = 0;
  std::vector<Counted> names;
  /// True if a launch is to be shown with the name of that place in `names`; empty: with all.
  std::function<bool(const CountedLaunch&, std::size_t name)> shows;
  std::function<std::string(const std::string&)> kernel_text;  ///< a kernel as it is shown
  std::function<Origin(std::int64_t launch_id)> origin;        ///< empty: not known
  ResourceNames resource_names;
  bool each_launch = false;  ///< --print-gpu-trace: a row a launch, not a row a kernel and name
};

struct CountedText {
  std::string events, metrics;  ///< the tables; empty: nothing was measured
  std::string launches;         ///< the table of each_launch: events and metrics
  /// Names that have no value, nvprof's 0 for none, or a value that is not exact, by the reason.
  std::map<std::string, std::vector<std::string>> missing, undefined, doubtful;
};

CountedText counted_text(const schema::Reader& reader, const CountedRequest& request,
                         const Style& style);

/// "1024", "3.3255e+10", "32.000000", "100.00%", "12.345GB/s", "Low (2)"; a level is given in per
/// cent.
std::string value_text(double value, Form form, bool csv);

}  // namespace warpmeter::reports::nvprof
