// SPDX-License-Identifier: MIT
// A password on the command line can be read by everybody on the machine, in the list of processes.
#pragma once

namespace warpmeter::cli {

/// Takes passwords out of what the list of processes shows of the words behind the command `push`
/// or `pull`: in URLs and in "password=…". Called before anything else, on argv itself, whose texts
/// are copied before.
void hide_passwords(int argc, char** argv);

}  // namespace warpmeter::cli
