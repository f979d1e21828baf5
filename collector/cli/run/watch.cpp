// SPDX-License-Identifier: MIT
#include "collector/cli/run/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/utf8.h"
#include "base/with_noun.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/run/file_watch.h"
#include "collector/cli/run/measure.h"
#include "collector/cli/run/plan.h"
#include "collector/cli/terminal.h"
#include "collector/family/launch_state.h"
#include "reports/explain/explained.h"
#include "reports/explain/sentences.h"
#include "reports/metrics.h"
#include "reports/table/number.h"
#include "reports/table/table.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// family/variant and size: a row of the table.
using Row = std::pair<std::string, std::int64_t>;

struct Figure {
  std::optional<double> now, before, first;
};

/// The figures of the table from round to round.
class Figures {
 public:
  explicit Figures(std::vector<std::string> metrics) : metrics_(std::move(metrics)) {}

  /// Figures of variants that left the files go; what is not run `again` keeps its figures,
  /// unchanged, or its failure.
  void keep(const std::vector<Row>& rows, const std::map<Row, std::string>& again) {
    rows_ = rows;
    for (auto& [key, figure] : figures_) figure.before = figure.now;
    const auto is_over = [&](const auto& entry) {
      return again.contains(entry.first) ||
             std::find(rows.begin(), rows.end(), entry.first) == rows.end();
    };
    std::erase_if(reasons_, is_over);
    std::erase_if(findings_, is_over);
  }

  void add(const Row& row, const std::string& metric, std::optional<double> value) {
    Figure& figure = figures_[{row, metric}];
    figure.now = value;
    if (!figure.first) figure.first = value;
  }
  void fail(const Row& row, const std::string& reason) {
    reasons_[row] = reason;
    for (const std::string& metric : metrics_) figures_[{row, metric}].now.reset();
  }

  /// The costliest finding of a row.
  void explain(const Row& row, const std::string& finding) { findings_[row] = finding; }

  /// The table, under each row its finding.
  std::string text() const {
    const std::string table = reports::render(this->table(), reports::Format::table);
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = table.find('\n', at);
      lines.push_back(std::string_view(table).substr(at, end - at));
      at = end + 1;
    }
    // A row is a line, and the rows are the last ones.
    const std::size_t headings = lines.size() - rows_.size();
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      text += fmt::format("{}\n", lines[i]);
      if (i < headings) continue;
      const auto finding = findings_.find(rows_[i - headings]);
      if (finding != findings_.end()) text += fmt::format("  ↳ {}\n", printable(finding->second));
    }
    return text;
  }

  reports::Table table() const {
    reports::Table table;
    table.columns = {reports::Column::text("variant"),
                     reports::Column::number("size", "size", "", reports::Kind::exact)};
    std::vector<std::string> shown;
    for (const std::string& metric : metrics_) {
      const bool has_value = std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
        const auto found = figures_.find({row, metric});
        if (found == figures_.end() || !found->second.now) return false;
        const Figure& figure = found->second;
        const bool is_any = *figure.now != 0 || figure.first.value_or(0) != 0;
        return is_any || !reports::is_shown_where_any(metric);
      });
      if (!has_value) continue;
      shown.push_back(metric);
      table.columns.push_back(reports::Column::text(
          metric, reports::metric_column(metric, reports::Kind::count).heading));
    }
    for (const Row& row : rows_) {
      std::vector<reports::Cell> cells = {
          row.first,
          row.second > 0 ? reports::Cell(row.second) : reports::Cell(reports::Missing{"one size"})};
      const auto failed = reasons_.find(row);
      for (const std::string& metric : shown) {
        const auto found = figures_.find({row, metric});
        cells.emplace_back(failed != reasons_.end()  ? std::string("failed")
                           : found == figures_.end() ? std::string("–")
                                                     : text_of(found->second));
      }
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

  /// Each reason once: what does not compile fails for all variants with the same words.
  std::string failures() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    for (const auto& [row, reason] : reasons_) {
      auto found = std::find_if(all.begin(), all.end(),
                                [&, &why = reason](const auto& one) { return one.first == why; });
      if (found == all.end()) found = all.insert(all.end(), {reason, {}});
      std::vector<std::string>& names = found->second;
      if (names.empty() || names.back() != row.first) names.push_back(row.first);
    }
    std::string text;
    for (const auto& [reason, names] : all) {
      constexpr std::size_t most_named = 3;
      const std::size_t named = std::min(names.size(), most_named);
      const std::string more =
          names.size() == named ? "" : fmt::format(" and {} more", names.size() - named);
      text += fmt::format(
          "{}{} failed: {}\n",
          fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "), more,
          reason);
    }
    return text;
  }

 private:
  static std::string change(double now, double then) {
    const double difference = now - then;
    return fmt::format("{}{}", difference < 0 ? "-" : "+",
                       reports::readable_number(std::fabs(difference), reports::Zeros::trim));
  }

  /// "2 (-6, -30)": since the last save, since the start; nothing where nothing changed.
  static std::string text_of(const Figure& figure) {
    if (!figure.now) return "–";
    const std::string value = reports::readable_number(*figure.now, reports::Zeros::trim);
    const bool moved = figure.before && *figure.before != *figure.now;
    const bool moved_ever = figure.first && *figure.first != *figure.now;
    if (!moved && !moved_ever) return value;
    return fmt::format("{} ({}, {})", value, moved ? change(*figure.now, *figure.before) : "=",
                       moved_ever ? change(*figure.now, *figure.first) : "=");
  }

  std::vector<std::string> metrics_;
  std::vector<Row> rows_;
  std::map<std::pair<Row, std::string>, Figure> figures_;
  std::map<Row, std::string> reasons_, findings_;
};

class Watch {
 public:
  Watch(const RunRequest& request, const run::Options& options, const Backends& backends)
      : request_(request), options_(options), backends_(backends), figures_(metrics_of(options)) {
    request_.quiet = true;
  }

  ExitCode run() {
    FileWatch saves;
    saves.set(request_.files.files);
    do {
      const auto begin = std::chrono::steady_clock::now();
      std::string words;
      is_whole_ = false;
      try {
        words = measure(saves);
      } catch (const Error& error) {
        words = printable_lines(error.what()) + "\n";
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      // A round that came to its end is shown, even if Ctrl-C has come meanwhile.
      if (is_whole_ || !interrupted()) show(words, took.count());
    } while (saves.wait(interrupted));
    return ExitCode::done;
  }

 private:
  static std::vector<std::string> metrics_of(const run::Options& options) {
    std::vector<std::string> metrics;
    if (options.timing) metrics.emplace_back("duration");
    for (const schema::SetInfo& set : schema::Catalogue::get().sets()) {
      const bool is_asked = std::find(options.metrics.begin(), options.metrics.end(),
                                      "@" + set.name) != options.metrics.end();
      if (!is_asked) continue;
      metrics.insert(metrics.end(), set.metrics.begin(), set.metrics.end());
      for (const reports::ComparedMetric& compared : reports::compared_metrics()) {
        const std::string name(compared.name);
        const bool is_of_set =
            std::find(set.where_any.begin(), set.where_any.end(), name) != set.where_any.end();
        if (is_of_set) metrics.push_back(name);
      }
    }
    for (const std::string& metric : options.metrics) {
      if (!metric.starts_with('@')) metrics.push_back(metric);
    }
    return metrics;
  }

  /// The files as they are now, compiled. A later save begins it anew, or a round would be of two
  /// versions: the family of the one, its kernels of the other.
  Families compile(FileWatch& saves) {
    Families families;
    do {
      FileClaims claims;
      const std::vector<family::FamilySpec> specs =
          specs_of(request_.files, request_.sizes, claims);
      std::vector<std::string> files = request_.files.files;
      for (const family::FamilySpec& spec : specs) {
        const std::vector<std::string> more = family::files_of(spec);
        files.insert(files.end(), more.begin(), more.end());
      }
      saves.set(files);
      check_machine_code(specs, backends_);
      families = families_of(request_, specs, backends_.opened.front()->device());
    } while (saves.was_saved() && !interrupted());
    return families;
  }

  /// One round; what there is to say beside the table.
  std::string measure(FileWatch& saves) {
    const Families families = compile(saves);
    const run::Choice whole = run::choose(families.all, request_.selectors, sizes_of(request_));
    for (const auto& backend : backends_.opened) run::check_fits(whole.selections, *backend);

    std::vector<Row> rows;
    run::Choice changed;
    std::map<Row, std::string> states;
    for (const run::Selection& selection : whole.selections) {
      const auto file = std::find_if(
          families.of_files.begin(), families.of_files.end(),
          [&](const auto& candidate) { return &candidate->family() == selection.family; });
      for (const std::int64_t size : selection.sizes) {
        run::Selection again{selection.family, {}, {size}};
        for (const kernels::Variant* variant : selection.variants) {
          const Row row{fmt::format("{}/{}", selection.family->name, variant->name), size};
          rows.push_back(row);
          const std::string state = family::launch_state(**file, *variant, size);
          if (states_.contains(row) && states_.at(row) == state) continue;
          states[row] = state;
          again.variants.push_back(variant);
        }
        if (!again.variants.empty()) changed.selections.push_back(std::move(again));
      }
    }
    figures_.keep(rows, states);
    if (changed.selections.empty()) return "nothing that is run has changed\n";
    ProgressBar bar(is_terminal(STDERR_FILENO) && !request_.no_progress);
    Output output;
    const run::Summary summary = measure_into(request_, changed, options_, backends_, bar, output);
    is_whole_ = !summary.cancelled;
    if (is_whole_) {
      for (auto& [row, state] : states) states_[row] = std::move(state);
    }
    read_figures(summary.run_id);
    read_findings(summary.run_id);
    std::string remarks;
    for (const std::string& text : summary.remarks) remarks += text + "\n";
    return fmt::format("{} of {} changed and ran; run {} of {}\n{}{}", changed.launches(),
                       with_noun(rows.size(), "launch", "launches"), summary.run_id,
                       request_.database, figures_.failures(), remarks);
  }

  void read_figures(std::int64_t run_id) {
    const schema::Reader reader(request_.database);
    const schema::Rows values = reader.query(
        "SELECT family || '/' || variant, coalesce(size, 0), metric, avg(value) FROM results "
        "WHERE run_id = :run GROUP BY 1, 2, 3",
        {{":run", run_id}});
    for (const auto& row : values.rows) {
      const auto* value = std::get_if<double>(&row[3]);
      figures_.add({std::get<std::string>(row[0]), std::get<std::int64_t>(row[1])},
                   std::get<std::string>(row[2]),
                   value != nullptr ? std::optional(*value) : std::nullopt);
    }
    const schema::Rows failed = reader.query(
        "SELECT family || '/' || variant, coalesce(size, 0), reason FROM launches "
        "WHERE run_id = :run AND outcome = 'failed'",
        {{":run", run_id}});
    for (const auto& row : failed.rows) {
      figures_.fail({std::get<std::string>(row[0]), std::get<std::int64_t>(row[1])},
                    std::get<std::string>(row[2]));
    }
  }

  void read_findings(std::int64_t run_id) {
    const schema::Reader reader(request_.database);
    const schema::Rows any =
        reader.query("SELECT 1 FROM launches WHERE run_id = :run LIMIT 1", {{":run", run_id}});
    if (any.rows.empty()) return;
    reports::ExplainRequest wanted;
    wanted.run = run_id;
    wanted.top = 1;
    for (const reports::ExplainedLaunch& launch : reports::read_explained(reader, wanted)) {
      if (launch.findings.empty()) continue;
      figures_.explain({fmt::format("{}/{}", launch.name.family, launch.name.variant),
                        launch.name.size.value_or(0)},
                       reports::finding_in_short(launch.findings.front()));
    }
  }

  void show(const std::string& words, double seconds) {
    const bool in_place = is_terminal(STDOUT_FILENO);
    Output output;
    std::string text = in_place ? "\x1b[H\x1b[J" : "";
    text += figures_.text();
    text += fmt::format(
        "\n{}{:.2f} s; in parentheses the change since the last save, and since the "
        "start; watching, Ctrl-C ends\n",
        words, seconds);
    output.write(text);
    output.finish();
  }

  RunRequest request_;
  const run::Options options_;
  const Backends& backends_;
  Figures figures_;
  std::map<Row, std::string> states_;
  bool is_whole_ = false;  ///< the last round was measured to its end
};

}  // namespace

ExitCode watch(const RunRequest& request, const run::Options& options, const Backends& backends) {
  if (request.files.files.empty()) {
    throw Error(ExitCode::usage, "--watch is for files: warpmeter run FILE.yaml --watch");
  }
  return Watch(request, options, backends).run();
}

}  // namespace warpmeter::cli
