// SPDX-License-Identifier: MIT
// The way in for a process that loads this library itself, because it measures parts of itself
// (collector/library). A measured part is a range: a connection of its own, to a listener in the
// same process.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "base/own_stack.h"
#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/sources.h"
#include "collector/runtime/entry/redirect.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

/// Work that was given before belongs to what was before: the program waits for all of it.
void finish_work(Process& process) {
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  process.show_printed();
}

/// Changes what is reported, once the work before is done. The result: why not; empty: it did well.
template <class Change>
std::string change_report(const Change& change) {
  if (is_in_host_function()) return "a host function of a stream cannot measure";
  Process& process = Process::get();
  if (process.is_fork()) return "a fork of a process that uses CUDA cannot use it";
  const std::lock_guard lock(process.mutex());
  finish_work(process);
  change(process);
  return "";
}

std::string answer_cuda(int arch) {
  if (const std::string path = object_with_cuda(); !path.empty()) {
    return fmt::format("CUDA is in this process already ({}): choose the model before it is loaded",
                       path);
  }
  Process::execute_as(arch);
  Process::warn_in_python();
  redirect_everything();
  return "";
}

/// The sentence of the last call that failed, by this thread; it stays until the next call.
thread_local std::string sentence;

/// Null: it did well.
template <class Call>
const char* sentence_of(const Call& call) {
  try {
    sentence = with_room([&] { return std::string(call()); });
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  return sentence.empty() ? nullptr : sentence.c_str();
}

}  // namespace
}  // namespace warpmeter::runtime

// The functions that collector/library/injected.cpp calls. They return null, or why they failed.

/// CUDA's functions of libraries that are loaded from now on are answered by the model.
extern "C" [[gnu::visibility("default")]] const char* warpmeter_answer_cuda(int arch) {
  return warpmeter::runtime::sentence_of([&] { return warpmeter::runtime::answer_cuda(arch); });
}

/// The text of a source that no file holds.
extern "C" [[gnu::visibility("default")]] const char* warpmeter_keep_source(const char* file,
                                                                            const char* text) {
  using namespace warpmeter::runtime;
  return sentence_of([&] {
    if (is_in_host_function()) return "a host function of a stream cannot measure";
    const std::lock_guard lock(Process::get().mutex());
    keep_source(warpmeter::model::relative_path(file), text);
    return "";
  });
}

/// Launches from now on are reported to the socket.
extern "C" [[gnu::visibility("default")]] const char* warpmeter_begin_range(const char* socket) {
  using namespace warpmeter::runtime;
  return sentence_of([&] {
    return change_report(
        [&](Process& process) { process.report_to(std::make_unique<Report>(socket)); });
  });
}

/// Waits for the launches before it, and reports no others.
extern "C" [[gnu::visibility("default")]] const char* warpmeter_end_range() {
  using namespace warpmeter::runtime;
  return sentence_of([] { return change_report([](Process& process) { process.end_report(); }); });
}
