// SPDX-License-Identifier: MIT
// The new database that write.cpp wrote.
#include "schema/new_file/new_file.h"

namespace warpmeter::schema::embedded {
namespace {

constexpr Piece pieces[] = {
#include "schema/new_file.inc"
};

}  // namespace

std::span<const Piece> new_file() { return pieces; }

}  // namespace warpmeter::schema::embedded
