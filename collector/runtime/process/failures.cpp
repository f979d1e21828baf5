// SPDX-License-Identifier: MIT
// Calls that failed, told to warpmeter and to Python: each in one sentence, once.
#include <fmt/format.h>

#include <utility>

#include "collector/runtime/check/caller.h"
#include "collector/runtime/check/failed_calls.h"
#include "collector/runtime/check/python_place.h"
#include "collector/runtime/check/python_went_on.h"
#include "collector/runtime/process/not_executed.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

bool warns = false;  ///< Python, of what the model refuses

}  // namespace

void Process::warn_in_python() { warns = true; }

void Process::tell_failed(std::string_view function, cudaError_t error, bool is_unseen) {
  const std::lock_guard lock(mutex_);
  const std::string why = std::exchange(why_not_, "");
  if (error == cudaErrorNotReady) return;
  std::string words = error_in_words(function, error);
  if (is_of_model(error)) {
    std::string told = tell_refused(words, why);
    if (is_unseen && !told.empty()) unasked_.insert(std::move(told));
    return;
  }
  if (report_ != nullptr && failed_calls_.insert(words).second) report_->failed({words});
}

std::string Process::tell_refused(const std::string& call, const std::string& why) {
  if (report_ == nullptr && !warns) return "";
  const auto place = python_place();
  std::string words = place ? call + place->after("") : call;
  if (!why.empty()) words += ": " + why;
  const bool is_warned = warns && warned_of_.insert(words).second;
  const bool is_new = report_ != nullptr && failed_calls_.insert(words).second;
  if (is_new) report_->failed({words, true});
  if (!is_new && !is_warned) return words;
  watch({words, place, is_warned, raises_exceptions(caller_)}, [this, words] {
    const std::lock_guard ignoring(mutex_);
    if (report_ != nullptr) report_->failed({words, true, true});
  });
  return words;
}

cudaError_t Process::cannot_execute(Kernel& kernel) {
  why_not_ = why_not_executed(kernel, "");
  return cudaErrorNoKernelImageForDevice;
}

void Process::refuse_library(std::string_view function, std::string_view library) {
  const std::lock_guard lock(mutex_);
  tell_refused(fmt::format("{} failed", function),
               fmt::format("{} is machine code, which the model does not execute. {}", library,
                           instead_of_machine_code));
}

void Process::look_at(std::string_view function, cudaError_t result, bool is_unseen) {
  if (result != cudaSuccess) tell_failed(function, result, is_unseen);
  if (checks_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  checks_->failed(function, result, is_unseen);
}

void Process::tell_unasked() {
  for (const std::string& call : unasked_) report_->failed({call, true, true});
  unasked_.clear();
}

}  // namespace warpmeter::runtime
