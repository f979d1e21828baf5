// SPDX-License-Identifier: MIT
#include "collector/runtime/check/caller.h"

#include <backtrace.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/kernel_name.h"
#include "collector/model/check/findings.h"
#include "collector/model/input/kernel_file.h"
#include "collector/runtime/check/python_place.h"
#include "collector/runtime/check/sources.h"
#include "collector/runtime/image/allocated_variable.h"
#include "collector/runtime/image/registry.h"

namespace {

/// True if this thread reads debug information just now.
thread_local bool is_reading = false;

using SeesObject = int (*)(dl_phdr_info*, std::size_t, void*);

const void* object_of(std::uintptr_t address) {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(address), &info) != 0 ? info.dli_fbase : nullptr;
}

/// True for objects that no person wrote: the libraries of C and C++, and this one.
bool is_of_nobody(const dl_phdr_info& object) {
  static const auto ours =
      reinterpret_cast<std::uintptr_t>(object_of(reinterpret_cast<std::uintptr_t>(&is_of_nobody)));
  if (object.dlpi_addr == ours) return true;
  std::string_view name = object.dlpi_name == nullptr ? "" : object.dlpi_name;
  name.remove_prefix(name.find_last_of('/') + 1);
  constexpr std::string_view libraries[] = {"libc.so",     "libm.so",       "libstdc++.so",
                                            "libgcc_s.so", "libpthread.so", "libdl.so",
                                            "librt.so",    "ld-linux"};
  return std::any_of(std::begin(libraries), std::end(libraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

}  // namespace

// libbacktrace reads all that is known of every object, which takes 0.07 s for libc where a
// distribution's debug information of it is installed. The linker gives its calls of
// dl_iterate_phdr to the second function here (--wrap), and those of exceptions, which have to see
// all objects.
int each_object(SeesObject see, void* data) asm("__real_dl_iterate_phdr");
int each_object_to_read(SeesObject see, void* data) asm("__wrap_dl_iterate_phdr");
int each_object_to_read(SeesObject see, void* data) {
  if (!is_reading) return each_object(see, data);
  std::pair<SeesObject, void*> asked{see, data};
  return each_object(
      [](dl_phdr_info* object, std::size_t size, void* given) {
        const auto& [sees, its_data] = *static_cast<std::pair<SeesObject, void*>*>(given);
        return is_of_nobody(*object) ? 0 : sees(object, size, its_data);
      },
      &asked);
}

// libbacktrace maps what the headers of a file say, and to read behind a file's end is SIGBUS. The
// linker gives its calls to the second function here.
using CannotView = backtrace_error_callback;
int view_of_file(backtrace_state* state, int file, off_t offset, std::uint64_t size,
                 CannotView complain, void* data, void* view) asm("__real_backtrace_get_view");
int view_within_file(backtrace_state* state, int file, off_t offset, std::uint64_t size,
                     CannotView complain, void* data, void* view) asm("__wrap_backtrace_get_view");
int view_within_file(backtrace_state* state, int file, off_t offset, std::uint64_t size,
                     CannotView complain, void* data, void* view) {
  struct stat info {};
  const bool is_within = fstat(file, &info) == 0 && offset >= 0 && offset <= info.st_size &&
                         size <= static_cast<std::uint64_t>(info.st_size - offset);
  if (is_within) return view_of_file(state, file, offset, size, complain, data, view);
  complain(data, "a size leads out of the file", 0);
  return 0;
}

namespace warpmeter::runtime {
namespace {

/// The place of the call that this thread answers for another; null: it answers its own.
thread_local const HostPlace* elsewhere = nullptr;

/// How deep a call of the API may lie under what its author wrote: templates of templates.
constexpr std::size_t most_frames = 64;

unsigned long long loaded_objects() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = object->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

/// It knows the objects that were loaded when it was made, so that there is a new one when others
/// were loaded since. It is never given back, which libbacktrace does not provide for.
backtrace_state* state() {
  static backtrace_state* made = nullptr;
  static unsigned long long objects = 0;
  if (const auto now = loaded_objects(); made == nullptr || now != objects) {
    objects = now;
    made = backtrace_create_state(
        nullptr, 1, [](void*, const char*, int) {}, nullptr);
  }
  return made;
}

/// A function that an instruction lies in; with inlined ones there are several, the innermost
/// first.
struct Level {
  std::string function, file;
  int line = 0;
};

struct Frame {
  std::vector<Level> levels;
  const void* begin = nullptr;  ///< the begin of the function, by the symbol table
};

Frame frame_at(std::uintptr_t instruction) {
  Frame frame;
  is_reading = true;
  backtrace_pcinfo(
      state(), instruction,
      [](void* into, std::uintptr_t, const char* file, int line, const char* function) {
        auto& levels = static_cast<Frame*>(into)->levels;
        if (file == nullptr) return 0;
        levels.push_back({function != nullptr ? function : "", file, line});
        return 0;
      },
      [](void*, const char*, int) {}, &frame);
  backtrace_syminfo(
      state(), instruction,
      [](void* into, std::uintptr_t, const char* name, std::uintptr_t begin, std::uintptr_t) {
        auto& known = *static_cast<Frame*>(into);
        known.begin = reinterpret_cast<const void*>(begin);
        if (name != nullptr && known.levels.empty()) known.levels.push_back({name, "", 0});
      },
      [](void*, const char*, int) {}, &frame);
  is_reading = false;
  return frame;
}

bool is_of_toolkit(const Level& level) {
  if (!level.file.empty()) {
    return level.file.find("/targets/x86_64-linux/include/") != std::string::npos ||
           level.file.ends_with("/cuda_runtime.h") || model::check::is_of_toolkit(level.file);
  }
  const std::string name = readable_name(level.function);
  return name.starts_with("cuda") || name.starts_with("__cuda") || name.starts_with("thrust::") ||
         name.starts_with("cub::");
}

bool is_stub(const Level& level) {
  return level.function.find("__device_stub_") != std::string::npos;
}

HostPlace place_of(const Level& level) {
  return {level.function.empty() ? "" : readable_name(level.function),
          level.file.empty() ? "" : model::relative_path(level.file), level.line, nullptr};
}

/// Looks for the first level that is the program's own, frame by frame from the innermost.
class Search {
 public:
  /// True if it is found.
  bool look_at(std::uintptr_t instruction) {
    const Frame frame = frame_at(instruction);
    const bool is_launcher = Registry::get().functions.contains(frame.begin);
    for (const Level& level : frame.levels) {
      const bool was_stub = is_stub_;
      is_stub_ = is_stub(level);
      // The function that calls a stub is the function that stands for the kernel.
      const bool is_passed_over =
          is_stub_ || was_stub || is_of_toolkit(level) || (is_launcher && frame.levels.size() == 1);
      if (is_passed_over) continue;
      found_ = place_of(level);
      found_.instruction = reinterpret_cast<const void*>(instruction);
      return true;
    }
    return false;
  }
  const HostPlace& found() const { return found_; }

 private:
  HostPlace found_;
  bool is_stub_ = false;
};

struct Walk {
  Search search{};
  const void* own_object = nullptr;   ///< where this library begins
  std::uintptr_t from = 0;            ///< frames before this address are passed over; 0: none
  const void* only_object = nullptr;  ///< frames of others are passed over; null: none is
  bool needs_lines = false;           ///< passes over what has no debug information
  std::size_t frames = 0;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* given) {
  auto& walk = *static_cast<Walk*>(given);
  int is_before = 0;  // true if the address is that of an instruction that has not been executed
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
  if (address == 0 || ++walk.frames > most_frames) return _URC_END_OF_STACK;
  if (walk.from != 0 && address != walk.from) return _URC_NO_REASON;
  walk.from = 0;
  const void* object = object_of(address);
  if (object == walk.own_object) return _URC_NO_REASON;
  if (walk.only_object != nullptr && object != walk.only_object) return _URC_NO_REASON;
  const std::uintptr_t instruction = address - (is_before != 0 ? 0 : 1);
  if (walk.needs_lines) {
    const Frame frame = frame_at(instruction);
    if (frame.levels.empty() || frame.levels.front().file.empty()) return _URC_NO_REASON;
  }
  return walk.search.look_at(instruction) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

HostPlace walked(Walk walk) {
  walk.own_object = object_of(reinterpret_cast<std::uintptr_t>(&step));
  _Unwind_Backtrace(step, &walk);
  return walk.search.found();
}

const std::vector<std::string>& source_lines(const std::string& file) {
  static auto* known = new std::map<std::string, std::vector<std::string>>;  // outlives exit()
  const auto [place, is_new] = known->try_emplace(file);
  if (!is_new) return place->second;
  const std::string text = allowed_source(file);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    place->second.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return place->second;
}

/// A place of Python that stays; null: the call is not made by Python.
const HostPlace* kept_python_place() {
  static auto* known = new std::map<std::pair<std::string, int>, HostPlace>;  // outlives exit()
  auto place = python_place();
  if (!place) return nullptr;
  return &known->try_emplace({place->file, place->line}, *place).first->second;
}

}  // namespace

std::string HostPlace::in_words() const {
  return line > 0 ? fmt::format("{}:{}", file, line) : function;
}

std::string HostPlace::after(std::string_view words) const {
  const std::string where = in_words();
  return where.empty() ? "" : fmt::format("{} {} {}", words, line > 0 ? "at" : "in", where);
}

CallElsewhere::CallElsewhere(const HostPlace* place) { elsewhere = place; }
CallElsewhere::~CallElsewhere() { elsewhere = nullptr; }

HostPlace place_of_call() {
  if (elsewhere != nullptr) return *elsewhere;
  if (auto place = python_place()) return *place;
  return walked({});
}

const HostPlace& place_of_frequent_call() {
  if (elsewhere != nullptr) return *elsewhere;
  if (const HostPlace* place = kept_python_place()) return *place;
  // As deep as templates of the toolkit's headers go, most often; what lies above makes no
  // difference where the line is found below.
  constexpr std::size_t frames = 24;
  struct Stack {
    std::array<std::uintptr_t, frames> addresses{};
    std::size_t count = 0;
  } stack;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* given) {
        auto& all = *static_cast<Stack*>(given);
        if (all.count == frames) return _URC_END_OF_STACK;
        all.addresses[all.count++] = _Unwind_GetIP(context);
        return _URC_NO_REASON;
      },
      &stack);
  static auto* known = new std::map<std::array<std::uintptr_t, frames>, HostPlace>;
  const auto [place, is_new] = known->try_emplace(stack.addresses);
  if (is_new) place->second = place_of_call();
  return place->second;
}

const HostPlace& place_of_call(const void* return_address) {
  if (const HostPlace* place = kept_python_place()) return *place;
  static auto* known = new std::map<const void*, HostPlace>;  // outlives exit()
  static auto* passed_over = new HostPlace;
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  const auto [place, is_new] = known->try_emplace(return_address);
  if (is_new) {
    Search search;
    if (search.look_at(address - 1)) place->second = search.found();
  }
  if (!place->second.function.empty() || place->second.line > 0) return place->second;
  return *passed_over = walked({.from = address});
}

HostPlace place_of_signal(const void* instruction) {
  const auto address = reinterpret_cast<std::uintptr_t>(instruction);
  const HostPlace place = walked({.from = address, .needs_lines = true});
  if (place.line > 0) return place;
  // The program's function rather than one of the C library that it called.
  return walked({.from = address, .only_object = object_of(getauxval(AT_ENTRY))});
}

AllocatedFor allocated_at(const HostPlace& place) {
  if (place.line <= 0) return {};
  const std::vector<std::string>& lines = source_lines(place.file);
  if (place.is_python) {
    const auto number = static_cast<std::size_t>(place.line);
    return {number <= lines.size() ? assigned_variable(lines[number - 1]) : "", 0};
  }
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t number = static_cast<std::size_t>(place.line) - 1 + i;
    if (number >= lines.size()) break;
    text += lines[number] + "\n";
    if (text.find(';') != std::string::npos) break;
  }
  const std::vector<std::string> variables = allocated_variables(text);
  if (variables.empty()) return {};
  const bool is_one = std::all_of(variables.begin(), variables.end(),
                                  [&](const std::string& name) { return name == variables[0]; });
  if (is_one) return {variables[0], 0};
  // Debug information has no columns that are the source's. But calls that are made in order come
  // to be known in order.
  static auto* known = new std::map<std::pair<std::string, int>, std::vector<const void*>>;
  std::vector<const void*>& calls = (*known)[{place.file, place.line}];
  const auto found = std::find(calls.begin(), calls.end(), place.instruction);
  const auto number = static_cast<std::size_t>(found - calls.begin());
  if (found == calls.end()) calls.push_back(place.instruction);
  if (number >= variables.size() || !are_in_order(text)) return {"", number + 1};
  return {variables[number], number + 1};
}

}  // namespace warpmeter::runtime
