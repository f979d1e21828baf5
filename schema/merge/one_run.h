// SPDX-License-Identifier: MIT
// The runs of a database as one: the tasks of a job each measured a part of what one command asked
// for, and together they are that command's run.
#pragma once

#include <cstdint>
#include <string>

namespace warpmeter::schema {

/// Makes one run of all runs of the database; its number. `command`: its command line; `planned`:
/// how many different launches it was going to have (0: those that there are) - with fewer it is
/// interrupted. Its UUID follows from those of the runs and from how much they hold: the same again
/// for the same parts, another one where a part has grown. In one transaction. Throws Error{file},
/// and Error{nothing} for a database without a run.
std::int64_t make_one_run(const std::string& path, const std::string& command,
                          std::int64_t planned);

}  // namespace warpmeter::schema
