// SPDX-License-Identifier: MIT
#include "reports/gates/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::string_view spaces = " \t\r\n";
constexpr Unit units[] = {{"%", 1}, {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/// Where the selector ends: the last colon that is alone and comes before any relation.
std::size_t selector_end(std::string_view text) {
  // An operator of a template argument is no relation of ours: those stand after the colon.
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] != ':') continue;
    const bool doubled =
        (i > 0 && text[i - 1] == ':') || (i + 1 < text.size() && text[i + 1] == ':');
    if (!doubled) return i;
  }
  return std::string_view::npos;
}

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { gate_.text = std::string(text); }

  Gate parse() {
    const std::size_t colon = selector_end(text_);
    if (colon != std::string_view::npos) {
      const std::string_view selector = trimmed(text_.substr(0, colon));
      if (selector.empty()) fail_at(0, "a selector before the colon");
      if (const auto mistake = Selector::read(selector, gate_.selector)) {
        fail_at(static_cast<std::size_t>(selector.data() - text_.data()) + mistake->at,
                mistake->expected);
      }
      at_ = colon + 1;
      gate_.condition = std::string(trimmed(text_.substr(at_)));
    }
    gate_.left = sum();
    gate_.relation = relation();
    gate_.right = sum();
    skip_space();
    if (at_ < text_.size()) fail("the end of the gate");
    if (gate_.metrics.empty()) {
      throw Error(ExitCode::usage,
                  fmt::format("the gate '{}' names no metric: a gate is METRIC "
                              "RELATION VALUE, as 'gst_efficiency >= 90' (column 1)",
                              text_));
    }
    check_units();
    return std::move(gate_);
  }

 private:
  /// A time says nothing of a count, nor does a percentage of a time. Where a metric of the gate
  /// has the unit, or one that is not known, the sums may make sense.
  void check_units() const {
    for (const auto& [at, name] : units_) {
      const std::string_view unit = name == "%" ? "%" : "ns";
      const auto may_have = [&](const std::string& metric) {
        const std::string_view has = unit_of(metric);
        return has.empty() || has == unit;
      };
      if (std::any_of(gate_.metrics.begin(), gate_.metrics.end(), may_have)) continue;
      throw Error(ExitCode::usage,
                  fmt::format("the gate '{}' has a number in {} at column {}, but {} is in {}: "
                              "leave the unit away, or name another metric",
                              text_, name, column_of(text_, at), gate_.metrics.front(),
                              unit_of(gate_.metrics.front())));
    }
  }

  /// Empty for what the catalogue does not know.
  static std::string_view unit_of(const std::string& metric) {
    const schema::Catalogue& catalogue = schema::Catalogue::get();
    if (const auto* info = catalogue.find_metric(metric)) return info->unit;
    const auto* counter = catalogue.find_counter(metric);
    return counter != nullptr ? std::string_view(counter->unit) : std::string_view();
  }

  static std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return "";
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
  }

  [[noreturn]] void fail_at(std::size_t at, std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    const std::string found =
        rest.empty() ? "it ends" : fmt::format("'{}' is there", rest.substr(0, rest.find(' ')));
    throw Error(ExitCode::usage, fmt::format("the gate '{}' cannot be read: at column {} {} was "
                                             "expected and {}",
                                             text_, column_of(text_, at), expected, found));
  }
  [[noreturn]] void fail(std::string_view expected) const { fail_at(at_, expected); }

  void skip_space() {
    while (at_ < text_.size() && spaces.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string relation() {
    skip_space();
    for (const std::string_view known : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!text_.substr(at_).starts_with(known)) continue;
      at_ += known.size();
      return std::string(known);
    }
    fail("a relation (<=, <, >=, >, == or !=)");
  }

  static std::unique_ptr<Term> operation(char name, std::unique_ptr<Term> left,
                                         std::unique_ptr<Term> right) {
    auto term = std::make_unique<Term>();
    term->operation = name;
    term->left = std::move(left);
    term->right = std::move(right);
    return term;
  }

  std::unique_ptr<Term> sum() {
    std::unique_ptr<Term> term = product();
    while (true) {
      if (take('+')) {
        term = operation('+', std::move(term), product());
      } else if (take('-')) {
        term = operation('-', std::move(term), product());
      } else {
        return term;
      }
    }
  }

  std::unique_ptr<Term> product() {
    std::unique_ptr<Term> term = factor();
    while (true) {
      if (take('*')) {
        term = operation('*', std::move(term), factor());
      } else if (take('/')) {
        term = operation('/', std::move(term), factor());
      } else {
        return term;
      }
    }
  }

  std::unique_ptr<Term> factor() {
    constexpr int deepest = 100;
    skip_space();
    if (depth_ == deepest) fail("fewer parentheses");
    ++depth_;
    std::unique_ptr<Term> term;
    if (take('(')) {
      term = sum();
      if (!take(')')) fail("')'");
    } else if (take('-')) {
      term = operation('-', std::make_unique<Term>(), factor());
    } else if (at_ < text_.size() && is_name_start(text_[at_])) {
      term = metric();
    } else {
      term = number();
    }
    --depth_;
    return term;
  }

  std::unique_ptr<Term> number() {
    auto term = std::make_unique<Term>();
    const std::string_view rest = text_.substr(at_);
    const bool begins =
        !rest.empty() && (std::isdigit(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '.');
    if (!begins) fail("a metric or a number");
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), term->number);
    if (error != std::errc{}) fail("a number that can be held");
    at_ += static_cast<std::size_t>(end - rest.data());
    term->number *= unit();
    if (at_ < text_.size() && is_name(text_[at_])) fail("a unit (%, ns, us, ms or s)");
    return term;
  }

  double unit() {
    const std::size_t before = at_;
    skip_space();
    for (const Unit& known : units) {
      const std::string_view rest = text_.substr(at_);
      if (!rest.starts_with(known.name)) continue;
      if (rest.size() > known.name.size() && is_name(rest[known.name.size()])) continue;
      units_.emplace_back(at_, known.name);
      at_ += known.name.size();
      return known.factor;
    }
    at_ = before;
    return 1;
  }

  std::unique_ptr<Term> metric() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    auto term = std::make_unique<Term>();
    term->operation = 'm';
    const schema::Catalogue& catalogue = schema::Catalogue::get();
    term->metric = catalogue.own_name(std::string(text_.substr(start, at_ - start)));
    const bool exists = catalogue.find_metric(term->metric) != nullptr ||
                        catalogue.find_counter(term->metric) != nullptr ||
                        term->metric.find("__") != std::string::npos;
    if (!exists) {
      throw Error(
          ExitCode::usage,
          fmt::format("the gate '{}' names a metric that does not exist, '{}', at column {}{} "
                      "(see: warpmeter list metrics)",
                      text_, term->metric, column_of(text_, start),
                      catalogue.suggestion(term->metric)));
    }
    if (std::find(gate_.metrics.begin(), gate_.metrics.end(), term->metric) ==
        gate_.metrics.end()) {
      gate_.metrics.push_back(term->metric);
    }
    return term;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::pair<std::size_t, std::string_view>> units_;  ///< where numbers have one
  Gate gate_;
};

}  // namespace

Gate parse_gate(std::string_view text) { return Parser(text).parse(); }

}  // namespace warpmeter::reports
