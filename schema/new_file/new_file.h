// SPDX-License-Identifier: MIT
// A new database as a file: what the migrations, the views and the catalogue leave in an empty one,
// built into the program. To make it by SQL takes 15 ms, as long as a short program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpmeter::schema {

namespace embedded {

/// Bytes of a new database at an offset; between two of them lie zeros.
struct Piece {
  std::uint64_t offset;
  std::string_view bytes;
};

/// In order of their offsets, the last with the file's last byte. Empty in the program that writes
/// them (write.cpp).
std::span<const Piece> new_file();

}  // namespace embedded

/// The folder of a database, "." where the name has none.
std::string folder_of(const std::string& path);

/// Throws Error{file} where no database can be made: there is no such folder, or it may not be
/// written, or the name leaves SQLite no room for what it adds.
void refuse_place(const std::string& path);

/// Puts a new database there, whole or not at all, if nothing of that name exists. False where
/// something does, or a log of a database that was removed, or where the folder does not take it:
/// SQL then does it, or finds out why not.
bool put_new_file(const std::string& path);

}  // namespace warpmeter::schema
