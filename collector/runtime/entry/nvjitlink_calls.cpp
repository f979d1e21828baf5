// SPDX-License-Identifier: MIT
// In front of nvJitLink: the inputs that a program links are kept, and linked as PTX once the cubin
// that they became is loaded. PTX is linked as the driver's linker does it (linker.h); what is code
// for link-time optimization nvJitLink makes PTX of.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/own_stack.h"
#include "collector/runtime/entry/compilers.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/linker.h"
#include "collector/runtime/image/made_code.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime::jit_links {

// As nvJitLink.h declares them; not every toolkit has it.
using Handle = void*;
using Result = int;
constexpr Result success = 0, internal_error = 6;
enum class InputType : int {
  none = 0,
  ptx = 2,
  fatbin = 4,
  object = 5,
  library = 6,
  any = 10,
};

struct Input {
  InputType type = InputType::none;
  std::string data, name;
};

/// One link of the program's, as far as it has come.
struct Link {
  std::vector<std::string> options;
  std::vector<Input> inputs;
};

struct Links {
  std::mutex mutex;
  std::map<Handle, Link> open;
};

Links& links() {
  static auto* all = new Links;  // as long as the process
  return *all;
}

/// nvJitLink's functions of one version of CUDA, by the names that its header has for them: "12_4".
/// Empty: by those without a version, which dlsym() is asked for.
class Library {
 public:
  explicit Library(std::string_view version) : version_(version) {}

  Result create(Handle* handle, std::uint32_t count, const char* const* options) const {
    return call("Create", handle, count, options);
  }
  Result destroy(Handle* handle) const { return call("Destroy", handle); }
  Result add_data(Handle handle, InputType type, const void* data, std::size_t size,
                  const char* name) const {
    return call("AddData", handle, type, data, size, name);
  }
  Result add_file(Handle handle, InputType type, const char* name) const {
    return call("AddFile", handle, type, name);
  }
  Result complete(Handle handle) const { return call("Complete", handle); }
  Result get_cubin(Handle handle, void* cubin) const {
    return call("GetLinkedCubin", handle, cubin);
  }
  /// Empty: there is none.
  std::size_t cubin_bytes(Handle handle) const {
    std::size_t bytes = 0;
    const auto result = call("GetLinkedCubinSize", handle, &bytes);
    return result == success ? bytes : 0;
  }
  std::string ptx(Handle handle) const {
    std::size_t bytes = 0;
    const auto sized = call("GetLinkedPtxSize", handle, &bytes);
    std::string text(sized == success ? bytes : 0, '\0');
    if (text.empty()) return text;
    const auto got = call("GetLinkedPtx", handle, text.data());
    return got == success ? text : "";
  }

 private:
  template <class... Given>
  Result call(std::string_view what, Given... given) const {
    std::string name(version_.empty() ? "nvJitLink" : "__nvJitLink");
    name.append(what);
    if (!version_.empty()) name.append("_").append(version_);
    auto* const function = compiler_function<Result(Given...)>(nullptr, name.c_str());
    return function == nullptr ? internal_error : function(given...);
  }

  std::string version_;
};

/// nvJitLink's own PTX of inputs that are all code for link-time optimization.
std::string optimized_ptx(const Library& library, std::vector<std::string> options,
                          const std::vector<Input>& inputs) {
  options.emplace_back("-ptx");
  std::vector<const char*> given;
  for (const std::string& option : options) given.push_back(option.c_str());
  Handle handle = nullptr;
  const auto count = static_cast<std::uint32_t>(given.size());
  if (library.create(&handle, count, given.data()) != success) return "";
  bool is_added = true;
  for (const Input& input : inputs) {
    is_added &= library.add_data(handle, input.type, input.data.data(), input.data.size(),
                                 input.name.c_str()) == success;
  }
  const bool is_linked = is_added && library.complete(handle) == success;
  std::string text = is_linked ? library.ptx(handle) : "";
  library.destroy(&handle);
  return text;
}

/// CU_JIT_NUM_INPUT_TYPES: what only nvJitLink reads.
CUjitInputType driver_type(const Input& input) {
  const std::string_view data = input.data;
  switch (input.type) {
    case InputType::ptx:
      return CU_JIT_INPUT_PTX;
    case InputType::fatbin:
      return CU_JIT_INPUT_FATBINARY;
    case InputType::object:
      return CU_JIT_INPUT_OBJECT;
    case InputType::library:
      return CU_JIT_INPUT_LIBRARY;
    case InputType::any:
      if (data.starts_with("!<arch>\n")) return CU_JIT_INPUT_LIBRARY;
      if (data.starts_with("\177ELF")) return CU_JIT_INPUT_OBJECT;
      if (has_fat_mark(bytes_in(data))) return CU_JIT_INPUT_FATBINARY;
      return data.find(".version") != std::string_view::npos ? CU_JIT_INPUT_PTX
                                                             : CU_JIT_NUM_INPUT_TYPES;
    default:
      return CU_JIT_NUM_INPUT_TYPES;
  }
}

/// Empty where the inputs are not all there as PTX, or as what becomes PTX.
std::string linked_ptx(const Library& library, const Link& link) {
  const int arch = Process::get().arch();
  Linker linker(arch, JitOptions(), [](const std::string&) {});
  linker.take_later_versions();
  std::vector<Input> optimized;
  for (const Input& input : link.inputs) {
    const CUjitInputType type = driver_type(input);
    const bool is_read =
        type != CU_JIT_NUM_INPUT_TYPES && linker.add(type, input.data, input.name) == CUDA_SUCCESS;
    if (!is_read) optimized.push_back(input);
  }
  if (!optimized.empty()) {
    std::string text = optimized_ptx(library, link.options, optimized);
    // The lines of the machine code are those of this text.
    const bool is_all = optimized.size() == link.inputs.size();
    if (text.empty() || is_all) return text;
    if (linker.add(CU_JIT_INPUT_PTX, text, "nvJitLink") != CUDA_SUCCESS) return "";
  }
  std::string_view image;
  return linker.complete(image) == CUDA_SUCCESS ? source_of(bytes_in(image), {}, arch).ptx : "";
}

template <class Change>
void change(Handle handle, const Change& apply) {
  Links& all = links();
  const std::lock_guard lock(all.mutex);
  const auto found = all.open.find(handle);
  if (found != all.open.end()) apply(found->second);
}

Result create(std::string_view version, Handle* handle, std::uint32_t count,
              const char* const* options) {
  // With lines the machine code is the same, and counts can be audited.
  std::vector<const char*> words(options, options + count);
  const bool has_lines = std::any_of(words.begin(), words.end(), [](std::string_view option) {
    return option == "-lineinfo" || option == "-g" || option == "-ptx";
  });
  if (!has_lines) words.push_back("-lineinfo");
  const auto total = static_cast<std::uint32_t>(words.size());
  const Result result = Library(version).create(handle, total, words.data());
  if (result != success) return result;
  Links& all = links();
  const std::lock_guard lock(all.mutex);
  all.open.insert_or_assign(*handle, Link{{words.begin(), words.end()}, {}});
  return result;
}

Result destroy(std::string_view version, Handle* handle) {
  if (handle != nullptr) {
    Links& all = links();
    const std::lock_guard lock(all.mutex);
    all.open.erase(*handle);
  }
  return Library(version).destroy(handle);
}

Result add_data(std::string_view version, Handle handle, InputType type, const void* data,
                std::size_t size, const char* name) {
  const Result result = Library(version).add_data(handle, type, data, size, name);
  if (result != success) return result;
  Input input{type, {static_cast<const char*>(data), size}, name == nullptr ? "" : name};
  change(handle, [&](Link& link) { link.inputs.push_back(std::move(input)); });
  return result;
}

Result add_file(std::string_view version, Handle handle, InputType type, const char* name) {
  const Result result = Library(version).add_file(handle, type, name);
  if (result != success) return result;
  std::ifstream file(name, std::ios::binary);
  Input input{type, {std::istreambuf_iterator<char>(file), {}}, name};
  change(handle, [&](Link& link) { link.inputs.push_back(std::move(input)); });
  return result;
}

Result get_cubin(std::string_view version, Handle handle, void* cubin) {
  const Library library(version);
  const Result result = library.get_cubin(handle, cubin);
  const std::size_t bytes = result == success ? library.cubin_bytes(handle) : 0;
  if (bytes == 0) return result;
  change(handle, [&](const Link& link) {
    remember_made({static_cast<const char*>(cubin), bytes},
                  [library, link] { return linked_ptx(library, link); });
  });
  return result;
}

}  // namespace warpmeter::runtime::jit_links

#define WARPMETER_NVJITLINK(NAME) extern "C" [[gnu::visibility("default")]] int NAME
// The names of one version, in front of the library's.
#define WARPMETER_NVJITLINK_OF(BEGIN, END, VERSION)                                              \
  WARPMETER_NVJITLINK(BEGIN##Create##END)                                                        \
  (warpmeter::runtime::jit_links::Handle * handle, std::uint32_t count,                          \
   const char* const* options) {                                                                 \
    return warpmeter::with_room(                                                                 \
        [&] { return warpmeter::runtime::jit_links::create(VERSION, handle, count, options); }); \
  }                                                                                              \
  WARPMETER_NVJITLINK(BEGIN##Destroy##END)                                                       \
  (warpmeter::runtime::jit_links::Handle * handle) {                                             \
    return warpmeter::with_room(                                                                 \
        [&] { return warpmeter::runtime::jit_links::destroy(VERSION, handle); });                \
  }                                                                                              \
  WARPMETER_NVJITLINK(BEGIN##AddData##END)                                                       \
  (warpmeter::runtime::jit_links::Handle handle, warpmeter::runtime::jit_links::InputType type,  \
   const void* data, std::size_t size, const char* name) {                                       \
    return warpmeter::with_room([&] {                                                            \
      return warpmeter::runtime::jit_links::add_data(VERSION, handle, type, data, size, name);   \
    });                                                                                          \
  }                                                                                              \
  WARPMETER_NVJITLINK(BEGIN##AddFile##END)                                                       \
  (warpmeter::runtime::jit_links::Handle handle, warpmeter::runtime::jit_links::InputType type,  \
   const char* name) {                                                                           \
    return warpmeter::with_room(                                                                 \
        [&] { return warpmeter::runtime::jit_links::add_file(VERSION, handle, type, name); });   \
  }                                                                                              \
  WARPMETER_NVJITLINK(BEGIN##GetLinkedCubin##END)                                                \
  (warpmeter::runtime::jit_links::Handle handle, void* cubin) {                                  \
    return warpmeter::with_room(                                                                 \
        [&] { return warpmeter::runtime::jit_links::get_cubin(VERSION, handle, cubin); });       \
  }

#define WARPMETER_FRONT(NAME) {#NAME, reinterpret_cast<const void*>(&NAME)},
#define WARPMETER_FRONTS_OF(BEGIN, END, VERSION) \
  WARPMETER_FRONT(BEGIN##Create##END)            \
  WARPMETER_FRONT(BEGIN##Destroy##END)           \
  WARPMETER_FRONT(BEGIN##AddData##END)           \
  WARPMETER_FRONT(BEGIN##AddFile##END)           \
  WARPMETER_FRONT(BEGIN##GetLinkedCubin##END)

// Programs are compiled with the names of a version; Python asks for those without.
#define WARPMETER_VERSIONS(FOR)   \
  FOR(nvJitLink, , "")            \
  FOR(__nvJitLink, _12_0, "12_0") \
  FOR(__nvJitLink, _12_1, "12_1") \
  FOR(__nvJitLink, _12_2, "12_2") \
  FOR(__nvJitLink, _12_3, "12_3") \
  FOR(__nvJitLink, _12_4, "12_4") \
  FOR(__nvJitLink, _12_5, "12_5") \
  FOR(__nvJitLink, _12_6, "12_6") \
  FOR(__nvJitLink, _12_7, "12_7") \
  FOR(__nvJitLink, _12_8, "12_8") \
  FOR(__nvJitLink, _12_9, "12_9") \
  FOR(__nvJitLink, _13_0, "13_0") \
  FOR(__nvJitLink, _13_1, "13_1") \
  FOR(__nvJitLink, _13_2, "13_2") \
  FOR(__nvJitLink, _13_3, "13_3") \
  FOR(__nvJitLink, _13_4, "13_4") \
  FOR(__nvJitLink, _13_5, "13_5")

WARPMETER_VERSIONS(WARPMETER_NVJITLINK_OF)

namespace warpmeter::runtime {

std::span<const Front> nvjitlink_fronts() {
  static const Front fronts[] = {WARPMETER_VERSIONS(WARPMETER_FRONTS_OF)};
  return fronts;
}

}  // namespace warpmeter::runtime
