#include "collector/cli/run_record.h"

#include <utility>

#include "base/host_name.h"
#include "collector/cli/version.h"

namespace warpmeter::cli {

schema::Run run_record(std::string backend, std::string command, std::string label) {
  schema::Run run;
  run.backend = std::move(backend);
  run.tool_version = version();
  run.git_revision = git_revision();
  run.cuda_version = cuda_version();
  run.host = host_name();
  run.command = std::move(command);
  run.label = std::move(label);
  return run;
}

}  // namespace warpmeter::cli
