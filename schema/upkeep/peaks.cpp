// SPDX-License-Identifier: MIT
#include "schema/upkeep/peaks.h"

#include "schema/database.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {

void store_peaks(const std::string& path, const Device& device, std::span<const Peak> peaks) {
  const Handle db = open_for_writing(path);
  Statement statement(db.get(),
                      "INSERT OR REPLACE INTO t_peak (device_id, name, unit, value, sm_clock_mhz, "
                      "reason, measured) VALUES (?, ?, ?, ?, ?, ?, "
                      "strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))");
  Transaction transaction(db.get());
  PreparedOnce prepared(db.get());
  const std::int64_t id = number_of_device(prepared, device);
  for (const Peak& peak : peaks) {
    statement.execute(id, peak.name, peak.unit, peak.value, peak.sm_clock_mhz,
                      text_or_null(peak.reason));
  }
  transaction.commit();
}

}  // namespace warpmeter::schema
