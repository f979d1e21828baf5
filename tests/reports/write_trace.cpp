// SPDX-License-Identifier: MIT
// Makes a database with a traced run.
//
//   write_trace FILE ACTIVITIES
#include <cstdlib>

#include "schema/store.h"
#include "tests/reports/traced_run.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  warpmeter::schema::Store store(argv[1]);
  warpmeter::reports::add_traced_run(store, std::atoll(argv[2]));
}
