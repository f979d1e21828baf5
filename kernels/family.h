// A family of kernel variants, as data.
//
// Both backends must be able to run the same record, so a variant names an entry of a compiled
// module; it is never a host function with <<<>>>. A family says how to make its input for a size
// (`prepare`), what the buffers must hold afterwards (`expected`), how large its data is
// (`footprint`) and how much useful work it does (`work`). A new variant is one `extern "C"
// __global__` function and one line in the family's list. A new family is a .cu and a .cpp of its
// name (transpose.cu, transpose.cpp), which kernels/CMakeLists.txt and registry.cpp then name.
//
// Inputs are small whole numbers, so that every order of summation gives the same float or double
// and a result is compared for equality, not within a tolerance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/geometry.h"

namespace warpmeter::kernels {

/// One module compiled for one architecture (80 is sm_80). `cubin` was assembled from `ptx`.
struct Code {
  int arch = 0;
  std::string_view ptx;
  std::span<const unsigned char> cubin;
};

/// A `.cu` file embedded at build: its source and its code for every architecture, in ascending
/// order.
struct Image {
  std::string_view name;         ///< stem of the file: "transpose"
  std::string_view source_path;  ///< relative to the repository: "kernels/transpose.cu"
  std::string_view source;
  std::span<const Code> codes;
};

enum class ElementType { i32, f32, f64 };
std::size_t bytes_of(ElementType type);

/// Device memory of a launch. Every launch starts from `initial`.
struct Buffer {
  std::string name;
  ElementType type = ElementType::i32;
  std::vector<std::byte> initial;
};

/// The buffer's address is the argument.
struct BufferArgument {
  std::size_t index = 0;
};

/// A number passed by value: its bytes as the kernel's parameter holds them.
struct ScalarArgument {
  std::array<std::byte, 8> bytes{};
  std::size_t size = 0;

  template <class T>
  static ScalarArgument of(T value) {
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
    ScalarArgument argument;
    argument.size = sizeof(T);
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
};

using Argument = std::variant<BufferArgument, ScalarArgument>;

/// Everything that a launch needs besides its geometry. Arguments in the order of the signature.
struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};

/// What a buffer must hold after the launch.
struct Expected {
  std::size_t buffer = 0;         ///< index into Problem::buffers
  std::vector<std::byte> values;  ///< as many bytes as the buffer has
};

/// Useful work of one launch: each input read once, each output written once.
struct Work {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t flops = 0;
};

enum class Relation { equal, less_equal, greater_equal };
std::string_view symbol(Relation relation);  ///< "==", "<=", ">="

/// What a variant is known to cost, and why. Holds for the sizes named, for every size when there
/// are none.
struct Expectation {
  std::string_view metric;  ///< a name of the metric catalogue
  Relation relation = Relation::equal;
  double value = 0;
  std::string_view reason;  ///< in words, for a reader of the report
  std::vector<std::int64_t> sizes = {};
};

struct Variant {
  std::string_view name;
  std::string_view entry;  ///< the `extern "C" __global__` function
  Geometry (*geometry)(std::int64_t n) = nullptr;
  std::vector<Expected> (*expected)(std::int64_t n, const Problem& problem) = nullptr;
  std::vector<Expectation> expectations = {};
  /// Overrides Family::work where a variant does other work than its family; may be null.
  Work (*work)(std::int64_t n) = nullptr;
};

struct Family {
  std::string_view name;
  std::string_view summary;
  std::string_view size_meaning;  ///< "side of the matrix"; empty: one fixed size
  const Image* image = nullptr;
  std::vector<std::int64_t> sizes;  ///< measured by default; empty: one fixed size, n is 0
  std::int64_t largest_size = 0;    ///< past it the kernels' index arithmetic would overflow
  std::uint64_t (*footprint)(std::int64_t n) =
      nullptr;                                   ///< bytes of all buffers; n up to largest_size
  Problem (*prepare)(std::int64_t n) = nullptr;  ///< deterministic
  Work (*work)(std::int64_t n) = nullptr;
  /// The variant whose bandwidth is the ceiling that the others are compared with; empty: none.
  std::string_view ceiling;
  std::vector<Variant> variants;

  bool has_sizes() const { return !size_meaning.empty(); }
  const Variant* find(std::string_view variant) const;
};

/// Every family, sorted by name.
std::span<const Family* const> registry();
const Family* find_family(std::string_view name);

}  // namespace warpmeter::kernels
