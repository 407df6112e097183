#include "platform/store/sqlite/connection.h"

#include <sqlite3.h>

#include "common/base/check.h"

namespace weft::store::sqlite {

Error error_of(sqlite3* database, int code) {
  const std::string said = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::data_loss,
              "The database is damaged (" + said + "); restore it from a copy."};
    case SQLITE_FULL:
      return {ErrorCode::resource_exhausted, "The disk of the database is full (" + said + ")."};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::already_exists, "The database holds this already (" + said + ")."};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::unavailable, "The database is locked by another process (" + said + ")."};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return {ErrorCode::permission_denied,
              "The database cannot be opened for writing (" + said + ")."};
    case SQLITE_IOERR:
      return {ErrorCode::data_loss, "The disk of the database fails (" + said + ")."};
    default:
      return {ErrorCode::internal, "SQLite fails: " + said + "."};
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<bool> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(error_of(database_, code));
}

void Statement::finish() {
  sqlite3_reset(statement_.get());  // Returns the error that step() has already reported.
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes == nullptr
             ? std::string()
             : std::string(
                   bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}
ByteSpan Statement::blob(int column) const {
  const auto* bytes =
      static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  return {bytes, bytes == nullptr
                     ? 0
                     : static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Statement::bind(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value) == SQLITE_OK, "bind");
}
void Statement::bind(int index, double value) {
  check(sqlite3_bind_double(statement_.get(), index, value) == SQLITE_OK, "bind");
}
void Statement::bind(int index, std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8) == SQLITE_OK,
        "bind");
}
void Statement::bind(int index, ByteSpan value) {
  // An empty blob needs a pointer that is not null, because a null pointer would bind NULL.
  const void* bytes = value.empty() ? "" : static_cast<const void*>(value.data());
  check(sqlite3_bind_blob64(statement_.get(), index, bytes, value.size(), SQLITE_TRANSIENT) ==
            SQLITE_OK,
        "bind");
}
void Statement::bind(int index, std::nullptr_t) {
  check(sqlite3_bind_null(statement_.get(), index) == SQLITE_OK, "bind");
}

std::unexpected<Error> Statement::damaged(int column, std::size_t size, std::size_t expected) {
  return fail(ErrorCode::data_loss,
              "A row of the database has {} bytes in column {}; it must have {}.", size, column,
              expected);
}

void Connection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Connection> Connection::open(const std::string& path, const std::string& vfs) {
  sqlite3* database = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int code =
      sqlite3_open_v2(path.c_str(), &database, flags, vfs.empty() ? nullptr : vfs.c_str());
  Connection connection(database);
  if (code != SQLITE_OK) {
    Error error = error_of(database, code);
    error.message += " - while opening " + path;
    return std::unexpected(std::move(error));
  }
  sqlite3_extended_result_codes(database, 1);
  return connection;
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error_of(database_.get(), code));
  return Statement(database_.get(), statement);
}

Result<> Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error_of(database_.get(), code));
  return {};
}

std::int64_t Connection::last_row() const { return sqlite3_last_insert_rowid(database_.get()); }
std::int64_t Connection::changes() const { return sqlite3_changes64(database_.get()); }

}  // namespace weft::store::sqlite
