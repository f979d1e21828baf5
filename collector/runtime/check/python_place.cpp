// SPDX-License-Identifier: MIT
#include "collector/runtime/check/python_place.h"

#include <atomic>
#include <string>
#include <string_view>

#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/python.h"

namespace warpmeter::runtime {
namespace python {

bool is_of_package(std::string_view file) {
  if (file.starts_with("<frozen")) return true;
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos ||
         file.find("/lib/python3") != std::string_view::npos;
}

namespace {
std::atomic<bool> was_seen = false;
}

bool was_initialised() { return interpreter() != nullptr || was_seen; }

const Interpreter* interpreter() {
  static const Interpreter known;
  if (!known.is_whole || known.Py_IsInitialized() == 0) return nullptr;
  was_seen = true;
  return &known;
}

Object* asking_thread(const Interpreter& python) {
  Object* const thread = python.PyGILState_GetThisThreadState();
  return thread != nullptr && python.can_hold(thread) ? thread : nullptr;
}

}  // namespace python

std::optional<HostPlace> python_place() {
  const Interpreter* const python = python::interpreter();
  python::Object* const thread = python == nullptr ? nullptr : python::asking_thread(*python);
  if (thread == nullptr) return std::nullopt;
  const python::Asking asking(*python);
  std::optional<HostPlace> place;
  const auto is_own = [&](python::Object* frame, python::Object* code, const std::string& file) {
    if (file.empty() || python::is_of_package(file)) return false;  // empty: its name is no text
    place.emplace();
    place->is_python = true;
    place->function = python->text_of(code, "co_name");
    place->file = model::relative_path(file);
    place->line = python->PyFrame_GetLineNumber(frame);
    return true;
  };
  python::each_frame(*python, thread, is_own);
  return place;
}

}  // namespace warpmeter::runtime
