# SPDX-License-Identifier: MIT
# Writes OUTPUT, a C++ file with the git revision of SOURCE; leaves it alone when it would not change, so that
# nothing is compiled again.
execute_process(COMMAND git -c safe.directory=* rev-parse --short=12 HEAD
                WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision unknown)
else()
  execute_process(COMMAND git -c safe.directory=* status --porcelain --untracked-files=no
                  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND revision -modified)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[// Written at every build by collector/cli/revision.cmake.
#include "collector/cli/version.h"

const char* warpmeter::cli::git_revision() { return "@revision@"; }
]])
