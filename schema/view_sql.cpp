#include "schema/view_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "schema/catalogue.h"

namespace warpmeter::schema {
namespace {

class Formulas {
 public:
  std::string of(std::string_view name) {
    if (name == "counters") return joins();
    const MetricInfo* metric = Catalogue::get().find_metric(name);
    if (metric == nullptr || metric->numerator.empty()) {
      throw std::logic_error(fmt::format("a view needs {}, which has no counters", name));
    }
    std::string formula = sum(metric->numerator);
    if (!metric->denominator.empty()) {
      formula = fmt::format("({} / {})", formula, sum(metric->denominator));
    }
    return metric->scale == 1 ? formula : fmt::format("{} * {}", real(metric->scale), formula);
  }

 private:
  /// A number that SQLite does not take for an integer.
  static std::string real(double number) { return fmt::format("{:#}", number); }

  std::string sum(std::span<const Term> terms) {
    std::string text;
    for (const Term& term : terms) {
      if (std::find(counters_.begin(), counters_.end(), term.counter) == counters_.end()) {
        counters_.push_back(term.counter);
      }
      if (!text.empty()) text += " + ";
      if (term.factor != 1) text += real(term.factor) + " * ";
      // likely() keeps a condition on the value from making the join an inner one, which SQLite
      // would begin with all rows of t_value.
      text += fmt::format("likely({}.value)", term.counter);
    }
    return terms.size() == 1 && terms[0].factor == 1 ? text : "(" + text + ")";
  }

  /// A counter's number is looked up once, its name would be for every launch.
  std::string joins() const {
    std::string text;
    for (const std::string& counter : counters_) {
      text += fmt::format(
          "\n  LEFT JOIN t_value {0} ON {0}.launch_id = l.launch_id\n"
          "    AND {0}.counter_id = (SELECT c.counter_id FROM t_counter c WHERE c.name = '{0}')",
          counter);
    }
    return text;
  }

  std::vector<std::string> counters_;
};

}  // namespace

std::string with_formulas(std::string_view view) {
  Formulas formulas;
  std::string sql;
  while (true) {
    const std::size_t begin = std::min(view.find('{'), view.size());
    sql += view.substr(0, begin);
    if (begin == view.size()) return sql;
    const std::size_t end = view.find('}', begin);
    if (end == std::string_view::npos) throw std::logic_error("a view has a brace too many");
    sql += formulas.of(view.substr(begin + 1, end - begin - 1));
    view.remove_prefix(end + 1);
  }
}

}  // namespace warpmeter::schema
