// SPDX-License-Identifier: MIT
// Errors of CLI11, as one sentence of ours with the nearest names.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace warpmeter::cli {

/// The mistake in the command line that `program` refused with `refusal`.
Error usage_error(const CLI::App& program, const CLI::ParseError& refusal);

/// The mistake of naming no command at all.
Error no_command(const CLI::App& program);

/// The advice of a command against too little memory, in the words of its own options.
Error out_of_memory(const CLI::App& command);

/// A sentence about a database tells to name another with --db; this names the option that the file
/// came from, or none for "".
std::string naming_other_option(std::string sentence, std::string_view option);

}  // namespace warpmeter::cli
