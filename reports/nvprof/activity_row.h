// SPDX-License-Identifier: MIT
// A row of the view `activities`, as the traces of nvprof show it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reports/nvprof/units.h"
#include "reports/trace/trace.h"
#include "schema/store.h"

namespace warpmeter::reports::nvprof {

struct ActivityRow : TracedShape, TracedActivity {
  std::string device_title, source_title, target_title;  ///< "NVIDIA H200 (0)"; empty: none
};

/// The activities of a run, in the order of their starts.
class ActivityRows {
 public:
  ActivityRows(const schema::Reader& reader, std::int64_t run_id);
  /// Those for which the condition, SQL over the view's columns, holds.
  void each(const std::string& condition, schema::Parameters parameters,
            const std::function<void(const ActivityRow&)>& on_row) const;

 private:
  /// "NVIDIA H200 (0)"; empty: there is none.
  std::string title(const std::optional<std::int64_t>& ordinal) const;

  const schema::Reader& reader_;
  std::int64_t run_id_;
  std::map<std::int64_t, std::string> names_;  ///< the run's devices' titles, by ordinal
};

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
