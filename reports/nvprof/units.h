// SPDX-License-Identifier: MIT
// nvprof's way with quantities. In text a number gets as many digits as fit into its column
// together with its unit ("1.2480us", "3.75338s", "9.3842GB/s"); a number of 1000 or more takes the
// next unit. In CSV a column has one unit, which the second line names, and six decimals.
//
// Times count by 1000, sizes and rates by 1024. All of that is taken from public logs of nvprof 8
// to 12.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::reports::nvprof {

/// The values of --normalized-time-unit. Only text distinguishes `automatic`, a unit for each
/// number, from `column`, one for each column: CSV always has the latter.
enum class TimeUnit { automatic, column, s, ms, us, ns };

/// Eight characters: "896ns", "1.2480us".
std::string time_text(double ns, TimeUnit unit = TimeUnit::automatic);
/// Eight characters: "4B", "64.000KB".
std::string size_text(double bytes);
/// Ten characters: "762.94KB/s".
std::string rate_text(double bytes_per_second);
/// Ten characters, for sums: "843.8660us", "8.000000MB".
std::string total_time_text(double ns);
std::string total_size_text(double bytes);

/// The unit of a CSV column.
struct ColumnUnit {
  std::string_view name;
  double factor = 1;
  bool is_whole = false;  ///< the numbers have no decimals
};

/// The unit that fits the greatest value of a column.
ColumnUnit time_unit(double greatest_ns, TimeUnit unit);
ColumnUnit size_unit(double greatest_bytes);
ColumnUnit rate_unit(double greatest_bytes_per_second);
/// The unit of a column of text, by its greatest value: `unit`, if that is not `column`.
TimeUnit text_unit(double greatest_ns, TimeUnit unit);
/// A value in its column's unit, six decimals.
std::string in_unit(double value, const ColumnUnit& unit);
/// A rate of a CSV column that has no unit: "715.782047MB/s".
std::string exact_rate_text(double bytes_per_second);

/// A text of a CSV row, in quotation marks.
std::string csv_text(std::string_view text);

}  // namespace warpmeter::reports::nvprof
