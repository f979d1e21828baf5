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
  int (*PyGILState_Check)() = nullptr;
  int (*PyGILState_Ensure)() = nullptr;
  void (*PyGILState_Release)(int) = nullptr;
  Object* (*PyGILState_GetThisThreadState)() = nullptr;
  Object* (*PyThreadState_GetInterpreter)(Object*) = nullptr;
  Object* (*PyInterpreterState_ThreadHead)(Object*) = nullptr;
  Object* (*PyThreadState_Next)(Object*) = nullptr;
  Object* (*PyThreadState_GetFrame)(Object*) = nullptr;
  Object* (*PyFrame_GetBack)(Object*) = nullptr;
  Object* (*PyFrame_GetCode)(Object*) = nullptr;
  int (*PyFrame_GetLineNumber)(Object*) = nullptr;
  Object* (*PyObject_GetAttrString)(Object*, const char*) = nullptr;
  const char* (*PyUnicode_AsUTF8)(Object*) = nullptr;
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
    WARPMETER_FIND(PyGILState_Check);
    WARPMETER_FIND(PyGILState_Ensure);
    WARPMETER_FIND(PyGILState_Release);
    WARPMETER_FIND(PyGILState_GetThisThreadState);
    WARPMETER_FIND(PyThreadState_GetInterpreter);
    WARPMETER_FIND(PyInterpreterState_ThreadHead);
    WARPMETER_FIND(PyThreadState_Next);
    WARPMETER_FIND(PyThreadState_GetFrame);
    WARPMETER_FIND(PyFrame_GetBack);
    WARPMETER_FIND(PyFrame_GetCode);
    WARPMETER_FIND(PyFrame_GetLineNumber);
    WARPMETER_FIND(PyObject_GetAttrString);
    WARPMETER_FIND(PyUnicode_AsUTF8);
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
  bool can_hold(Object* thread) const {
    if (PyGILState_Check() == 1) return true;
    Object* const first = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(thread));
    return first == thread && PyThreadState_Next(first) == nullptr;
  }
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
    if (!is_of_package(file)) {
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
  const int state = python.PyGILState_Ensure();
  auto place = innermost_own(python, python.PyThreadState_GetFrame(thread));
  python.PyGILState_Release(state);
  return place;
}

}  // namespace warpmeter::runtime
