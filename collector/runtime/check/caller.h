// SPDX-License-Identifier: MIT
// Where in the program's host code a call was made: the function, and with debug information (-g)
// the file and line. Code of the toolkit's headers (cudaMalloc as a template), of launch stubs that
// nvcc writes and of this library is passed over: a person wants the line that they wrote.
//
// Debug information is read by libbacktrace, a static library of GCC, which knows of inlined calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpmeter::runtime {

struct HostPlace {
  std::string function;  ///< "main"; empty: not known
  std::string file;      ///< empty: no debug information
  int line = 0;
  const void* instruction = nullptr;  ///< that makes it
  bool is_python = false;             ///< the file is a Python program

  /// "vec.cu:12"; "main"; empty.
  std::string in_words() const;
  /// "; launched at vec.cu:12" for "; launched": with its preposition, or nothing at all.
  std::string after(std::string_view words) const;
};

/// The place of the API's call that is being answered: from the stack below.
HostPlace place_of_call();
/// While it lives, this thread answers a call that another one has made, at a place that stays.
class CallElsewhere {
 public:
  explicit CallElsewhere(const HostPlace* place);
  ~CallElsewhere();
  CallElsewhere(const CallElsewhere&) = delete;
  CallElsewhere& operator=(const CallElsewhere&) = delete;
};
/// The same, remembered by the return addresses on the stack: for calls that come often.
const HostPlace& place_of_frequent_call();
/// The same where the call's return address is known already, which takes no walk over the stack
/// unless it lies in a header of the toolkit.
const HostPlace& place_of_call(const void* return_address);
/// The place of a signal that this thread handles: what the program did when it came.
HostPlace place_of_signal(const void* instruction);

/// The variable that the call at a place allocates memory for (allocated_variable.h), which may go
/// on for two more lines, or else which of several calls of its line it is: 2 of the second. ""
/// and 0: neither is known.
struct AllocatedFor {
  std::string variable;
  std::size_t number = 0;
};
AllocatedFor allocated_at(const HostPlace& place);

}  // namespace warpmeter::runtime
