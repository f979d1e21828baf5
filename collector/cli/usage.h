// What CLI11 does not accept, as one sentence of ours with the nearest names.
#pragma once

#include "schema/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace warpmeter::cli {

/// The mistake in the command line that `program` refused with `refusal`.
Error usage_error(const CLI::App& program, const CLI::ParseError& refusal);

/// The mistake of naming no command at all.
Error no_command(const CLI::App& program);

}  // namespace warpmeter::cli
