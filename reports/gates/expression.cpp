#include "reports/gates/expression.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "schema/catalogue.h"
#include "schema/error.h"

namespace warpmeter::reports {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
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
      gate_.selector = trimmed(text_.substr(0, colon));
      if (gate_.selector.empty()) fail_at(0, "a selector before the colon");
      at_ = colon + 1;
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
    return std::move(gate_);
  }

 private:
  static std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
  }

  /// Characters, not bytes: UTF-8's continuation bytes do not count.
  std::size_t column(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
             return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
           }));
  }

  [[noreturn]] void fail_at(std::size_t at, std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    const std::string found =
        rest.empty() ? "it ends" : fmt::format("'{}' is there", rest.substr(0, rest.find(' ')));
    throw Error(ExitCode::usage, fmt::format("the gate '{}' cannot be read: at column {} {} was "
                                             "expected and {}",
                                             text_, column(at), expected, found));
  }
  [[noreturn]] void fail(std::string_view expected) const { fail_at(at_, expected); }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
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
    term->metric = std::string(text_.substr(start, at_ - start));
    const schema::Catalogue& catalogue = schema::Catalogue::get();
    const bool exists = catalogue.find_metric(term->metric) != nullptr ||
                        catalogue.find_counter(term->metric) != nullptr ||
                        term->metric.find("__") != std::string::npos;
    if (!exists) {
      std::vector<std::string> names;
      for (const schema::MetricInfo& info : catalogue.metrics()) names.push_back(info.name);
      for (const schema::CounterInfo& info : catalogue.counters()) names.push_back(info.name);
      throw Error(
          ExitCode::usage,
          fmt::format("the gate '{}' names a metric that does not exist, '{}', at column {}{} "
                      "(see: warpmeter list metrics)",
                      text_, term->metric, column(start),
                      schema::did_you_mean(term->metric, names)));
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
  Gate gate_;
};

}  // namespace

Gate parse_gate(std::string_view text) { return Parser(text).parse(); }

bool selects(const std::string& selector, const std::string& family, const std::string& variant) {
  if (selector.empty() || selector == family) return true;
  const std::string name = family + "/" + variant;
  if (selector == name) return true;
  const std::string pattern = selector.find('/') == std::string::npos ? selector + "/*" : selector;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace warpmeter::reports
