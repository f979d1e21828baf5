// SPDX-License-Identifier: MIT
// cuBLAS on the CPU. The library is machine code alone, so each of its functions that programs call
// is computed here. A function is one row and one body:
//
//   ONE(Saxpy_v2, axpy<float>)    cublasSaxpy_v2 and cublasSaxpy_v2_64
//   EACH(axpy_v2, axpy)           the same for S, D, C and Z
//   template <class T> Status axpy(Call& call, Size n, const T* alpha, …)
//
// `Size` is a number of 32 bits in the one function and of 64 bits in the other. A body checks its
// arguments and gives the computation to the handle's stream, which does it in its order.
//
// Sums are made in double precision and rounded once. We use no other BLAS: a library that is
// preloaded into every program has to bring its own code, and none has cuBLAS's half-precision
// products, batches, scalars in device memory and strides of 64 bits.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "collector/runtime/api/answers.h"
#include "collector/runtime/blas/reach.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime::blas {

/// cublasStatus_t.
enum class Status : int {
  success = 0,
  not_initialised = 1,
  allocation_failed = 3,
  invalid_value = 7,
  execution_failed = 13,
  not_supported = 15,
};

/// cublasHandle_t points to it.
struct Handle {
  cudaStream_t stream = nullptr;
  int pointer_mode = 0;  ///< 1: scalars and results lie in the device's memory
  int math_mode = 0, atomics_mode = 0, multiprocessors = 0;
};

/// A number of rows, a step: of 32 or of 64 bits.
struct Size {
  constexpr Size(std::int64_t number) : value(number) {}     // NOLINT(google-explicit-constructor)
  constexpr operator std::int64_t() const { return value; }  // NOLINT(google-explicit-constructor)
  std::int64_t value;
};

/// Where a function writes an index: of 32 or of 64 bits.
struct Index {
  explicit Index(int* place) : narrow(place) {}
  explicit Index(std::int64_t* place) : wide(place) {}
  int* narrow = nullptr;
  std::int64_t* wide = nullptr;
};

/// A number that the program passes by its address: read at once, or in the device's memory when
/// the stream has come to it.
template <class T>
struct Scalar {
  T value{};
  const T* place = nullptr;  ///< in the device's memory; null: `value`

  T at(Reach& reach) const { return place == nullptr ? value : *reach.read(place, 1); }
};

/// One call: the process and the handle's state.
class Call {
 public:
  Call(Process& process, Handle& handle) : process_(process), handle_(handle) {}
  Handle& handle() { return handle_; }

  template <class T>
  Scalar<T> scalar(const T* given) const {
    return handle_.pointer_mode == 1 ? Scalar<T>{T{}, given} : Scalar<T>{*given, nullptr};
  }
  /// Gives the computation to the stream.
  Status run(std::function<void(Reach&)> compute);
  /// The computation's result goes to `to`: for the host the call waits for it.
  template <class T>
  Status result(T* to, std::function<T(Reach&)> compute) {
    if (to == nullptr) return Status::invalid_value;
    if (handle_.pointer_mode == 1) {
      return run([=](Reach& reach) {
        const T value = compute(reach);
        *reach.write(to, 1) = value;
      });
    }
    const auto value = std::make_shared<T>();
    const Status status = run_and_wait([=](Reach& reach) { *value = compute(reach); });
    if (status == Status::success) *to = *value;
    return status;
  }

 private:
  Status run_and_wait(std::function<void(Reach&)> compute);

  Process& process_;
  Handle& handle_;
};

/// Between a program's call and the body: the lock, the handle, a kernel that failed before.
Status enter(std::string_view symbol, const void* caller, Handle* handle,
             const std::function<Status(Call&)>& body);
/// The same for a function without a handle.
Status enter(std::string_view symbol, const void* caller,
             const std::function<Status(Process&)>& body);

/// The type of a parameter in the function of 32 bits or of 64 bits.
template <class Wanted, class Int>
using GivenAs = std::conditional_t<std::is_same_v<Wanted, Size>, Int,
                                   std::conditional_t<std::is_same_v<Wanted, Index>, Int*, Wanted>>;

template <auto body, class Name, class Int, class Body>
struct Entry;
template <auto body, class Name, class Int, class... Wanted>
struct Entry<body, Name, Int, Status (*)(Call&, Wanted...)> {
  static Status call(Handle* handle, GivenAs<Wanted, Int>... given) {
    return enter(Name{}(), __builtin_return_address(0), handle,
                 [&](Call& call) { return body(call, Wanted(given)...); });
  }
};
template <auto body, class Name, class Int, class... Wanted>
struct Entry<body, Name, Int, Status (*)(Process&, Wanted...)> {
  static Status call(GivenAs<Wanted, Int>... given) {
    return enter(Name{}(), __builtin_return_address(0),
                 [&](Process& process) { return body(process, Wanted(given)...); });
  }
};

/// The two functions of a row.
template <auto body, class Name>
void add(std::vector<Answer>& to, Name name, std::string_view wide_name) {
  using Body = decltype(body);
  to.push_back({name(), reinterpret_cast<void*>(&Entry<body, Name, int, Body>::call)});
  to.push_back({wide_name, reinterpret_cast<void*>(&Entry<body, Name, std::int64_t, Body>::call)});
}

}  // namespace warpmeter::runtime::blas

/// The rows of a table, which is the body of a function that returns `rows`.
#define ONE(NAME, ...)                           \
  ::warpmeter::runtime::blas::add<&__VA_ARGS__>( \
      rows, [] { return std::string_view("cublas" #NAME); }, "cublas" #NAME "_64");
#define EACH(NAME, BODY)                  \
  ONE(S##NAME, BODY<float>)               \
  ONE(D##NAME, BODY<double>)              \
  ONE(C##NAME, BODY<std::complex<float>>) \
  ONE(Z##NAME, BODY<std::complex<double>>)
#define REAL(NAME, BODY) ONE(S##NAME, BODY<float>) ONE(D##NAME, BODY<double>)
#define COMPLEX(NAME, BODY) \
  ONE(C##NAME, BODY<std::complex<float>>) ONE(Z##NAME, BODY<std::complex<double>>)
