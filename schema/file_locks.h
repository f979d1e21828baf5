// SPDX-License-Identifier: MIT
// Locks of databases in a process that has a second SQLite: Python's, beside the one in
// libwarpmeter.
//
// SQLite locks bytes of a file by POSIX's locks, which belong to a process. Two copies of SQLite in
// one process neither see each other's locks nor keep their own: the first copy that closes the
// file drops the locks of both, and removes the write-ahead log that the other still writes. Linux
// has locks of open files too (F_OFD_SETLK, fcntl(2)). Other processes, and other open files of
// this one, respect them as they do POSIX's.
#pragma once

namespace warpmeter::schema {

/// SQLite takes locks of open files from now on. To be called before the process opens a database.
void lock_by_open_file();

}  // namespace warpmeter::schema
