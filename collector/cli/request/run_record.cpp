// SPDX-License-Identifier: MIT
#include "collector/cli/request/run_record.h"

#include <cstdlib>
#include <utility>

#include "base/host_name.h"
#include "collector/cli/version.h"

namespace warpmeter::cli {
namespace {

/// These variables say which devices a run was given, how they were shared, and by what job.
constexpr const char* telling[] = {"CUDA_VISIBLE_DEVICES",
                                   "CUDA_DEVICE_ORDER",
                                   "NVIDIA_VISIBLE_DEVICES",
                                   "CUDA_MPS_PIPE_DIRECTORY",
                                   "SLURM_JOB_ID",
                                   "SLURM_JOB_GPUS",
                                   "SLURM_JOB_PARTITION",
                                   "SLURM_ARRAY_JOB_ID",
                                   "SLURM_ARRAY_TASK_ID",
                                   "SLURMD_NODENAME",
                                   "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"};

}  // namespace

schema::Run run_record(std::string backend, std::string command, std::string label) {
  schema::Run run;
  run.backend = std::move(backend);
  run.tool_version = version();
  run.git_revision = git_revision();
  run.cuda_version = cuda_version();
  run.host = host_name();
  run.command = std::move(command);
  run.label = std::move(label);
  for (const char* name : telling) {
    if (const char* value = std::getenv(name)) run.environment.emplace_back(name, value);
  }
  return run;
}

}  // namespace warpmeter::cli
