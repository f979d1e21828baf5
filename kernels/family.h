// SPDX-License-Identifier: MIT
// A family of kernel variants, as data: what collector/family makes of a YAML file, be it one of
// the catalogue beside this header or a person's own.
//
// Both backends must be able to run the same record, so a variant names an entry of a compiled
// module; it is never a host function with <<<>>>. A family says how to make its input for a size
// (`prepare`) and how large its data is (`footprint`); a variant says what the buffers must hold
// afterwards (`expected`) and how much useful work it does (`work`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/element.h"
#include "base/geometry.h"

namespace warpmeter::kernels {

/// One module compiled for one architecture (80 is sm_80). `cubin` was assembled from `ptx`; a file
/// that is machine code alone has no `ptx`.
struct Code {
  int arch = 0;
  std::string_view ptx;
  std::span<const unsigned char> cubin;
};

/// Machine code runs on its own major version and a minor version not lower than its own (CUDA C++
/// Programming Guide, Application Compatibility). 90 is sm_90, and compute capability 9.0.
constexpr bool runs_machine_code_of(int arch, int compute_capability) {
  return arch / 10 == compute_capability / 10 && arch <= compute_capability;
}

/// A `.cu` file embedded at build: its source and its code for every architecture, in ascending
/// order.
struct Image {
  std::string_view name;         ///< stem of the file: "transpose"
  std::string_view source_path;  ///< relative to the repository: "kernels/transpose.cu"
  std::string_view source;
  std::span<const Code> codes;
  std::span<const std::string> folders = {};  ///< for the headers, by the person (-I)
  std::string_view family = {};  ///< the text of the catalogue's .yaml beside it; empty: none
};

/// Device memory of a launch. Every launch starts from `initial`.
struct Buffer {
  std::string name;
  Element type = Element::i32;
  std::vector<std::byte> initial;
  bool is_set = true;  ///< false: nobody has set what it holds, and a kernel should not read it
};

/// The buffer's address is the argument.
struct BufferArgument {
  std::size_t index = 0;
};

/// A number or a structure passed by value: its bytes as the kernel's parameter holds them.
struct ScalarArgument {
  std::vector<std::byte> bytes;

  template <class T>
  static ScalarArgument of(T value) {
    static_assert(std::is_arithmetic_v<T>);
    ScalarArgument argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    return argument;
  }
};

using Argument = std::variant<BufferArgument, ScalarArgument>;

/// A `__constant__` or `__device__` variable and what it holds before a launch: a buffer's address,
/// or bytes.
struct Setting {
  std::string symbol;  ///< its name in the machine code
  std::optional<std::size_t> buffer;
  std::vector<std::byte> bytes;
};

/// Everything that a launch needs besides its geometry. Arguments in the order of the signature.
struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
  std::vector<Setting> settings = {};
};

/// How far a floating-point result may be from what is expected: |found − expected| ≤ absolute +
/// relative · |expected|. Whole numbers are compared exactly.
struct Tolerance {
  double relative = 0, absolute = 0;
  bool nan_equals_nan = false;
};

/// The content that a buffer must have after the launch.
struct Expected {
  std::size_t buffer = 0;         ///< index into Problem::buffers
  std::vector<std::byte> values;  ///< as many bytes as the buffer has
  Tolerance tolerance = {};
};

/// Useful work of one launch: each input read once, each output written once.
struct Work {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t flops = 0;
};

enum class Relation { equal, less_equal, greater_equal };
std::string_view symbol(Relation relation);  ///< "==", "<=", ">="

/// The known cost of a variant, and why. Holds for the sizes named, for every size when there are
/// none.
struct Expectation {
  std::string metric;  ///< a name of the metric catalogue
  Relation relation = Relation::equal;
  double value = 0;
  std::string reason;  ///< in words, for a reader of the report
  std::vector<std::int64_t> sizes = {};
};

struct Variant {
  std::string name;
  std::string entry;  ///< the kernel's name in the machine code
  std::function<Geometry(std::int64_t n)> geometry;
  /// Empty where another variant's result is what is expected, or nothing is known.
  std::function<std::vector<Expected>(std::int64_t n, const Problem& problem)> expected;
  std::vector<Expectation> expectations = {};
  std::function<Work(std::int64_t n)> work = {};        ///< empty: nobody said
  const Image* image = nullptr;                         ///< null: of a library, or it has failed
  std::function<Problem(std::int64_t n)> prepare = {};  ///< its own problem; empty: the family's
  /// Throws Error for what can be known to be wrong with its input before it is made; may be empty.
  std::function<void(std::int64_t n)> check = {};
  std::string reference = {};  ///< the variant of the family whose result it must give; empty: none
  std::string failure = {};    ///< why it cannot be launched (the compiler's words); empty: it can
  /// "cuBLAS": the entry is a function of that library, which launches kernels of its own: only
  /// hardware runs them, where the library is installed. Empty: a kernel of an image.
  std::string library = {};
  std::string expected_from = {};  ///< in words: "the CPU reference", "the reference files"
};

/// The geometry of a library's call: how its kernels are launched is its own affair.
inline constexpr Geometry unknown_geometry = {.grid = {0, 0, 0}, .block = {0, 0, 0}};

struct Family {
  std::string name;
  std::string summary;
  std::string size_meaning;         ///< "side of the matrix"; empty: one fixed size
  std::vector<std::int64_t> sizes;  ///< the default sizes; empty: one fixed size, n is 0
  std::int64_t largest_size = 0;    ///< past it the kernels' index arithmetic would overflow
  std::function<std::uint64_t(std::int64_t n)>
      footprint;                                   ///< bytes of all buffers; n up to largest_size
  std::function<Problem(std::int64_t n)> prepare;  ///< deterministic
  /// The variants whose bandwidth is the ceiling that the others are compared with: one, of a file
  /// with several named sizes one at each; empty: none.
  std::vector<std::string> ceilings;
  std::vector<Variant> variants;
  std::vector<std::string> outputs = {};  ///< buffers that are compared with a reference variant's;
                                          ///< empty: those that it changes
  Tolerance tolerance = {};               ///< for that comparison
  bool is_of_file = false;  ///< a person's own, whose kernels may change what they should not

  bool has_sizes() const { return !size_meaning.empty(); }
  const Variant* find(std::string_view variant) const;
  bool is_ceiling(std::string_view variant) const;
};

}  // namespace warpmeter::kernels
