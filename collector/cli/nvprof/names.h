// SPDX-License-Identifier: MIT
// The events and metrics of a command line, as the catalogue answers them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collector/cli/nvprof/options.h"
#include "reports/nvprof/counted.h"
#include "schema/store.h"

namespace warpmeter::cli::nvprof {

/// A name and the scope that it was asked for.
struct ScopedName {
  reports::nvprof::Counted counted;
  Scope scope;
};

struct Names {
  std::vector<ScopedName> names;      ///< each once a scope
  std::vector<std::string> warnings;  ///< names that nobody can answer, a sentence each
};

/// The output of --query-metrics and --query-events.
std::string available_text(bool is_event, std::span<const std::string> devices);

/// The names that a run has values of.
Names names_in(const schema::Reader& reader, std::int64_t run_id);

/// Throws Error{usage} for a name that nvprof never had, with the nearest ones.
Names names_of(std::span<const AskedName> asked);

}  // namespace warpmeter::cli::nvprof
