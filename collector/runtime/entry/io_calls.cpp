// SPDX-License-Identifier: MIT
// The functions of the C library by which the system itself reads and writes a program's memory, in
// front of its own: this library was preloaded. The system is told of no signal: a page that is
// kept from the host (host_guard.h) would make the call fail. So it is opened for the call, and
// what the call touches is looked at as what host code touches itself.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/own_stack.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/behind.h"
#include "collector/runtime/image/made_code.h"
#include "collector/runtime/process/process.h"

#define WARPMETER_CALL extern "C" [[gnu::visibility("default")]]

namespace warpmeter::runtime {
namespace {

/// Who keeps pages from the host just now; null: nobody.
Races* keeper() {
  if (!Process::exists() || call_depth > 0) return nullptr;
  Races* races = Process::get().races();
  return races != nullptr && races->guards_any() ? races : nullptr;
}

struct Passed {
  std::string_view function;
  bool writes = false;  ///< into the program's memory
  const void* returned = nullptr;
};

/// `call`, of which `touched` says how many bytes of those vectors it took in order.
template <class Call, class Touched>
auto pass(const Passed& passed, const iovec* vectors, std::size_t count, const Call& call,
          const Touched& touched) {
  Races* races = keeper();
  if (races == nullptr) return call();
  Races::Met first;
  std::uint64_t before = 0, first_at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = reinterpret_cast<std::uint64_t>(vectors[i].iov_base);
    const Races::Met met =
        races->open_for_system({begin, begin + vectors[i].iov_len}, passed.writes);
    if (met.operation != 0 && first.operation == 0) {
      first = met;
      first_at = before + (met.address - begin);
    }
    before += vectors[i].iov_len;
  }
  const auto result = call();
  const int error = errno;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = reinterpret_cast<std::uint64_t>(vectors[i].iov_base);
    races->close_again({begin, begin + vectors[i].iov_len});
  }
  if (first.operation != 0 && touched(result) > first_at) {
    with_room(
        [&] { races->system_touched(first, passed.writes, passed.function, passed.returned); });
  }
  errno = error;
  return result;
}

/// A program that uses CUDA may read machine code. Not this library's own reads. The bytes come
/// from the file once more: the program's memory may be watched.
void look_at_bytes(int file, ssize_t count) {
  constexpr ssize_t least = 64;  // a header of ELF
  if (call_depth > 0 || count < least) return;
  const int error = errno;
  const off_t begin = lseek(file, 0, SEEK_CUR) - count;
  std::array<char, least> header;
  if (begin >= 0 && syscall(SYS_pread64, file, header.data(), least, begin) == least) {
    with_room([&] { look_at_read(file, {header.data(), header.size()}); });
  }
  errno = error;
}

std::uint64_t as_many(ssize_t result) {
  return static_cast<std::uint64_t>(std::max<ssize_t>(result, 0));
}

/// The result of calls that return how many bytes they have moved.
template <class Call>
ssize_t pass(const Passed& passed, const void* buffer, std::size_t bytes, const Call& call) {
  const iovec vector{const_cast<void*>(buffer), bytes};
  return pass(passed, &vector, 1, call, as_many);
}

/// The same of elements.
template <class Call>
std::size_t pass_elements(const Passed& passed, const void* buffer, std::size_t bytes,
                          std::size_t count, const Call& call) {
  const iovec vector{const_cast<void*>(buffer), bytes * count};
  return pass(passed, &vector, 1, call, [&](std::size_t result) { return result * bytes; });
}

/// And of texts.
template <class Call>
int pass_text(std::string_view function, const char* text, const void* returned, const Call& call) {
  if (keeper() == nullptr) return call();
  const std::size_t bytes = std::strlen(text);
  const iovec vector{const_cast<char*>(text), bytes};
  return pass({function, false, returned}, &vector, 1, call,
              [&](int result) { return result < 0 ? 0 : bytes; });
}

}  // namespace
}  // namespace warpmeter::runtime

using warpmeter::runtime::as_many;
using warpmeter::runtime::behind;
using warpmeter::runtime::look_at_bytes;
using warpmeter::runtime::pass;
using warpmeter::runtime::pass_elements;
using warpmeter::runtime::pass_text;

/// The words behind a function of ours.
#define WARPMETER_REAL(name) static const auto real = behind(&(name), #name)
#define WARPMETER_INTO(name) \
  { #name, true, __builtin_return_address(0) }
#define WARPMETER_FROM(name) \
  { #name, false, __builtin_return_address(0) }

WARPMETER_CALL ssize_t read(int file, void* to, size_t bytes) {
  WARPMETER_REAL(read);
  const ssize_t count =
      pass(WARPMETER_INTO(read), to, bytes, [&] { return real(file, to, bytes); });
  look_at_bytes(file, count);
  return count;
}

WARPMETER_CALL ssize_t write(int file, const void* from, size_t bytes) {
  WARPMETER_REAL(write);
  return pass(WARPMETER_FROM(write), from, bytes, [&] { return real(file, from, bytes); });
}

WARPMETER_CALL ssize_t pread(int file, void* to, size_t bytes, off_t at) {
  WARPMETER_REAL(pread);
  return pass(WARPMETER_INTO(pread), to, bytes, [&] { return real(file, to, bytes, at); });
}

WARPMETER_CALL ssize_t pread64(int file, void* to, size_t bytes, off64_t at) {
  WARPMETER_REAL(pread64);
  return pass(WARPMETER_INTO(pread64), to, bytes, [&] { return real(file, to, bytes, at); });
}

WARPMETER_CALL ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  WARPMETER_REAL(pwrite);
  return pass(WARPMETER_FROM(pwrite), from, bytes, [&] { return real(file, from, bytes, at); });
}

WARPMETER_CALL ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t at) {
  WARPMETER_REAL(pwrite64);
  return pass(WARPMETER_FROM(pwrite64), from, bytes, [&] { return real(file, from, bytes, at); });
}

WARPMETER_CALL ssize_t readv(int file, const iovec* to, int count) {
  WARPMETER_REAL(readv);
  return pass(
      WARPMETER_INTO(readv), to, as_many(count), [&] { return real(file, to, count); }, as_many);
}

WARPMETER_CALL ssize_t writev(int file, const iovec* from, int count) {
  WARPMETER_REAL(writev);
  return pass(
      WARPMETER_FROM(writev), from, as_many(count), [&] { return real(file, from, count); },
      as_many);
}

WARPMETER_CALL ssize_t recv(int file, void* to, size_t bytes, int flags) {
  WARPMETER_REAL(recv);
  return pass(WARPMETER_INTO(recv), to, bytes, [&] { return real(file, to, bytes, flags); });
}

WARPMETER_CALL ssize_t recvfrom(int file, void* to, size_t bytes, int flags, sockaddr* sender,
                                socklen_t* length) {
  WARPMETER_REAL(recvfrom);
  return pass(WARPMETER_INTO(recvfrom), to, bytes,
              [&] { return real(file, to, bytes, flags, sender, length); });
}

WARPMETER_CALL ssize_t recvmsg(int file, msghdr* message, int flags) {
  WARPMETER_REAL(recvmsg);
  return pass(
      WARPMETER_INTO(recvmsg), message->msg_iov, message->msg_iovlen,
      [&] { return real(file, message, flags); }, as_many);
}

WARPMETER_CALL ssize_t send(int file, const void* from, size_t bytes, int flags) {
  WARPMETER_REAL(send);
  return pass(WARPMETER_FROM(send), from, bytes, [&] { return real(file, from, bytes, flags); });
}

WARPMETER_CALL ssize_t sendto(int file, const void* from, size_t bytes, int flags,
                              const sockaddr* to, socklen_t length) {
  WARPMETER_REAL(sendto);
  return pass(WARPMETER_FROM(sendto), from, bytes,
              [&] { return real(file, from, bytes, flags, to, length); });
}

WARPMETER_CALL ssize_t sendmsg(int file, const msghdr* message, int flags) {
  WARPMETER_REAL(sendmsg);
  return pass(
      WARPMETER_FROM(sendmsg), message->msg_iov, message->msg_iovlen,
      [&] { return real(file, message, flags); }, as_many);
}

WARPMETER_CALL size_t fread(void* to, size_t bytes, size_t count, FILE* file) {
  WARPMETER_REAL(fread);
  return pass_elements(WARPMETER_INTO(fread), to, bytes, count,
                       [&] { return real(to, bytes, count, file); });
}

WARPMETER_CALL size_t fread_unlocked(void* to, size_t bytes, size_t count, FILE* file) {
  WARPMETER_REAL(fread_unlocked);
  return pass_elements(WARPMETER_INTO(fread_unlocked), to, bytes, count,
                       [&] { return real(to, bytes, count, file); });
}

WARPMETER_CALL size_t fwrite(const void* from, size_t bytes, size_t count, FILE* file) {
  WARPMETER_REAL(fwrite);
  return pass_elements(WARPMETER_FROM(fwrite), from, bytes, count,
                       [&] { return real(from, bytes, count, file); });
}

WARPMETER_CALL size_t fwrite_unlocked(const void* from, size_t bytes, size_t count, FILE* file) {
  WARPMETER_REAL(fwrite_unlocked);
  return pass_elements(WARPMETER_FROM(fwrite_unlocked), from, bytes, count,
                       [&] { return real(from, bytes, count, file); });
}

WARPMETER_CALL int fputs(const char* text, FILE* file) {
  WARPMETER_REAL(fputs);
  return pass_text("fputs", text, __builtin_return_address(0), [&] { return real(text, file); });
}

WARPMETER_CALL int puts(const char* text) {
  WARPMETER_REAL(puts);
  return pass_text("puts", text, __builtin_return_address(0), [&] { return real(text); });
}

// The functions that compilers make of some with _FORTIFY_SOURCE: `room`, as far as they know it.
// NOLINTBEGIN(bugprone-reserved-identifier): the C library's names
extern "C" {
ssize_t __read_chk(int file, void* to, size_t bytes, size_t room);
ssize_t __pread_chk(int file, void* to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int file, void* to, size_t bytes, off64_t at, size_t room);
ssize_t __recv_chk(int file, void* to, size_t bytes, size_t room, int flags);
size_t __fread_chk(void* to, size_t room, size_t bytes, size_t count, FILE* file);
}

WARPMETER_CALL ssize_t __read_chk(int file, void* to, size_t bytes, size_t room) {
  static const auto real = behind(&__read_chk, "__read_chk");
  return pass(WARPMETER_INTO(read), to, bytes, [&] { return real(file, to, bytes, room); });
}

WARPMETER_CALL ssize_t __pread_chk(int file, void* to, size_t bytes, off_t at, size_t room) {
  static const auto real = behind(&__pread_chk, "__pread_chk");
  return pass(WARPMETER_INTO(pread), to, bytes, [&] { return real(file, to, bytes, at, room); });
}

WARPMETER_CALL ssize_t __pread64_chk(int file, void* to, size_t bytes, off64_t at, size_t room) {
  static const auto real = behind(&__pread64_chk, "__pread64_chk");
  return pass(WARPMETER_INTO(pread64), to, bytes, [&] { return real(file, to, bytes, at, room); });
}

WARPMETER_CALL ssize_t __recv_chk(int file, void* to, size_t bytes, size_t room, int flags) {
  static const auto real = behind(&__recv_chk, "__recv_chk");
  return pass(WARPMETER_INTO(recv), to, bytes, [&] { return real(file, to, bytes, room, flags); });
}

WARPMETER_CALL size_t __fread_chk(void* to, size_t room, size_t bytes, size_t count, FILE* file) {
  static const auto real = behind(&__fread_chk, "__fread_chk");
  return pass_elements(WARPMETER_INTO(fread), to, bytes, count,
                       [&] { return real(to, room, bytes, count, file); });
}
// NOLINTEND(bugprone-reserved-identifier)

#undef WARPMETER_FROM
#undef WARPMETER_INTO
#undef WARPMETER_REAL
#undef WARPMETER_CALL
