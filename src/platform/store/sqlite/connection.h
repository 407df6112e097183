// SQLite's C interface as Results: a connection and its prepared statements.
//
//   WEFT_ASSIGN(Statement insert, connection.prepare("INSERT INTO t VALUES (?, ?)"));
//   WEFT_OK(insert.run(7, "text"));
//   insert.start(7); while (row = insert.next()) ...
//
// Threading: a connection and its statements belong to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weft::store::sqlite {

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}

  // Binds the values and runs a statement that returns no rows.
  template <class... Values>
  [[nodiscard]] Result<> run(const Values&... values) {
    start(values...);
    const Result<bool> row = next();
    finish();
    if (!row) return std::unexpected(row.error());
    return {};
  }
  // Binds the values. next() then steps through the rows and returns false after the last one;
  // finish() resets the statement early.
  template <class... Values>
  void start(const Values&... values) {
    finish();
    [[maybe_unused]] int index = 0;
    (bind(++index, values), ...);
  }
  [[nodiscard]] Result<bool> next();
  void finish();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] ByteSpan blob(int column) const;  // The bytes are valid until the next step.
  [[nodiscard]] bool is_null(int column) const;
  // Reads a blob of exactly this size. Fails with data_loss for another size.
  template <class Fixed>
  [[nodiscard]] Result<Fixed> fixed(int column) const {
    const ByteSpan bytes = blob(column);
    if (bytes.size() != Fixed::size) return damaged(column, bytes.size(), Fixed::size);
    Fixed value;
    std::memcpy(value.bytes.data(), bytes.data(), Fixed::size);
    return value;
  }

 private:
  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::uint32_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, ByteSpan value);
  void bind(int index, std::nullptr_t);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const ByteVector& value) { bind(index, ByteSpan(value)); }
  template <std::size_t n>
  void bind(int index, const FixedBytes<n>& value) {
    bind(index, value.span());
  }
  static std::unexpected<Error> damaged(int column, std::size_t size, std::size_t expected);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  [[nodiscard]] static Result<Connection> open(const std::string& path, const std::string& vfs);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  // Runs statements without values or rows, separated by ';'.
  [[nodiscard]] Result<> execute(const std::string& sql);
  [[nodiscard]] std::int64_t last_row() const;
  [[nodiscard]] std::int64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Connection(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

// The error of the last call on this connection: data_loss for a damaged file, resource_exhausted
// for a full disk, already_exists for a broken constraint, unavailable for a locked file.
[[nodiscard]] Error error_of(sqlite3* database, int code);

}  // namespace weft::store::sqlite
