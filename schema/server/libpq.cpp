// SPDX-License-Identifier: MIT
#include "schema/server/libpq.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.h"

namespace warpmeter::schema::server {
namespace {

Libpq loaded() {
  void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(
        ExitCode::no_hardware,
        "PostgreSQL's client library libpq.so.5 is not on this machine: install libpq5 (the "
        "distribution's package; on other systems postgresql-libs or libpq)");
  }
  Libpq libpq;
#define WARPMETER_LOAD(name)                                                          \
  libpq.name = reinterpret_cast<decltype(libpq.name)>(dlsym(library, #name));         \
  if (libpq.name == nullptr) {                                                        \
    throw Error(ExitCode::no_hardware,                                                \
                "libpq.so.5 is too old, it lacks " #name ": install a newer libpq5"); \
  }
  WARPMETER_LIBPQ(WARPMETER_LOAD)
#undef WARPMETER_LOAD
  return libpq;
}

}  // namespace

const Libpq& Libpq::get() {
  static const Libpq libpq = loaded();
  return libpq;
}

}  // namespace warpmeter::schema::server
