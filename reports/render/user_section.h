// SPDX-License-Identifier: MIT
// A section that a user wrote: one SQL statement in a file. The comment at its head is the
// section's text: its first line the heading, the others a paragraph.
//
//   -- The slowest launches
//   -- Without those that failed.
//   SELECT variant, duration_ns FROM comparison WHERE run_id = :run ORDER BY duration_ns DESC LIMIT
//   5
#pragma once

#include <cstdint>

#include "reports/render/report.h"

namespace warpmeter::reports {

/// Throws Error{usage} with the file's name and SQLite's message; Error{nothing} where a limit
/// stopped it, or its table is larger than a report's can be.
void add_user_section(Document& document, const schema::Reader& reader, std::int64_t run_id,
                      const SectionChoice& choice, const schema::QueryLimits& limits);

}  // namespace warpmeter::reports
