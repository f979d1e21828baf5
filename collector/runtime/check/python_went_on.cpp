// SPDX-License-Identifier: MIT
// Python executes a pending call between two steps of its main thread. The first comes when the C
// function that called CUDA has returned: in the same frame and line, or where an exception led.
#include "collector/runtime/check/python_went_on.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "collector/runtime/check/python.h"
#include "collector/runtime/check/python_place.h"

namespace warpmeter::runtime {
namespace {

using python::Asking;
using python::Interpreter;
using python::Object;

/// A step of the program: its frame is never used, only compared.
struct Step {
  const Object* frame = nullptr;
  int line = 0;
  bool operator==(const Step&) const = default;
};

Step step_of(const Interpreter& python, Object* thread) {
  Object* const frame = python.PyThreadState_GetFrame(thread);
  if (frame == nullptr) return {};
  const Step step{frame, python.PyFrame_GetLineNumber(frame)};
  python.Py_DecRef(frame);
  return step;
}

struct Watched {
  RefusedCall call;
  Step step;
  std::function<void()> went_on;
  pid_t process = 0;  ///< a fork has the pending calls of its parent too
};

bool handles_exception(const Interpreter& python) {
  Object* const handled = python.PyErr_GetHandledException();
  if (handled != nullptr) python.Py_DecRef(handled);
  return handled != nullptr;
}

/// -1: the script makes exceptions of warnings.
int warn(const Interpreter& python, const RefusedCall& call) {
  Object* const category = *python.PyExc_RuntimeWarning;
  // Beside other threads of Python the call could not ask for its place. It is there still.
  const auto place = call.place ? call.place : python_place();
  if (!place) return python.PyErr_WarnEx(category, call.sentence.c_str(), 1);
  return python.PyErr_WarnExplicit(category, call.sentence.c_str(), place->file.c_str(),
                                   place->line, nullptr, nullptr);
}

int look_back(void* given);

/// Lets Python call look_back(), or drops it where Python has no room for another call.
void look_back_later(const Interpreter& python, std::unique_ptr<Watched> watched) {
  const bool is_theirs = python.Py_AddPendingCall(look_back, watched.get()) == 0;
  if (is_theirs) static_cast<void>(watched.release());
}

int look_back(void* given) {
  std::unique_ptr<Watched> watched(static_cast<Watched*>(given));
  const Interpreter* const found = python::interpreter();  // null: Python ends
  if (found == nullptr || watched->process != getpid()) return 0;
  const Interpreter& python = *found;
  Object* const thread = python.PyGILState_GetThisThreadState();
  if (thread == nullptr) return 0;
  if (Asking::is_alive()) {  // a property that we asked for runs, within the call still
    look_back_later(python, std::move(watched));
    return 0;
  }
  const bool is_known = watched->step.frame != nullptr && watched->call.may_raise;
  const bool is_same = is_known && watched->step == step_of(python, thread);
  if (is_same && !handles_exception(python)) watched->went_on();
  return watched->call.warns ? warn(python, watched->call) : 0;
}

}  // namespace

void watch(const RefusedCall& call, std::function<void()> went_on) {
  const Interpreter* const python = python::interpreter();
  if (python == nullptr || !python->can_warn) return;
  auto watched = std::make_unique<Watched>(Watched{call, {}, std::move(went_on), getpid()});
  if (Object* const thread = python::asking_thread(*python)) {
    const Asking asking(*python);
    watched->step = step_of(*python, thread);
  }
  look_back_later(*python, std::move(watched));
}

}  // namespace warpmeter::runtime
