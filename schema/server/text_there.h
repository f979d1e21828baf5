// SPDX-License-Identifier: MIT
// A text in SQLite may hold any bytes: a command line, a source line in Latin-1. PostgreSQL takes
// UTF-8 without NUL only. A byte that is neither is kept there as U+10FF00 and its value, in a
// range for private use; a text that holds one of these characters itself has its bytes kept so
// too. So every text comes back as it was. For this folder only.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::schema::server {

/// Is text_there(text) the text itself? It mostly is.
bool is_same_there(std::string_view text);
std::string text_there(std::string_view text);
std::string text_here(std::string_view text);

}  // namespace warpmeter::schema::server
