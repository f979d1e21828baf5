// SPDX-License-Identifier: MIT
#include "collector/cli/trace_file.h"

#include <fmt/format.h>

#include "base/output.h"
#include "reports/table/number.h"
#include "reports/trace/perfetto.h"

namespace warpmeter::cli {

std::string write_trace_file(const schema::Reader& reader, std::int64_t run_id,
                             const Destination& destination) {
  Output output(destination);
  const reports::PerfettoWritten written = reports::write_perfetto(
      reader, run_id, [&](std::string_view bytes) { return output.write(bytes); });
  output.finish();
  std::string text = fmt::format("{} has {}", output.name(),
                                 reports::counted(written.slices, "activity", "activities"));
  if (written.untimed > 0) text += fmt::format("; {} without a time are left out", written.untimed);
  return text + ": open it in ui.perfetto.dev";
}

}  // namespace warpmeter::cli
