// SPDX-License-Identifier: MIT
// SQLite behind types that release what they hold and turn its errors into sentences. For this
// folder only.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "schema/store.h"

namespace warpmeter::schema {

using Handle = std::unique_ptr<sqlite3, void (*)(sqlite3*)>;

/// Bytes of a text or of a row that are read or written: all that warpmeter writes is far shorter.
/// A table takes some 17 times a text's bytes to make.
inline constexpr int longest_text = 32 << 20;

/// An empty handle that knows how to close one.
Handle no_handle();

/// The meaning of SQLite's last failure on `db` for the file at `path`, and what to do about it.
Error file_error(sqlite3* db, const std::string& path);
/// Throws file_error for the file that `db` has open.
[[noreturn]] void throw_file_error(sqlite3* db);

/// For columns where an empty text means that there is none.
inline std::optional<std::string_view> text_or_null(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

/// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

/// A prepared statement. Every failure throws file_error.
class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);
  /// Takes over a statement that is already prepared.
  explicit Statement(sqlite3_stmt* statement);

  /// Binds the first parameters in order and runs to the end. Texts are not copied.
  template <class... Values>
  void execute(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    while (step()) {
    }
  }

  /// Goes to the next row. False, and back to the start, when there is none.
  bool step();
  /// As step, but gives SQLite's code and leaves the judgement to the caller.
  int step_code();
  void reset();

  /// The value of another statement's column, as it is.
  void bind(int index, const Statement& other, int column);
  void bind(int index, std::nullptr_t);
  void bind(int index, std::int64_t value);
  /// Whole numbers, flags and enumerations.
  template <class Whole>
  requires(std::is_integral_v<Whole> || std::is_enum_v<Whole>) void bind(int index, Whole value) {
    bind(index, static_cast<std::int64_t>(value));
  }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, nullptr);
    }
  }
  /// Named parameters, as ":name". Throws Error{usage} for a name that the statement does not have,
  /// and for one of its own that is not given.
  void bind(const Parameters& parameters);

  int columns() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  Value value(int column) const;
  /// The same into a value that is there, which is faster for very many.
  void read(int column, Value& value) const;
  /// Appends a value's type, length and bytes, without a copy of its text. Rows are equal where the
  /// same bytes are appended.
  void append(int column, std::string& bytes) const;

 private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// Statements of a connection, each prepared when it is first asked for.
class PreparedOnce {
 public:
  explicit PreparedOnce(sqlite3* db) : db_(db) {}

  struct Reset {
    void operator()(Statement* statement) const { statement->reset(); }
  };
  using InUse = std::unique_ptr<Statement, Reset>;
  /// Nobody else has it in use.
  InUse get(std::string_view sql);
  sqlite3* db() const { return db_; }

 private:
  sqlite3* db_;
  std::map<std::string, Statement, std::less<>> statements_;
};

/// Runs statements without parameters, one after the other.
void execute(sqlite3* db, std::string_view sql);

/// The first value of the first row.
std::int64_t integer_of(sqlite3* db, std::string_view sql);

/// The file at `path` is damaged; `fault` is what SQLite says of it.
Error damaged(const std::string& path, const std::string& fault);

/// The faults that `quick_check` or `integrity_check` finds, at most `most`; empty when all is well
/// or a deadline ended it.
std::vector<std::string> faults_of(sqlite3* db, const std::string& check, int most);

/// The first fault that `quick_check` finds in so much time.
std::vector<std::string> faults_within(sqlite3* db, std::chrono::milliseconds time);

/// Copies the whole of a database as it is at this moment, while others may go on writing to it.
void copy_database(sqlite3* from, sqlite3* to);

/// While it lives, a statement of `db` ends with SQLITE_INTERRUPT when `time` has passed or
/// `cancelled` says so. One at a time for a connection.
class Deadline {
 public:
  Deadline(sqlite3* db, std::optional<std::chrono::duration<double>> time,
           std::function<bool()> cancelled = {});
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  /// Did the time pass (rather than somebody cancel)?
  bool passed() const { return passed_; }

 private:
  static int ask(void* deadline);

  sqlite3* db_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::duration<double>> time_;
  std::function<bool()> cancelled_;
  bool passed_ = false;
};

/// BEGIN IMMEDIATE, so that it waits for another writer before it reads what it builds upon. Rolled
/// back unless committed. Within another one it is a part of that: its failure has to end the
/// other.
class Transaction {
 public:
  explicit Transaction(sqlite3* db);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  sqlite3* db_ = nullptr;  ///< null for a part, and when it was committed
};

}  // namespace warpmeter::schema
