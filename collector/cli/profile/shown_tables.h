// SPDX-License-Identifier: MIT
// The tables of `warpmeter profile`, in the format and at the place that were asked for.
#pragma once

#include <string>
#include <string_view>

#include "collector/cli/profile/request.h"
#include "collector/cli/tables/profile_tables.h"
#include "collector/profile/recorder.h"

namespace warpmeter::cli {

/// The trace, the metrics or the summary: what was asked for. `reader`: null where no run was
/// stored.
void show_tables(const ProfileRequest& request, const profile::Recorder& recorder,
                 const schema::Reader* reader);

/// Writes a text to the place of the tables: the file of --output, or standard error.
void write_tables(const ProfileRequest& request, std::string_view text);

/// --nvprof-out: writes the file, and says what is in it unless the request is quiet.
void write_nvprof_file(const ProfileRequest& request, const profile::Recorder& recorder);

/// --trace-out: the same of Perfetto's file. A run that recorded no activity has none.
void write_trace_file(const ProfileRequest& request, const profile::Recorder& recorder);

/// --kernel-name-base
KernelNameBase base_of(const std::string& name);

}  // namespace warpmeter::cli
