// SPDX-License-Identifier: MIT
// A parser by precedence climbing that computes as it goes; what ?:, && and || leave out is parsed
// and not computed, so that n > 0 ? m/n : 0 divides by no zero.
#include "base/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/nearest.h"
#include "base/words.h"

namespace warpmeter {
namespace {

constexpr long double whole_limit = 9223372036854775808.0L;  // 2^63

struct Operator {
  std::string_view sign;
  int precedence;
};
/// Longer signs first: "<<" is no "<".
constexpr Operator operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
                                  {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
                                  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

constexpr std::string_view functions[] = {"ceil", "floor", "round", "abs",
                                          "sqrt", "log2",  "min",   "max"};

bool is_function(std::string_view name) {
  return std::find(std::begin(functions), std::end(functions), name) != std::end(functions);
}

class Parser {
 public:
  Parser(std::string_view text, const Symbols& symbols, std::set<std::string>* names)
      : text_(text), symbols_(symbols), names_(names), computes_(names == nullptr) {}

  long double whole_text() {
    skip();
    if (at_ == text_.size()) fail("is empty: a number or an expression belongs there");
    const long double value = choice();
    if (at_ < text_.size()) fail(fmt::format("has '{}', which belongs to no expression", rest()));
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& clause) const { throw ExpressionFault(at_, clause); }
  [[noreturn]] static void fail_at(std::size_t at, const std::string& clause) {
    throw ExpressionFault(at, clause);
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  std::string_view rest() const { return text_.substr(at_, 12); }

  bool take(std::string_view sign) {
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip();
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) fail(fmt::format("lacks a '{}'", sign));
  }

  /// Not computed: names are noted, values and divisors are not looked at.
  template <class Parse>
  long double unless(bool computed, Parse parse) {
    const bool before = computes_;
    computes_ = before && computed;
    const long double value = parse();
    computes_ = before;
    return value;
  }

  /// Parentheses nested without end would take the stack.
  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > 200) parser_.fail("is nested too deep");
    }
    ~Depth() { --parser_.depth_; }
    Parser& parser_;
  };

  long double choice() {
    const Depth depth(*this);
    const long double condition = binary(1);
    if (!take("?")) return condition;
    const bool holds = condition != 0;
    const long double yes = unless(holds, [&] { return choice(); });
    expect(":");
    const long double no = unless(!holds, [&] { return choice(); });
    return holds ? yes : no;
  }

  const Operator* next_operator() const {
    for (const Operator& candidate : operators) {
      if (text_.substr(at_).starts_with(candidate.sign)) return &candidate;
    }
    return nullptr;
  }

  long double binary(int least) {
    long double left = unary();
    while (const Operator* found = next_operator()) {
      if (found->precedence < least) break;
      const std::size_t where = at_;
      take(found->sign);
      const bool decided = (found->sign == "||" && left != 0) || (found->sign == "&&" && left == 0);
      const long double right = unless(!decided, [&] { return binary(found->precedence + 1); });
      left = decided ? static_cast<long double>(left != 0) : apply(found->sign, left, right, where);
    }
    return left;
  }

  /// As a whole number, for the operators on bits and %.
  std::int64_t bits(long double value, std::size_t where, std::string_view sign) const {
    if (!computes_) return 1;
    if (std::floor(value) != value || std::fabs(value) >= whole_limit) {
      fail_at(where, fmt::format("has '{}' of {}, which is no whole number", sign,
                                 static_cast<double>(value)));
    }
    return static_cast<std::int64_t>(value);
  }

  long double apply(std::string_view sign, long double a, long double b, std::size_t where) const {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "<") return a < b ? 1 : 0;
    if (sign == ">") return a > b ? 1 : 0;
    if (sign == "<=") return a <= b ? 1 : 0;
    if (sign == ">=") return a >= b ? 1 : 0;
    if (sign == "==") return a == b ? 1 : 0;
    if (sign == "!=") return a != b ? 1 : 0;
    if (sign == "||" || sign == "&&") return b != 0 ? 1 : 0;
    if ((sign == "/" || sign == "%") && b == 0) {
      if (!computes_) return 0;
      fail_at(where, "divides by zero");
    }
    if (sign == "/") return a / b;
    const std::int64_t left = bits(a, where, sign), right = bits(b, where, sign);
    if (sign == "%") return static_cast<long double>(right == -1 ? 0 : left % right);
    if (sign == "&") return static_cast<long double>(left & right);
    if (sign == "|") return static_cast<long double>(left | right);
    if (sign == "^") return static_cast<long double>(left ^ right);
    if (right < 0 || right > 62) {
      if (!computes_) return 0;
      fail_at(where, fmt::format("shifts by {}, which is not from 0 to 62", right));
    }
    const auto factor = static_cast<long double>(std::int64_t{1} << right);
    return sign == "<<" ? static_cast<long double>(left) * factor
                        : static_cast<long double>(left >> right);
  }

  long double unary() {
    const Depth depth(*this);
    const std::size_t where = at_;
    if (take("-")) return -unary();
    if (take("+")) return unary();
    if (take("!")) return unary() == 0 ? 1 : 0;
    if (take("~")) return static_cast<long double>(~bits(unary(), where, "~"));
    return primary();
  }

  long double primary() {
    if (take("(")) {
      const long double value = choice();
      expect(")");
      return value;
    }
    if (at_ == text_.size()) fail("ends where a number or a name belongs");
    const char first = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(first)) != 0 || first == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(first)) != 0 || first == '_') return named();
    fail(fmt::format("has '{}' where a number or a name belongs", rest()));
  }

  long double number() {
    const std::string_view text = text_.substr(at_);
    long double value = 0;
    std::size_t length = 0;
    if (text.starts_with("0x") || text.starts_with("0X")) {
      std::uint64_t whole = 0;
      const auto [end, error] =
          std::from_chars(text.data() + 2, text.data() + text.size(), whole, 16);
      if (error != std::errc()) fail(fmt::format("has '{}', which is no number", rest()));
      value = static_cast<long double>(whole);
      length = static_cast<std::size_t>(end - text.data());
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) fail(fmt::format("has '{}', which is no number", rest()));
      length = static_cast<std::size_t>(end - text.data());
    }
    const char after = length < text.size() ? text[length] : ' ';
    if (is_of_word(after)) {
      fail(fmt::format("has '{}', which is no number", rest()));
    }
    at_ += length;
    skip();
    return value;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_word(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    skip();
    return name;
  }

  long double named() {
    const std::size_t where = at_;
    const std::string_view name = word();
    if (take("(")) return call(name, where);
    if (names_ != nullptr) names_->emplace(name);
    const auto found = symbols_.find(name);
    if (found != symbols_.end()) return found->second;
    if (!computes_) return 1;
    std::vector<std::string> known;
    for (const auto& [symbol, value] : symbols_) known.push_back(symbol);
    fail_at(where, fmt::format("names '{}'{}; known {}", name, did_you_mean(name, known),
                               known.empty() ? "is no name here"
                                             : fmt::format("are {}", fmt::join(known, ", "))));
  }

  long double call(std::string_view name, std::size_t where) {
    if (!is_function(name)) {
      const std::vector<std::string> known(std::begin(functions), std::end(functions));
      fail_at(where, fmt::format("calls '{}', which is none of {}{}", name, fmt::join(known, ", "),
                                 did_you_mean(name, known)));
    }
    std::vector<long double> arguments;
    do {
      arguments.push_back(choice());
    } while (take(","));
    expect(")");
    const bool takes_many = name == "min" || name == "max";
    if (!takes_many && arguments.size() != 1) {
      fail_at(where, fmt::format("gives {} {} arguments, not one", name, arguments.size()));
    }
    if (name == "min") return *std::min_element(arguments.begin(), arguments.end());
    if (name == "max") return *std::max_element(arguments.begin(), arguments.end());
    const long double of = arguments[0];
    if (name == "ceil") return std::ceil(of);
    if (name == "floor") return std::floor(of);
    if (name == "round") return std::round(of);
    if (name == "abs") return std::fabs(of);
    const bool is_allowed = name == "sqrt" ? of >= 0 : of > 0;
    if (!is_allowed && computes_) {
      fail_at(where, fmt::format("takes {} of {}", name, static_cast<double>(of)));
    }
    if (!is_allowed) return 0;
    return name == "sqrt" ? std::sqrt(of) : std::log2(of);
  }

  std::string_view text_;
  const Symbols& symbols_;
  std::set<std::string>* names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool computes_;  ///< false: only parsed
};

}  // namespace

long double evaluate(std::string_view expression, const Symbols& symbols) {
  const long double value = Parser(expression, symbols, nullptr).whole_text();
  if (!std::isfinite(value)) throw ExpressionFault(0, "is larger than any number here");
  return value;
}

std::int64_t evaluate_whole(std::string_view expression, const Symbols& symbols, std::int64_t least,
                            std::int64_t most) {
  const long double value = evaluate(expression, symbols);
  if (std::floor(value) != value) {
    throw ExpressionFault(0, fmt::format("gives {}, which is no whole number (ceil and floor "
                                         "round)",
                                         static_cast<double>(value)));
  }
  if (value < static_cast<long double>(least) || value > static_cast<long double>(most)) {
    throw ExpressionFault(0, fmt::format("gives {:.0f}, which is not from {} to {}",
                                         static_cast<double>(value), least, most));
  }
  return static_cast<std::int64_t>(value);
}

std::set<std::string> names_in(std::string_view expression) {
  std::set<std::string> names;
  try {
    Parser(expression, {}, &names).whole_text();
  } catch (const ExpressionFault&) {
    // Whoever evaluates it says what is wrong.
  }
  return names;
}

}  // namespace warpmeter
