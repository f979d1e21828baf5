// SPDX-License-Identifier: MIT
// A run goes on in another process: that of a task which was cut off, maybe on another machine.
#include <fmt/format.h>

#include "base/error.h"
#include "schema/process.h"
#include "schema/sqlite.h"
#include "schema/store.h"

namespace warpmeter::schema {

void Store::continue_run(std::int64_t run_id, int repeat) {
  const ProcessIdentity process = ProcessIdentity::of_this_process();
  Transaction transaction(db_.get());
  Statement read(db_.get(),
                 "SELECT process_host, boot_id, process_namespace, process_id, process_start "
                 "FROM t_run WHERE run_id = ? AND outcome = 'running'");
  read.bind(1, run_id);
  if (read.step()) {
    const ProcessIdentity other = {read.text(0), read.text(1), read.text(2), read.integer(3),
                                   read.integer(4)};
    if (liveness(other) == Liveness::alive) {
      throw Error(ExitCode::file, fmt::format("run {} is still being measured, by process {}: "
                                              "wait for its end",
                                              run_id, other.id));
    }
  }
  Statement(db_.get(), "DELETE FROM t_alike WHERE run_id = ?").execute(run_id);
  Statement(db_.get(),
            "DELETE FROM t_launch WHERE run_id = ?1 AND outcome = 'done' AND "
            "(device_id, family, variant, coalesce(size, 0)) IN (SELECT device_id, family, "
            "variant, coalesce(size, 0) FROM t_launch WHERE run_id = ?1 GROUP BY 1, 2, 3, 4 "
            "HAVING count(*) < ?2)")
      .execute(run_id, repeat);
  Statement(db_.get(),
            "UPDATE t_run SET outcome = 'running', reason = NULL, ended = NULL, process_host = ?,"
            " boot_id = ?, process_namespace = ?, process_id = ?, process_start = ? "
            "WHERE run_id = ?")
      .execute(process.host, process.boot_id, process.name_space, process.id, process.start_ticks,
               run_id);
  transaction.commit();
}

}  // namespace warpmeter::schema
