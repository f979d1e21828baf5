// SPDX-License-Identifier: MIT
// A row of the view `activities`, as the traces of nvprof show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reports/nvprof/summary.h"
#include "reports/nvprof/units.h"
#include "reports/trace/trace.h"
#include "schema/store.h"

namespace warpmeter::reports::nvprof {

struct ActivityRow : TracedShape, TracedActivity {
  std::string device_title, source_title, target_title;  ///< "NVIDIA H200 (0)"; empty: none
  std::string context_title;                             ///< "1", "rank 3 (1)"; empty: none
  std::string stream_title;                              ///< "13", "copies (13)"; empty: none
};

/// The activities of one process of a run, in the order of their starts.
class ActivityRows {
 public:
  ActivityRows(const schema::Reader& reader, std::int64_t run_id, std::int64_t process_id,
               const ResourceNames& names);
  /// Those whose shape is accepted, which is asked once a shape. A row is valid until the next.
  void each(const std::function<bool(const TracedShape&)>& accepts,
            const std::function<void(const ActivityRow&)>& on_row);

 private:
  reports::Trace trace_;
  std::vector<ActivityRow> rows_;  ///< one a shape, with the activity that is visited
};

/// "1"; "rank 3 (1)" where it has a name.
std::string context_text(const ResourceNames& names, std::int64_t process, std::int64_t context);
std::string stream_text(const ResourceNames& names, std::int64_t process, std::int64_t context,
                        std::int64_t stream);

/// Names as they are shown; a kernel's is found out once.
class ShownNames {
 public:
  const std::string& of(const ActivityRow& row, bool demangles);

 private:
  std::unordered_map<std::string, std::string> known_;
};

/// The cell of a column, by its heading in text ("Grid Size"); empty: the row has nothing there.
std::string text_cell(const ActivityRow& row, std::string_view heading, TimeUnit unit);
/// The same for CSV; a size of a grid or block has three parts.
std::string csv_cell(const ActivityRow& row, std::string_view heading, std::size_t part,
                     const ColumnUnit& unit);

}  // namespace warpmeter::reports::nvprof
