// SPDX-License-Identifier: MIT
#include "schema/view_sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "schema/catalogue.h"
#include "schema/explanation.h"
#include "schema/records.h"

namespace warpmeter::schema {
namespace {

std::string number_of_grade(std::string_view name) {
  for (const GradeInfo& info : grades) {
    if (name == info.name) return std::to_string(static_cast<int>(info.grade));
  }
  throw std::logic_error(fmt::format("a view needs the grade {}, which there is not", name));
}

/// "measured, exact, modelled, ptx or unavailable"
std::string all_grades() {
  std::string text;
  for (const GradeInfo& info : grades) {
    if (info.grade != grades.front().grade) {
      text += info.grade == grades.back().grade ? " or " : ", ";
    }
    text += info.name;
  }
  return text;
}

/// Where the terms of the metrics without counters are stored.
std::string stored_column(const std::string& name) {
  return (name == "median_ns" ? "t." : "l.") + name;
}

struct ViewColumn {
  std::string_view name, sql, description;
};
constexpr ViewColumn finding_columns[] = {
#define FINDING(sort, name, description) {#name, sorts::sort::view_sql, description},
#define FINDING_VIEW(sort, name, sql, description) {#name, sql, description},
#include "schema/explanation_fields.h"
};
constexpr ViewColumn remedy_columns[] = {
#define REMEDY(sort, name, description) {#name, sorts::sort::view_sql, description},
#include "schema/explanation_fields.h"
};

/// The end of a SELECT's list.
std::string selected(std::span<const ViewColumn> columns) {
  std::string text;
  for (const ViewColumn& column : columns) {
    text += fmt::format("{}{} AS {}", text.empty() ? "" : ",\n  ",
                        fmt::format(fmt::runtime(column.sql), column.name), column.name);
  }
  return text;
}
/// The end of a view's comment.
std::string described(std::span<const ViewColumn> columns) {
  std::string text;
  for (const ViewColumn& column : columns) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n-- ", column.name, column.description);
  }
  return view_sql(text);
}

/// Why a launch `l` of a device `d` that did not fail has no explanation.
std::string not_explained() {
  return fmt::format(
      "CASE WHEN d.backend = 'cupti' THEN '{}' "
      "WHEN EXISTS (SELECT 1 FROM t_value v WHERE v.launch_id = l.launch_id) "
      "THEN 'it was counted without explaining, as --check and an older warpmeter do' "
      "ELSE 'no access was counted: the metrics of @default count and explain them' END",
      without_addresses);
}

/// Why the bytes that a launch `l` on a device `d` spills are not known.
constexpr std::string_view spills_unknown =
    "coalesce(l.resources_reason, l.spills_reason, CASE WHEN d.backend = 'cupti' AND "
    "l.local_bytes IS NOT NULL THEN 'the driver does not tell spills from arrays in local memory: "
    "-b model and ptxas -v do' END, 'spills were not recorded')";

/// All launches of a run lie in the month that both their numbers begin with
/// (schema/server/server_schema.h): the tables of other months need not be asked.
constexpr std::string_view launches_there =
    "l.run_id = r.run_id AND l.launch_id >= r.run_id / 1000000000 * 10000000000 "
    "AND l.launch_id < (r.run_id / 1000000000 + 1) * 10000000000";

class Formulas {
 public:
  explicit Formulas(Dialect dialect) : is_sqlite_(dialect == Dialect::sqlite) {}

  std::string in_braces(std::string_view what) {
    if (what == "counters") return joins();
    if (what == "comparison") return is_sqlite_ ? "v_comparison" : "t_comparison";
    if (what == "timed") return cases(&MetricInfo::is_timed);
    if (what == "timed names") return names(&MetricInfo::is_timed);
    if (what == "resources") return cases(&MetricInfo::is_resource);
    if (what == "resource names") return names(&MetricInfo::is_resource);
    if (what == "grades") return all_grades();
    if (what == "not_explained") return not_explained();
    if (what == "spills_unknown") return std::string(spills_unknown);
    if (what == "finding") return selected(finding_columns);
    if (what == "finding described") return described(finding_columns);
    if (what == "remedy") return selected(remedy_columns);
    if (what == "remedy described") return described(remedy_columns);
    if (what == "group_concat") return is_sqlite_ ? "group_concat" : "string_agg";
    if (what == "l of r") {
      return std::string(is_sqlite_ ? "l.run_id = r.run_id" : launches_there);
    }
    if (what == "real 100") return real(100);
    if (what.starts_with("once ")) {
      return is_sqlite_ ? fmt::format("GROUP BY {}", what.substr(5)) : "OFFSET 0";
    }
    if (what.starts_with("grade ")) return number_of_grade(what.substr(6));
    const std::size_t begin = std::min(what.find('('), what.size());
    const MetricInfo* metric = Catalogue::get().find_metric(what.substr(0, begin));
    if (metric == nullptr) {
      throw std::logic_error(fmt::format("a view needs {}, which there is not", what));
    }
    if (begin == what.size()) return formula(*metric, own_operands(*metric));
    if (what.back() != ')') throw std::logic_error(fmt::format("a view has {}", what));
    return formula(*metric, list(what.substr(begin + 1, what.size() - begin - 2)));
  }

 private:
  /// A number that is not taken for an integer.
  std::string real(double number) const {
    return fmt::format("{:#}{}", number, is_sqlite_ ? "" : "::float8");
  }

  static std::vector<std::string> list(std::string_view text) {
    std::vector<std::string> entries;
    while (true) {
      const std::size_t end = std::min(text.find(", "), text.size());
      entries.emplace_back(text.substr(0, end));
      if (end == text.size()) return entries;
      text.remove_prefix(end + 2);
    }
  }

  /// `operands`: those of the numerator first.
  std::string formula(const MetricInfo& metric, std::span<const std::string> operands) const {
    if (operands.size() != metric.numerator.size() + metric.denominator.size()) {
      throw std::logic_error(
          fmt::format("a view gives {} a wrong number of counters", metric.name));
    }
    const std::size_t above = metric.numerator.size();
    std::string text = sum(metric.numerator, operands.first(above));
    if (!metric.denominator.empty()) {
      // SQLite's quotient by 0 is NULL, PostgreSQL's an error.
      const std::string below = sum(metric.denominator, operands.subspan(above));
      text = is_sqlite_ ? fmt::format("({} / {})", text, below)
                        : fmt::format("({} / nullif({}, 0))", text, below);
    }
    return metric.scale == 1 ? text : fmt::format("{} * {}", real(metric.scale), text);
  }

  std::string sum(std::span<const Term> terms, std::span<const std::string> operands) const {
    std::string text;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (!text.empty()) text += " + ";
      if (terms[i].factor != 1) text += real(terms[i].factor) + " * ";
      text += operands[i];
    }
    return terms.size() == 1 && terms[0].factor == 1 ? text : "(" + text + ")";
  }

  std::vector<std::string> own_operands(const MetricInfo& metric) {
    std::vector<std::string> operands;
    for (const auto* terms : {&metric.numerator, &metric.denominator}) {
      for (const Term& term : *terms) {
        operands.push_back(metric.has_counters() ? joined(term.name) : stored_column(term.name));
      }
    }
    return operands;
  }

  /// likely() keeps a condition on the value from making the join an inner one, which SQLite would
  /// begin with all rows of t_value.
  std::string joined(const std::string& counter) {
    if (std::find(counters_.begin(), counters_.end(), counter) == counters_.end()) {
      counters_.push_back(counter);
    }
    return is_sqlite_ ? fmt::format("likely({}.value)", counter) : "counted." + counter;
  }

  /// A counter's number is looked up once, its name would be for every launch.
  std::string joins() const {
    if (!is_sqlite_) return one_look();
    std::string text;
    for (const std::string& counter : counters_) {
      text += fmt::format(
          "\n  LEFT JOIN t_value {0} ON {0}.launch_id = l.launch_id\n"
          "    AND {0}.counter_id = (SELECT c.counter_id FROM t_counter c WHERE c.name = '{0}')",
          counter);
    }
    return text;
  }

  std::string one_look() const {
    std::vector<std::string> columns;
    for (const std::string& counter : counters_) {
      columns.push_back(fmt::format(
          "max(v.value) FILTER (WHERE v.counter_id = (SELECT c.counter_id FROM t_counter c "
          "WHERE c.name = '{0}')) AS {0}",
          counter));
    }
    return fmt::format(
        "\n  CROSS JOIN LATERAL (SELECT {}\n    FROM t_value v WHERE v.launch_id = l.launch_id) "
        "counted",
        fmt::join(columns, ",\n    "));
  }

  std::string cases(bool MetricInfo::*is_wanted) {
    std::vector<std::string> all;
    for (const MetricInfo& metric : Catalogue::get().metrics()) {
      if (!(metric.*is_wanted)) continue;
      all.push_back(
          fmt::format("WHEN '{}' THEN {}", metric.name, formula(metric, own_operands(metric))));
    }
    return fmt::format("{}", fmt::join(all, "\n      "));
  }

  static std::string names(bool MetricInfo::*is_wanted) {
    std::vector<std::string> all;
    for (const MetricInfo& metric : Catalogue::get().metrics()) {
      if (metric.*is_wanted) all.push_back("'" + metric.name + "'");
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  bool is_sqlite_;
  std::vector<std::string> counters_;
};

}  // namespace

std::string view_sql(std::string_view file, Dialect dialect) {
  Formulas formulas(dialect);
  std::string sql;
  while (true) {
    const std::size_t begin = std::min(file.find('{'), file.size());
    sql += file.substr(0, begin);
    if (begin == file.size()) return sql;
    const std::size_t end = file.find('}', begin);
    if (end == std::string_view::npos) throw std::logic_error("a view has a brace too many");
    sql += formulas.in_braces(file.substr(begin + 1, end - begin - 1));
    file.remove_prefix(end + 1);
  }
}

}  // namespace warpmeter::schema
