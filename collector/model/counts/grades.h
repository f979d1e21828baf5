// SPDX-License-Identifier: MIT
// Counters out of what the sites of a program have counted, and how far each is to be trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/counter_names.h"
#include "collector/model/machine/launch/launch.h"
#include "schema/catalogue.h"
#include "schema/records.h"

namespace warpmeter::model {

/// How far an access's counts are to be trusted, and why no further; empty when they are exact.
struct SiteGrade {
  schema::Grade grade = schema::Grade::exact;
  std::string_view reason;  ///< may lie in the program
};
/// The grade that the program as a whole allows, also for a count to which no access of its PTX
/// added: without its machine code nobody knows what it executes.
SiteGrade grade_without_access(const Program& program);
/// The grade of one of the program's sites.
SiteGrade grade_of(const Program& program, std::size_t site, AddressSpace space,
                   const LaunchOutcome& outcome);
/// The same for its sectors: hardware's counter of those of cp.async is wrong now and then.
SiteGrade grade_of_sectors(const Program& program, std::size_t site, AddressSpace space,
                           const LaunchOutcome& outcome);

/// A counter of the catalogue. Unavailable, with the reason, when the model does not count it.
schema::Counter counter(std::string_view name, const Program& program,
                        const LaunchOutcome& outcome);

/// True for a counter that is estimated where only some blocks were counted: every block tells its
/// own instructions, warps and itself.
bool is_estimated_counter(std::string_view name);

/// A counter found by the catalogue's name, or by the PerfWorks name of a counter of the catalogue.
/// To find it takes longer than to read it from a small launch.
struct NamedCounter {
  NamedCounter(const std::string& name);  // NOLINT(google-explicit-constructor): it is its name

  std::string name;                                ///< that it was asked by
  std::string own_name;                            ///< the catalogue's, if it has one
  const std::vector<schema::Term>* sum = nullptr;  ///< the counters that it is the sum of, if any
  const CounterName* of_accesses = nullptr;        ///< null: it is none of accesses
  std::optional<Carrier> only;                     ///< the only carrier whose part is asked for
};

/// The same as counter(); it keeps the name that it was asked by.
schema::Counter counter_named(const NamedCounter& counter, const Program& program,
                              const LaunchOutcome& outcome);

/// A grid that has run: a launch, or what its kernel launched. Hardware counts them together.
struct Ran {
  const Program* program = nullptr;
  LaunchOutcome outcome;
};
/// The sum over the grids, of the weakest of their grades. `doubt`: why it is approximate; empty:
/// nothing more is known against it.
schema::Counter counter_named(const NamedCounter& counter, const std::vector<Ran>& grids,
                              std::string_view doubt = "");

/// The counters of accesses and the instructions of the PTX, and their values in the same order.
/// For those of the machine code see instruction_counts.h.
std::vector<std::string_view> counter_list();
bool is_counted(std::string_view counter);  ///< by the model
std::vector<double> counter_values(const Program& program, const LaunchOutcome& outcome);

}  // namespace warpmeter::model
