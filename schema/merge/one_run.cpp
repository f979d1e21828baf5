// SPDX-License-Identifier: MIT
#include "schema/merge/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/with_noun.h"
#include "schema/alike/alike.h"
#include "schema/database.h"
#include "schema/sqlite.h"
#include "schema/table_shapes.h"
#include "schema/uuid.h"

namespace warpmeter::schema {
namespace {

std::string text_of(sqlite3* db, const char* sql) {
  Statement statement(db, sql);
  return statement.step() ? statement.text(0) : "";
}

/// Everything that refers to a run, but its launches' own rows, which stay with them. The first of
/// things that may be there once only (the devices, their state before and after) the first stays;
/// of states after the measuring the last.
void move_rows(sqlite3* db, std::int64_t kept) {
  const Shapes shapes(db);
  execute(db,
          "DELETE FROM t_device_state AS s WHERE phase = 'after' AND EXISTS (SELECT 1 FROM "
          "t_device_state o WHERE o.phase = 'after' AND o.device_id = s.device_id AND "
          "o.run_id > s.run_id)");
  for (const TableShape& table : shapes.of_run) {
    Statement(db, fmt::format("UPDATE OR IGNORE {} SET run_id = ?1 WHERE run_id <> ?1", table.name))
        .execute(kept);
  }
}

struct Outcome {
  const char* word = "done";
  std::optional<std::string> reason;
};

/// How much there is and should be, counted as launches are everywhere: each repetition, on each
/// device.
struct Extent {
  std::int64_t measured = 0,
               planned = 0;  ///< the numbers of launches; planned is 0 where nobody said
  bool lacks_launches = false;
};

/// `planned`: without repetitions.
Extent extent_of(sqlite3* db, std::int64_t planned) {
  Extent extent;
  extent.measured = integer_of(db, "SELECT count(*) FROM t_launch");
  const std::int64_t kinds =
      integer_of(db, "SELECT count(*) FROM (SELECT DISTINCT family, variant, size FROM t_launch)");
  extent.planned = integer_of(db, "SELECT coalesce(sum(planned_launches), 0) FROM t_run");
  extent.lacks_launches = kinds < planned;
  // Those of a part that never began are counted as often as the others are there.
  const std::int64_t times = kinds > 0 ? std::max<std::int64_t>(extent.measured / kinds, 1) : 1;
  const std::int64_t missing = std::max<std::int64_t>(planned - kinds, 0);
  if (planned > 0) {
    extent.planned = std::max(extent.planned, extent.measured + missing * times);
  }
  return extent;
}

Outcome outcome_of(sqlite3* db, const Extent& extent) {
  if (extent.lacks_launches) {
    return {"interrupted", fmt::format("{} of {} were measured", extent.measured,
                                       with_noun(extent.planned, "launch", "launches"))};
  }
  const std::int64_t unfinished =
      integer_of(db, "SELECT count(*) FROM t_run WHERE outcome IN ('interrupted', 'running')");
  if (unfinished > 0) {
    const std::string reason = text_of(
        db,
        "SELECT reason FROM t_run WHERE outcome IN ('interrupted', 'running') AND reason <> ''");
    return {"interrupted", reason.empty()
                               ? fmt::format("{} of {} parts did not come to their end", unfinished,
                                             integer_of(db, "SELECT count(*) FROM t_run"))
                               : reason};
  }
  const std::int64_t failed =
      integer_of(db, "SELECT count(*) FROM t_launch WHERE outcome = 'failed'");
  if (failed > 0) {
    return {"failed", fmt::format("{} of {} failed", failed,
                                  with_noun(extent.measured, "launch", "launches"))};
  }
  const std::string failure =
      text_of(db, "SELECT coalesce(reason, '') FROM t_run WHERE outcome = 'failed'");
  if (!failure.empty()) return {"failed", failure};
  return {};
}

}  // namespace

std::int64_t make_one_run(const std::string& path, const std::string& command,
                          std::int64_t planned) {
  const Handle db = open_for_writing(path);
  Transaction transaction(db.get());
  if (integer_of(db.get(), "SELECT count(*) FROM t_run") == 0) {
    throw Error(ExitCode::nothing, fmt::format("{} has no run", path));
  }
  const std::int64_t kept = integer_of(db.get(), "SELECT min(run_id) FROM t_run");
  const std::string content = text_of(
      db.get(),
      "SELECT (SELECT group_concat(uuid) FROM (SELECT uuid FROM t_run ORDER BY uuid)) || ' ' || "
      "(SELECT count(*) FROM t_launch)");
  const std::uint64_t hash = hash_of(content);
  const std::string uuid = uuid_of(hash, hash_of(content, hash));
  const Extent extent = extent_of(db.get(), planned);
  const Outcome outcome = outcome_of(db.get(), extent);
  move_rows(db.get(), kept);
  Statement(db.get(),
            "UPDATE t_run SET uuid = ?2, command = ?3, outcome = ?4, reason = ?5, "
            "started = (SELECT min(started) FROM t_run), ended = (SELECT max(ended) FROM t_run), "
            "host = (SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM t_run "
            "ORDER BY host)), planned_launches = nullif(?6, 0) WHERE run_id = ?1")
      .execute(kept, uuid, command, outcome.word, outcome.reason, extent.planned);
  Statement(db.get(), "DELETE FROM t_run WHERE run_id <> ?1").execute(kept);
  execute(db.get(), "DELETE FROM t_alike");
  transaction.commit();
  keep_alike(db.get(), kept);
  return kept;
}

}  // namespace warpmeter::schema
