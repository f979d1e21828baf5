// SPDX-License-Identifier: MIT
// The questions to Slurm's own commands, and what they answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpmeter::lab {

/// A node in one partition.
struct Node {
  std::string name, partition, state;
  bool is_default_partition = false;
  std::map<std::string, std::int64_t> gpus;  ///< by type; "" where Slurm knows none
  bool is_usable() const;                    ///< neither down nor drained
};

/// sinfo. Throws Error{no_hardware} where there is no Slurm, or its controller does not answer.
std::vector<Node> nodes();

/// The GPUs of "gpu:h200:8(S:0-1),shard:4", by type.
std::map<std::string, std::int64_t> gpus_of(const std::string& gres);

/// A task of an array, or a job without one (task 0), as squeue or sacct knows it.
struct QueuedTask {
  std::int64_t job = 0, task = 0;
  std::string state;  ///< PENDING, RUNNING, COMPLETED, TIMEOUT, NODE_FAIL, …
  std::string reason, node, elapsed;
  bool is_waiting() const;  ///< to begin, for the first time or again
  bool is_running() const;
};

/// The state of these jobs by Slurm; where it has forgotten one, its accounting where there is one.
std::vector<QueuedTask> queued(const std::vector<std::int64_t>& jobs);

/// The array jobs in the queue whose comment is this one.
std::vector<std::int64_t> jobs_with_comment(const std::string& comment);

/// sbatch with these options, in the folder. Its number. Throws Error{usage} with Slurm's words
/// where it refuses.
std::int64_t submit(const std::string& folder, const std::vector<std::string>& options,
                    const std::string& script);

/// scancel. Throws Error{no_hardware} with Slurm's words.
void cancel(const std::vector<std::int64_t>& jobs);

/// A node's view of storage that it has to see.
struct Sight {
  std::string node;     ///< that answered; empty: none was free, or srun refused
  std::string missing;  ///< the files that it does not see; empty: it sees all
  std::string words;    ///< why none answered
};

/// Has a node look at `probe` (which holds `words`), at the program and the folder of the command,
/// and write beside the probe. Waits some seconds for a free node and no longer.
Sight look(const std::string& probe, const std::string& words, const std::string& program,
           const std::string& directory, const std::vector<std::string>& options);

}  // namespace warpmeter::lab
