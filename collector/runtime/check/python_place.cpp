// SPDX-License-Identifier: MIT
// The interpreter is asked by the functions of its stable interface, which are looked up: this
// library is in programs without Python too.
#include "collector/runtime/check/python_place.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "collector/model/input/kernel_file.h"

namespace warpmeter::runtime {
namespace {

using Object = void;  // the interpreter's own

/// Python's functions, by their own names.
struct Interpreter {
  int (*Py_IsInitialized)() = nullptr;
  int (*PyGILState_Ensure)() = nullptr;
  void (*PyGILState_Release)(int) = nullptr;
  Object* (*PyGILState_GetThisThreadState)() = nullptr;
  Object* (*PyThreadState_GetUnchecked)() = nullptr;
  Object* (*PyThreadState_GetInterpreter)(Object*) = nullptr;
  Object* (*PyInterpreterState_Head)() = nullptr;
  Object* (*PyInterpreterState_Next)(Object*) = nullptr;
  Object* (*PyInterpreterState_ThreadHead)(Object*) = nullptr;
  Object* (*PyThreadState_Next)(Object*) = nullptr;
  Object* (*PyThreadState_GetFrame)(Object*) = nullptr;
  Object* (*PyFrame_GetBack)(Object*) = nullptr;
  Object* (*PyFrame_GetCode)(Object*) = nullptr;
  int (*PyFrame_GetLineNumber)(Object*) = nullptr;
  Object* (*PyObject_GetAttrString)(Object*, const char*) = nullptr;
  const char* (*PyUnicode_AsUTF8)(Object*) = nullptr;
  void (*PyErr_Fetch)(Object**, Object**, Object**) = nullptr;
  void (*PyErr_Restore)(Object*, Object*, Object*) = nullptr;
  int (*PyGC_Disable)() = nullptr;
  int (*PyGC_Enable)() = nullptr;
  void (*Py_DecRef)(Object*) = nullptr;
  bool is_whole = true;

  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    is_whole &= function != nullptr;
  }
  Interpreter() {
#define WARPMETER_FIND(NAME) find(NAME, #NAME)
    WARPMETER_FIND(Py_IsInitialized);
    WARPMETER_FIND(PyGILState_Ensure);
    WARPMETER_FIND(PyGILState_Release);
    WARPMETER_FIND(PyGILState_GetThisThreadState);
    find(PyThreadState_GetUnchecked, dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked") != nullptr
                                         ? "PyThreadState_GetUnchecked"
                                         : "_PyThreadState_UncheckedGet");  // before Python 3.13
    WARPMETER_FIND(PyThreadState_GetInterpreter);
    WARPMETER_FIND(PyInterpreterState_Head);
    WARPMETER_FIND(PyInterpreterState_Next);
    WARPMETER_FIND(PyInterpreterState_ThreadHead);
    WARPMETER_FIND(PyThreadState_Next);
    WARPMETER_FIND(PyThreadState_GetFrame);
    WARPMETER_FIND(PyFrame_GetBack);
    WARPMETER_FIND(PyFrame_GetCode);
    WARPMETER_FIND(PyFrame_GetLineNumber);
    WARPMETER_FIND(PyObject_GetAttrString);
    WARPMETER_FIND(PyUnicode_AsUTF8);
    WARPMETER_FIND(PyErr_Fetch);
    WARPMETER_FIND(PyErr_Restore);
    WARPMETER_FIND(PyGC_Disable);
    WARPMETER_FIND(PyGC_Enable);
    WARPMETER_FIND(Py_DecRef);
#undef WARPMETER_FIND
  }

  std::string text_of(Object* owner, const char* attribute) const {
    Object* text = PyObject_GetAttrString(owner, attribute);
    if (text == nullptr) return "";
    const char* characters = PyUnicode_AsUTF8(text);
    std::string copy = characters != nullptr ? characters : "";
    Py_DecRef(text);
    return copy;
  }

  /// True if this thread may hold the lock at once: it does, or no other thread can have it.
  /// PyGILState_Check() always says yes once there is a second interpreter.
  bool can_hold(Object* thread) const {
    Object* const holder = PyThreadState_GetUnchecked();
    if (holder != nullptr) return holder == thread;
    Object* const one = PyThreadState_GetInterpreter(thread);
    return PyInterpreterState_Head() == one && PyInterpreterState_Next(one) == nullptr &&
           PyInterpreterState_ThreadHead(one) == thread && PyThreadState_Next(thread) == nullptr;
  }
};

/// As long as it lives, this thread may ask for objects. The program notices nothing: an exception
/// that is set stays, none of ours does, and no collection of garbage runs the program's code.
class Asking {
 public:
  explicit Asking(const Interpreter& python)
      : python_(python), state_(python.PyGILState_Ensure()), collects_(python.PyGC_Disable()) {
    python_.PyErr_Fetch(&type_, &value_, &trace_);
  }
  ~Asking() {
    python_.PyErr_Restore(type_, value_, trace_);
    if (collects_ != 0) python_.PyGC_Enable();
    python_.PyGILState_Release(state_);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  const Interpreter& python_;
  const int state_, collects_;
  Object *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

bool is_of_package(std::string_view file) {
  if (file.starts_with("<frozen")) return true;
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos ||
         file.find("/lib/python3") != std::string_view::npos;
}

std::optional<HostPlace> innermost_own(const Interpreter& python, Object* frame) {
  std::optional<HostPlace> place;
  while (frame != nullptr && !place) {
    Object* const code = python.PyFrame_GetCode(frame);
    const std::string file = python.text_of(code, "co_filename");
    if (!file.empty() && !is_of_package(file)) {  // empty: its name is no text
      place.emplace();
      place->is_python = true;
      place->function = python.text_of(code, "co_name");
      place->file = model::relative_path(file);
      place->line = python.PyFrame_GetLineNumber(frame);
    }
    python.Py_DecRef(code);
    Object* const outer = python.PyFrame_GetBack(frame);
    python.Py_DecRef(frame);
    frame = outer;
  }
  if (frame != nullptr) python.Py_DecRef(frame);
  return place;
}

}  // namespace

std::optional<HostPlace> python_place() {
  static const Interpreter python;
  if (!python.is_whole || python.Py_IsInitialized() == 0) return std::nullopt;
  Object* const thread = python.PyGILState_GetThisThreadState();
  if (thread == nullptr || !python.can_hold(thread)) return std::nullopt;
  const Asking asking(python);
  return innermost_own(python, python.PyThreadState_GetFrame(thread));
}

}  // namespace warpmeter::runtime
