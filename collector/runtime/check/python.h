// SPDX-License-Identifier: MIT
// The interpreter of a Python program. It is asked by the functions of its stable interface, which
// are looked up: this library is in programs without Python too.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace warpmeter::runtime::python {

using Object = void;  ///< the interpreter's own
using Py_ssize = std::ptrdiff_t;

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
  Object* (*PyErr_GetHandledException)() = nullptr;
  int (*PyErr_WarnExplicit)(Object*, const char*, const char*, int, const char*, Object*) = nullptr;
  int (*PyErr_WarnEx)(Object*, const char*, Py_ssize) = nullptr;
  int (*Py_AddPendingCall)(int (*)(void*), void*) = nullptr;
  int (*PyGC_Disable)() = nullptr;
  int (*PyGC_Enable)() = nullptr;
  void (*Py_DecRef)(Object*) = nullptr;
  Object** PyExc_RuntimeWarning = nullptr;
  Object* (*PyFrame_GetLocals)(Object*) = nullptr;
  Object* (*PyMapping_Items)(Object*) = nullptr;
  Object* (*PyMapping_GetItemString)(Object*, const char*) = nullptr;
  Py_ssize (*PyList_Size)(Object*) = nullptr;
  Object* (*PyList_GetItem)(Object*, Py_ssize) = nullptr;
  Object* (*PyTuple_GetItem)(Object*, Py_ssize) = nullptr;
  Py_ssize (*PyTuple_Size)(Object*) = nullptr;
  Object* (*PyObject_Type)(Object*) = nullptr;
  Object* (*PyObject_Str)(Object*) = nullptr;
  unsigned long long (*PyLong_AsUnsignedLongLong)(Object*) = nullptr;
  Object* (*PyImport_GetModuleDict)() = nullptr;
  Object* (*PyModule_GetFilenameObject)(Object*) = nullptr;
  void (*PyErr_Clear)() = nullptr;
  bool is_whole = true;
  bool can_warn = false;  ///< it has the functions of Python 3.11 for it
  bool can_look = false;  ///< the same, for the script's objects

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
    const bool was_whole = is_whole;
#define WARPMETER_FIND(NAME) find(NAME, #NAME)
    WARPMETER_FIND(PyErr_GetHandledException);
    WARPMETER_FIND(PyErr_WarnExplicit);
    WARPMETER_FIND(PyErr_WarnEx);
    WARPMETER_FIND(Py_AddPendingCall);
    WARPMETER_FIND(PyExc_RuntimeWarning);
#undef WARPMETER_FIND
    can_warn = std::exchange(is_whole, was_whole) && was_whole;
#define WARPMETER_FIND(NAME) find(NAME, #NAME)
    WARPMETER_FIND(PyFrame_GetLocals);
    WARPMETER_FIND(PyMapping_Items);
    WARPMETER_FIND(PyMapping_GetItemString);
    WARPMETER_FIND(PyList_Size);
    WARPMETER_FIND(PyList_GetItem);
    WARPMETER_FIND(PyTuple_GetItem);
    WARPMETER_FIND(PyTuple_Size);
    WARPMETER_FIND(PyObject_Type);
    WARPMETER_FIND(PyObject_Str);
    WARPMETER_FIND(PyLong_AsUnsignedLongLong);
    WARPMETER_FIND(PyImport_GetModuleDict);
    WARPMETER_FIND(PyModule_GetFilenameObject);
    WARPMETER_FIND(PyErr_Clear);
#undef WARPMETER_FIND
    can_look = std::exchange(is_whole, was_whole) && was_whole;
  }

  /// Takes the reference over; null: an empty text.
  std::string taken_text(Object* text) const {
    if (text == nullptr) return "";
    const char* characters = PyUnicode_AsUTF8(text);
    std::string copy = characters != nullptr ? characters : "";
    Py_DecRef(text);
    return copy;
  }
  std::string text_of(Object* owner, const char* attribute) const {
    return taken_text(PyObject_GetAttrString(owner, attribute));
  }

  /// True if this thread may hold the lock at once: it does, or no other thread can have it.
  /// PyGILState_Check() always says yes once there is a second interpreter.
  bool can_hold(Object* thread) const {
    Object* const holder = PyThreadState_GetUnchecked();
    return holder != nullptr ? holder == thread : is_only(thread);
  }
  /// True if Python has no thread but this one.
  bool is_only(Object* thread) const {
    Object* const one = PyThreadState_GetInterpreter(thread);
    return PyInterpreterState_Head() == one && PyInterpreterState_Next(one) == nullptr &&
           PyInterpreterState_ThreadHead(one) == thread && PyThreadState_Next(thread) == nullptr;
  }
};

/// As long as it lives, this thread may ask for objects. The program notices nothing: an exception
/// that is set stays, none of ours does, and no collection of garbage runs the program's code. An
/// attribute that is a property runs that code all the same, and may give up the interpreter's
/// lock: one is asked for only where is_only() holds, for another thread could take that lock and
/// then wait for the process's, which is ours. A pending call that such code executes has to look
/// at is_alive().
class Asking {
 public:
  explicit Asking(const Interpreter& python)
      : python_(python), state_(python.PyGILState_Ensure()), collects_(python.PyGC_Disable()) {
    python_.PyErr_Fetch(&type_, &value_, &trace_);
    ++depth_;
  }
  ~Asking() {
    --depth_;
    python_.PyErr_Restore(type_, value_, trace_);
    if (collects_ != 0) python_.PyGC_Enable();
    python_.PyGILState_Release(state_);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  /// True if this thread is asking.
  static bool is_alive() { return depth_ > 0; }

 private:
  inline static thread_local int depth_ = 0;
  const Interpreter& python_;
  const int state_, collects_;
  Object *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

/// True if a file is of an installed package or of Python itself.
bool is_of_package(std::string_view file);
/// Null: this process has none, or it is one that we do not know.
const Interpreter* interpreter();
/// True if it was initialised in this process, also when it has ended. A program that is linked
/// with Python's library and never starts it has none.
bool was_initialised();
/// This thread's state, where it executes Python and may ask for objects at once; null: it may not.
Object* asking_thread(const Interpreter& python);

/// `visit(frame, code, file)` of the running functions, from the innermost until it says true.
template <class Visit>
void each_frame(const Interpreter& python, Object* thread, const Visit& visit,
                std::size_t most = std::numeric_limits<std::size_t>::max()) {
  Object* frame = python.PyThreadState_GetFrame(thread);
  for (std::size_t i = 0; frame != nullptr && i < most; ++i) {
    Object* const code = python.PyFrame_GetCode(frame);
    const bool is_last = visit(frame, code, python.text_of(code, "co_filename"));
    python.Py_DecRef(code);
    Object* const outer = is_last ? nullptr : python.PyFrame_GetBack(frame);
    python.Py_DecRef(frame);
    frame = outer;
  }
  if (frame != nullptr) python.Py_DecRef(frame);
}

}  // namespace warpmeter::runtime::python
