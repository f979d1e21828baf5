// SPDX-License-Identifier: MIT
// PostgreSQL's client library, loaded when a server is asked for: the program needs no more than
// glibc where nobody does. For this folder only.
#pragma once

#include <libpq-fe.h>

namespace warpmeter::schema::server {

/// The functions of libpq that are used here, under their own names.
struct Libpq {
#define WARPMETER_LIBPQ(each)                                                                  \
  each(PQconninfoParse) each(PQconninfoFree) each(PQfreemem) each(PQconnectStartParams)        \
      each(PQfinish) each(PQstatus) each(PQerrorMessage) each(PQconnectionNeedsPassword)       \
          each(PQconnectionUsedPassword) each(PQserverVersion) each(PQdb) each(PQhost)         \
              each(PQexec) each(PQexecParams) each(PQresultStatus) each(PQresultErrorField)    \
                  each(PQresultErrorMessage) each(PQclear) each(PQntuples) each(PQnfields)     \
                      each(PQgetvalue) each(PQgetlength) each(PQgetisnull) each(PQputCopyData) \
                          each(PQputCopyEnd) each(PQgetCopyData) each(PQgetResult)             \
                              each(PQparameterStatus) each(PQsetClientEncoding)                \
                                  each(PQsetNoticeProcessor) each(PQreset)
#define WARPMETER_DECLARE(name) decltype(&::name) name = nullptr;
  WARPMETER_LIBPQ(WARPMETER_DECLARE)
#undef WARPMETER_DECLARE

  /// Loads it once. Throws Error{no_hardware} where it is not installed.
  static const Libpq& get();
};

}  // namespace warpmeter::schema::server
