// SPDX-License-Identifier: MIT
// A function of CUDA's API is one row and one body:
//
//   ANSWER(cudaMalloc, memory::allocate, Needs::context)
//   cudaError_t allocate(Process& process, void** pointer, std::size_t bytes)
//
// The body does the work and knows nothing of locks, names and earlier errors. The row is data.
// ANSWER makes the function that programs call, with the type that CUDA's header declares. It does
// not compile where the body's parameters cannot stand for those. A body that needs no Process
// takes none. One body may answer several functions, of both APIs: errors and handles are the same
// in both, and addresses, which the driver's are numbers, are converted.
//
// Every function finds room on the stack for what it does (own_stack.h).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/own_stack.h"
#include "collector/runtime/api/answers.h"
#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// The state that a call needs. The runtime reaches it by itself; a call of the driver fails
/// without it.
enum class Needs : std::uint8_t {
  nothing,
  initialised,  ///< the driver, by cuInit or by a call of the runtime
  device,       ///< that, and at least one device
  context,      ///< that, and a current context
};

/// When a call is answered by its body.
enum class Answers : std::uint8_t {
  until_failure,  ///< a kernel's failure is the answer from then on
  after_failure,  ///< whatever a kernel has done
  anywhere,       ///< that, and in host functions and forks, where no other call is answered
};

/// The errors of a call that are the answer "no" to a question, and no mistake: does anybody use
/// CUDA already, is this memory of the device, has the module such a kernel? Programs and libraries
/// ask on purpose. Who goes on as if the answer were yes is told by the next call.
struct No {
  template <class... Error>
  constexpr explicit No(Error... error) : errors{static_cast<int>(error)...} {}
  std::array<int, 3> errors;
};

struct Row {
  constexpr Row(std::string_view row_symbol, Needs row_needs, No row_no)
      : Row(row_symbol, row_needs, Answers::until_failure, row_no) {}
  constexpr Row(std::string_view row_symbol, Needs row_needs,
                Answers row_answers = Answers::until_failure, No row_no = No())
      : symbol(row_symbol),
        name(name_of(row_symbol)),
        needs(row_needs),
        answers(row_answers),
        no(row_no),
        is_driver(name.starts_with("cu") && !name.starts_with("cuda")),
        adds_work(only_adds_work(name.substr(is_driver ? 2 : 4))),
        is_launch(name == "cudaLaunchKernel") {
    // The driver asks for a kernel's failure where there is a context that has failed.
    const bool asks = !is_driver || needs == Needs::context;
    if (!asks && answers == Answers::until_failure) answers = Answers::after_failure;
  }

  std::string_view symbol;  ///< "cuMemFree_v2": how programs find it
  std::string_view name;    ///< "cuMemFree": the name for a person
  Needs needs;
  Answers answers;
  No no;
  bool is_driver;
  /// True if the call gives something to a stream and goes on, so that on hardware it says nothing
  /// of a kernel that has failed meanwhile.
  bool adds_work;
  bool is_launch;  ///< by `<<<>>>`, or as that does it

 private:
  /// "cuMemFree_v2", "cudaMemAdvise of CUDA 12", "__cudaLaunchKernel" without their additions.
  static constexpr std::string_view name_of(std::string_view symbol) {
    symbol = symbol.substr(0, symbol.find(' '));
    if (symbol.starts_with("__")) symbol.remove_prefix(2);
    const std::size_t size = symbol.size();
    const bool has_version = size > 3 && symbol.substr(size - 3, 2) == "_v";
    return has_version ? symbol.substr(0, size - 3) : symbol;
  }
  /// As an H100 does (driver 580): a copy into the host's own memory is waited for, whatever its
  /// name; functions and occupancy are set and asked for the next launch.
  static constexpr bool only_adds_work(std::string_view name) {
    if (name.ends_with("DtoHAsync") || name.ends_with("FromSymbolAsync")) return false;
    return name.ends_with("Async") || name.starts_with("Launch") || name == "GraphLaunch" ||
           name.starts_with("EventRecord") || name == "StreamWaitEvent" ||
           name.starts_with("FuncSet") || name.starts_with("Occupancy");
  }
};

/// A body with the arguments of one call.
class BoundBody {
 public:
  template <class Body>
  BoundBody(const Body& body)  // NOLINT(google-explicit-constructor): as a function's parameter
      : body_(&body), run_([](const void* bound, Process& process) {
          return static_cast<cudaError_t>((*static_cast<const Body*>(bound))(process));
        }) {}
  cudaError_t operator()(Process& process) const { return run_(body_, process); }

 private:
  const void* body_;
  cudaError_t (*run_)(const void*, Process&);
};

/// Calls of the API that this thread is in.
inline thread_local int call_depth = 0;

/// One call of the API: one at a time, timed for the summary, with what went wrong turned into what
/// the function returns. A call within a call is a part of it. `caller`: the program's instruction
/// behind the call.
cudaError_t enter(const Row& row, const void* caller, const BoundBody& body);

/// The runtime's first call of any kind initialises the driver.
void begin_runtime(const Process& process);

/// A kernel is named by a handle in the driver's API.
constexpr CUresult as_driver_error(cudaError_t error) {
  return error == cudaErrorInvalidDeviceFunction ? CUDA_ERROR_INVALID_HANDLE
                                                 : static_cast<CUresult>(error);
}

// NOLINTBEGIN(bugprone-sizeof-expression): types that are compared may be pointers
/// True if an argument of one API's function may stand for one of the other's: it is as large, and
/// what it points to. Flags may be of fewer bits.
template <class To, class From>
constexpr bool stands_for() {
  if constexpr (std::is_pointer_v<To> && std::is_pointer_v<From>) {
    using There = std::remove_pointer_t<To>;
    using Here = std::remove_pointer_t<From>;
    if constexpr (std::is_void_v<There> || std::is_void_v<Here> || std::is_function_v<There>) {
      return true;
    } else if constexpr (requires { sizeof(There) == sizeof(Here); }) {
      return sizeof(There) == sizeof(Here);
    }
    return true;  // handles
  }
  return sizeof(To) == sizeof(From) || std::is_unsigned_v<To>;
}
// NOLINTEND(bugprone-sizeof-expression)

/// The argument of one API's function in the other's type.
template <class To, class From>
To given_as(From from) {
  static_assert(stands_for<To, From>());
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_pointer_v<To> && !std::is_pointer_v<From>) {
    return reinterpret_cast<To>(static_cast<std::uintptr_t>(from));
  } else if constexpr (std::is_pointer_v<From> && !std::is_pointer_v<To>) {
    return static_cast<To>(reinterpret_cast<std::uintptr_t>(from));
  } else if constexpr (std::is_class_v<From> || std::is_pointer_v<To>) {
    return std::bit_cast<To>(from);
  } else {
    return static_cast<To>(from);
  }
}

/// The type that a function has whose body has the type `Body`.
template <class Body>
struct BodyOf;
template <class Result, class... Wanted>
struct BodyOf<Result(Wanted...)> {
  using Function = Result(Wanted...);
};
template <class Result, class... Wanted>
struct BodyOf<Result(Process&, Wanted...)> {
  using Function = Result(Wanted...);
};
template <auto body>
using FunctionOf = typename BodyOf<std::remove_pointer_t<decltype(body)>>::Function;

/// The type of CUDA's declaration: among overloads, and templates of the same name, the body's.
template <auto body>
FunctionOf<body>* declared(FunctionOf<body>*, int);
template <auto body, class Function>
Function* declared(Function*, long);

/// The function that programs call. `MakeRow` is a type of its own for each row.
template <auto body, class MakeRow, class Function, class BodyFunction>
struct Entry;
template <auto body, class MakeRow, class Result, class... Given, class BodyResult, class... Wanted>
struct Entry<body, MakeRow, Result (*)(Given...), BodyResult(Wanted...)> {
  static constexpr Row row = MakeRow{}();
  static Result call(Given... given) {
    return static_cast<Result>(
        enter(row, __builtin_return_address(0), [&](Process& process) -> BodyResult {
          if constexpr (std::is_invocable_v<decltype(body), Process&, Wanted...>) {
            return body(process, given_as<std::remove_cvref_t<Wanted>>(given)...);
          } else {
            return body(given_as<std::remove_cvref_t<Wanted>>(given)...);
          }
        }));
  }
};

template <auto body, class Function, class MakeRow>
Answer answer(MakeRow) {
  using Made = Entry<body, MakeRow, Function, FunctionOf<body>>;
  return {Made::row.symbol, reinterpret_cast<void*>(&Made::call)};
}

/// A function that is no call: nothing is locked, timed or remembered.
template <auto body, class Function = decltype(body)>
struct Direct;
template <auto body, class Result, class... Given>
struct Direct<body, Result (*)(Given...)> {
  static Result call(Given... given) {
    return with_room([&] { return body(given...); });
  }
  static Answer answer(std::string_view symbol) { return {symbol, reinterpret_cast<void*>(&call)}; }
};

}  // namespace warpmeter::runtime

// clang-format off
/// The row of a function: ANSWER(NAME, BODY, NEEDS[, ANSWERS][, NO]).
#define ANSWER(NAME, BODY, ...) \
  ::warpmeter::runtime::answer<&BODY, decltype(::warpmeter::runtime::declared<&BODY>(&::NAME, 0))>( \
      [] { return ::warpmeter::runtime::Row(#NAME, __VA_ARGS__); })
/// One row for the runtime's function and the driver's that does the same.
#define BOTH(RUNTIME, DRIVER, BODY, ...) \
  ANSWER(RUNTIME, BODY, __VA_ARGS__), ANSWER(DRIVER, BODY, __VA_ARGS__)
/// The row of a symbol that the headers do not declare, or no longer want to be called: it has the
/// type of the body.
#define ANSWER_AS(SYMBOL, BODY, ...) \
  ANSWER_LIKE(SYMBOL, ::warpmeter::runtime::FunctionOf<&BODY>, BODY, __VA_ARGS__)
/// The same with a type of its own.
#define ANSWER_LIKE(SYMBOL, FUNCTION, BODY, ...) \
  ::warpmeter::runtime::answer<&BODY, std::add_pointer_t<FUNCTION>>( \
      [] { return ::warpmeter::runtime::Row(SYMBOL, __VA_ARGS__); })
/// A function that is no call.
#define DIRECT(NAME, BODY) \
  ::warpmeter::runtime::Direct<static_cast<decltype(&::NAME)>(&BODY)>::answer(#NAME)
#define DIRECT_AS(SYMBOL, BODY) ::warpmeter::runtime::Direct<&BODY>::answer(SYMBOL)
// clang-format on
