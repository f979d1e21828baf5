// SPDX-License-Identifier: MIT
#include "collector/cli/request/sources.h"

#include <utility>
#include <vector>

#include "collector/model/counts/source_lines.h"
#include "collector/model/input/kernel_file.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

constexpr std::size_t most_text_bytes = 1 << 20;

constexpr const char* lines_of_files =
    "SELECT DISTINCT file, line, text FROM (SELECT run_id, file, line, text FROM lines UNION ALL "
    "SELECT run_id, file, line, text FROM stalls WHERE file IS NOT NULL) WHERE run_id = :run AND "
    "file IN (SELECT file FROM lines WHERE run_id = :run AND text <> '' UNION ALL SELECT file FROM "
    "stalls WHERE run_id = :run AND text <> '') ORDER BY file, line";

struct Source {
  std::string text;
  bool is_same = true;  ///< as it was measured
};

}  // namespace

void keep_sources(const std::string& database, std::int64_t run_id,
                  const std::map<std::string, std::string>& known) {
  std::map<std::string, Source> sources;
  {
    const schema::Reader reader(database);
    const schema::Rows rows = reader.query(lines_of_files, {{":run", run_id}});
    for (const reports::Row& row : reports::each_row(rows)) {
      const std::string file = row.text("file");
      const auto [place, is_new] = sources.try_emplace(file);
      Source& source = place->second;
      if (is_new) {
        const auto held = known.find(file);
        source.text = held != known.end() ? held->second : model::source_text(file);
      }
      const auto line = static_cast<int>(row.integer("line").value_or(0));
      const std::string text = row.text("text");
      source.is_same = source.is_same && model::line_text(source.text, line) == text;
    }
  }
  std::vector<std::pair<std::string, std::string>> kept;
  for (auto& [file, source] : sources) {
    if (!source.is_same || source.text.empty() || source.text.size() > most_text_bytes) continue;
    kept.emplace_back(file, std::move(source.text));
  }
  if (!kept.empty()) schema::Store(database).add_sources(run_id, kept);
}

}  // namespace warpmeter::cli
