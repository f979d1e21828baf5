// SPDX-License-Identifier: MIT
// A gate as text: "transpose/*: shared_load_transactions_per_request <= 2".
//
//   gate       = [selector ":"] sum relation sum
//   sum        = product {("+" | "-") product}
//   product    = factor {("*" | "/") factor}
//   factor     = number [unit] | metric | "(" sum ")" | "-" factor
//   relation   = "<=" | "<" | ">=" | ">" | "==" | "!="
//
// A selector (selector.h) may hold "::". A unit is %, ns, us, µs, ms or s; times are in ns, as
// metrics are.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reports/selector.h"

namespace warpmeter::reports {

/// A node of a sum: a number, a metric, or an operation on two others.
struct Term {
  char operation = '#';  ///< '#' number, 'm' metric, '+', '-', '*', '/'
  double number = 0;
  std::string metric;
  std::unique_ptr<Term> left, right;
};

struct Gate {
  std::string text;       ///< as it was typed
  std::string condition;  ///< the text behind the selector; empty: there is none
  Selector selector;
  std::unique_ptr<Term> left, right;
  std::string relation;
  std::vector<std::string> metrics;  ///< that it reads, each once
  std::string because;               ///< a reason for the reader; may be empty
};

/// Throws Error{usage} with the column (from 1, in characters) where the text stops being a gate,
/// and for a metric that does not exist, with the nearest ones.
Gate parse_gate(std::string_view text);

}  // namespace warpmeter::reports
