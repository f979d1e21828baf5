// SPDX-License-Identifier: MIT
// The list of subcommands, in the order in which --help shows them.
#include "base/shell_line.h"
#include "collector/cli/options.h"

namespace warpmeter::cli {

std::vector<Command> add_commands(CLI::App& program, const std::vector<std::string>& words) {
  return {
      add_run(program, words),                // measure kernel variants
      add_profile(program, words),            // measure the kernels of any program
      add_model(program, shell_line(words)),  // run a kernel of one's own on the model
      add_nvprof(program, words),             // nvprof's command line and output
      add_report(program),                    // render tables of a run
      add_explain(program),                   // which line, why, what to change
      add_compare(program),                   // changes between runs, and whether they are real
      add_check(program),                     // expectations, gates, a baseline
      add_history(program),                   // one metric over runs
      add_query(program),                     // read the database
      add_merge(program),                     // join databases
      add_push(program, words),               // to the lab's server
      add_pull(program),                      // and back
      add_submit(program, words),             // any of these as a job of Slurm
      add_runs(program),                      // name, remove, back up runs
      add_list(program),                      // kernels, metrics, devices, runs, views
      add_doctor(program),                    // the state of this machine
      add_mcp(program),                       // a server for agents and editors
      add_completion(program),
  };
}

}  // namespace warpmeter::cli
