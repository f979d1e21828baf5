// SPDX-License-Identifier: MIT
#include "collector/runtime/check/python_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/python.h"

namespace warpmeter::runtime {
namespace {

using python::Asking;
using python::Interpreter;
using python::Object;
using python::Py_ssize;

constexpr std::size_t most_python_frames = 100;

/// A reference of ours.
class Held {
 public:
  Held(const Interpreter& python, Object* object) : python_(python), object_(object) {}
  ~Held() {
    if (object_ != nullptr) python_.Py_DecRef(object_);
    python_.PyErr_Clear();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  explicit operator bool() const { return object_ != nullptr; }
  Object* get() const { return object_; }

 private:
  const Interpreter& python_;
  Object* const object_;
};

/// `look(python, thread)` where this thread may ask; else a value of its type that is empty.
template <class Look>
auto asked(const Look& look) -> decltype(look(std::declval<const Interpreter&>(), nullptr)) {
  const Interpreter* const python = python::interpreter();
  Object* const thread =
      python == nullptr || !python->can_look ? nullptr : python::asking_thread(*python);
  if (thread == nullptr) return {};
  const Asking asking(*python);
  return look(*python, thread);
}

/// python::each_frame(), not for all of a deep recursion.
template <class Visit>
void each_near_frame(const Interpreter& python, Object* thread, const Visit& visit) {
  python::each_frame(python, thread, visit, most_python_frames);
}

/// `visit(name, value)` of a mapping with names as its keys.
template <class Visit>
void each_item(const Interpreter& python, Object* mapping, const Visit& visit) {
  const Held items(python, python.PyMapping_Items(mapping));
  const Py_ssize count = items ? python.PyList_Size(items.get()) : 0;
  for (Py_ssize i = 0; i < count; ++i) {
    Object* const pair = python.PyList_GetItem(items.get(), i);
    const char* const name = python.PyUnicode_AsUTF8(python.PyTuple_GetItem(pair, 0));
    if (name != nullptr) visit(std::string(name), python.PyTuple_GetItem(pair, 1));
    python.PyErr_Clear();
  }
}

/// "<f4" → "float32".
std::string type_in_words(std::string_view type, std::uint64_t item_bytes) {
  constexpr std::pair<char, std::string_view> kinds[] = {
      {'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}, {'b', "bool"}};
  for (const auto& [letter, word] : kinds) {
    if (type.size() < 2 || type[1] != letter) continue;
    return letter == 'b' ? std::string(word) : fmt::format("{}{}", word, 8 * item_bytes);
  }
  return std::string(type);
}

bool is_of_array_library(const Interpreter& python, Object* value) {
  const Held type(python, python.PyObject_Type(value));
  const std::string module = python.text_of(type.get(), "__module__");
  python.PyErr_Clear();
  for (const std::string_view one : {"cupy", "torch", "numba"}) {
    if (module.starts_with(one)) return true;
  }
  return false;
}

std::optional<PythonArray> array_of(const Interpreter& python, const std::string& name,
                                    Object* value) {
  if (!is_of_array_library(python, value)) return std::nullopt;
  const Held face(python, python.PyObject_GetAttrString(value, "__cuda_array_interface__"));
  if (!face) return std::nullopt;
  const Held data(python, python.PyMapping_GetItemString(face.get(), "data"));
  const Held shape(python, python.PyMapping_GetItemString(face.get(), "shape"));
  Object* const text = python.PyMapping_GetItemString(face.get(), "typestr");
  const std::string type = python.taken_text(text);
  if (!data || !shape || type.size() < 3) return std::nullopt;
  PythonArray array;
  array.name = name;
  Object* const address = python.PyTuple_GetItem(data.get(), 0);
  if (address == nullptr) return std::nullopt;
  array.address = python.PyLong_AsUnsignedLongLong(address);
  for (const char digit : std::string_view(type).substr(2)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    array.item_bytes = array.item_bytes * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  array.type = type_in_words(type, array.item_bytes);
  array.shape = python.taken_text(python.PyObject_Str(shape.get()));
  return array.item_bytes > 0 ? std::optional(array) : std::nullopt;
}

}  // namespace

std::optional<PythonArray> python_array(std::uint64_t begin, std::uint64_t end,
                                        std::uint64_t address) {
  return asked([&](const Interpreter& python, Object* thread) {
    std::optional<PythonArray> found;
    // An array's interface is a property, in PyTorch and in Numba (python::Asking).
    if (!python.is_only(thread)) return found;
    const auto is_nearer = [&](const PythonArray& array) {
      if (!found) return true;
      const bool is_before = array.address <= address, was_before = found->address <= address;
      if (is_before != was_before) return is_before;
      return is_before ? array.address > found->address : array.address < found->address;
    };
    each_near_frame(python, thread, [&](Object* frame, Object*, const std::string& file) {
      if (python::is_of_package(file)) return false;
      const Held locals(python, python.PyFrame_GetLocals(frame));
      if (!locals) return false;
      each_item(python, locals.get(), [&](const std::string& name, Object* value) {
        const auto array = array_of(python, name, value);
        const bool is_there = array && array->address >= begin && array->address < end;
        if (is_there && is_nearer(*array)) found = array;
      });
      return false;
    });
    return found;
  });
}

std::optional<HostPlace> numba_kernel() {
  return asked([&](const Interpreter& python, Object* thread) {
    std::optional<HostPlace> place;
    each_near_frame(python, thread, [&](Object* frame, Object* code, const std::string& file) {
      if (!python::is_of_package(file)) return true;  // the script launches
      if (file.find("/numba") == std::string::npos || !file.ends_with("dispatcher.py"))
        return false;
      if (python.text_of(code, "co_name") != "launch") return false;
      const Held locals(python, python.PyFrame_GetLocals(frame));
      const Held kernel(python,
                        locals ? python.PyMapping_GetItemString(locals.get(), "self") : nullptr);
      const Held function(
          python, kernel ? python.PyObject_GetAttrString(kernel.get(), "py_func") : nullptr);
      const Held own(
          python, function ? python.PyObject_GetAttrString(function.get(), "__code__") : nullptr);
      if (!own) return true;
      const Held line(python, python.PyObject_GetAttrString(own.get(), "co_firstlineno"));
      place.emplace();
      place->is_python = true;
      place->function = python.text_of(own.get(), "co_name");
      place->file = model::relative_path(python.text_of(own.get(), "co_filename"));
      place->line = line ? static_cast<int>(python.PyLong_AsUnsignedLongLong(line.get())) : 0;
      return true;
    });
    return place;
  });
}

std::string source_in_python(const std::string& file) {
  return asked([&](const Interpreter& python, Object*) {
    std::string text;
    Object* const modules = python.PyImport_GetModuleDict();  // borrowed
    const Held linecache(python, python.PyMapping_GetItemString(modules, "linecache"));
    const Held cache(python,
                     linecache ? python.PyObject_GetAttrString(linecache.get(), "cache") : nullptr);
    const Held entry(python,
                     cache ? python.PyMapping_GetItemString(cache.get(), file.c_str()) : nullptr);
    if (!entry || python.PyTuple_Size(entry.get()) < 3) return text;
    Object* const lines = python.PyTuple_GetItem(entry.get(), 2);
    const Py_ssize count = python.PyList_Size(lines);
    for (Py_ssize i = 0; i < count; ++i) {
      const char* const line = python.PyUnicode_AsUTF8(python.PyList_GetItem(lines, i));
      text += line != nullptr ? line : "\n";
    }
    return text;
  });
}

std::vector<std::string> python_files() {
  return asked([&](const Interpreter& python, Object* thread) {
    std::vector<std::string> files;
    const auto add = [&](const std::string& file) {
      const bool is_known = std::find(files.begin(), files.end(), file) != files.end();
      if (!file.empty() && !is_known && !python::is_of_package(file)) files.push_back(file);
    };
    each_near_frame(python, thread, [&](Object*, Object*, const std::string& file) {
      add(file);
      return false;
    });
    each_item(python, python.PyImport_GetModuleDict(), [&](const std::string&, Object* module) {
      add(python.taken_text(python.PyModule_GetFilenameObject(module)));
    });
    return files;
  });
}

}  // namespace warpmeter::runtime
