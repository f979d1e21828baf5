// SPDX-License-Identifier: MIT
#include "collector/runtime/check/python_place.h"

#include <string>
#include <string_view>

#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/python.h"

namespace warpmeter::runtime {
namespace {

using python::Asking;
using python::Interpreter;
using python::is_of_package;
using python::Object;

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

namespace python {

bool is_of_package(std::string_view file) {
  if (file.starts_with("<frozen")) return true;
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos ||
         file.find("/lib/python3") != std::string_view::npos;
}

namespace {

const Interpreter& looked_up() {
  static const Interpreter known;
  return known;
}

}  // namespace

bool is_here() { return looked_up().is_whole; }

const Interpreter* interpreter() {
  const Interpreter& known = looked_up();
  return known.is_whole && known.Py_IsInitialized() != 0 ? &known : nullptr;
}

Object* asking_thread(const Interpreter& python) {
  Object* const thread = python.PyGILState_GetThisThreadState();
  return thread != nullptr && python.can_hold(thread) ? thread : nullptr;
}

}  // namespace python

std::optional<HostPlace> python_place() {
  const Interpreter* const python = python::interpreter();
  Object* const thread = python == nullptr ? nullptr : python::asking_thread(*python);
  if (thread == nullptr) return std::nullopt;
  const Asking asking(*python);
  return innermost_own(*python, python->PyThreadState_GetFrame(thread));
}

}  // namespace warpmeter::runtime
