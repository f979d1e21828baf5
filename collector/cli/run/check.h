// SPDX-License-Identifier: MIT
// `warpmeter run --check`: each chosen variant runs on the model, and is looked at for mistakes.
// Nothing is measured or stored.
#pragma once

#include <vector>

#include "base/error.h"
#include "collector/cli/backends.h"
#include "collector/cli/request/run_request.h"
#include "collector/model/session/backend.h"
#include "collector/run/selection.h"

namespace warpmeter::cli {

/// Takes what the model's checker says of each launch, and shows it.
class RunCheck {
 public:
  /// Makes the model answer, and tell this object, which outlives its backend. Throws Error{usage}
  /// where the request asks for a GPU, or for figures.
  void prepare(const RunRequest& request, BackendRequest& backend);

  /// Without -n a family is checked at its smallest size. Mistakes, and launches that cannot be
  /// checked, end in Error{kernel}.
  ExitCode run(const RunRequest& request, const run::Choice& choice, run::Backend& model);

 private:
  std::vector<model::CheckedLaunch> checked_;
};

}  // namespace warpmeter::cli
