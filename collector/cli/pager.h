// SPDX-License-Identifier: MIT
// Long answers on a terminal go through a pager, as git's do: $PAGER, else less, which leaves short
// answers alone. Nothing is paged when standard output is no terminal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/output.h"

namespace warpmeter::cli {

/// Where an answer goes: a file, standard output, or a pager in front of it.
class Answer {
 public:
  /// For standard output on a terminal a pager is started unless `paged` is false.
  Answer(const Destination& destination, bool paged);
  /// Waits until the person has left the pager.
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  /// False when nobody wants the rest. Throws Error{file} when it cannot be written.
  bool write(std::string_view text);
  void finish();

 private:
  void close_pager();

  std::unique_ptr<Output> output_;
  int pager_ = -1;  ///< its standard input
  int process_ = -1;
};

/// The command that pages, or nothing: $PAGER, else less or more where there is one. Empty or "cat"
/// mean no pager.
std::string pager_command();

}  // namespace warpmeter::cli
