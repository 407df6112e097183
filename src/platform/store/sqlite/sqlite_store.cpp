#include "platform/store/sqlite/sqlite_store.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

#include <sys/file.h>

#include "common/base/format.h"
#include "platform/store/sqlite/reader.h"
#include "platform/store/sqlite/schema.h"
#include "platform/store/sqlite/writer.h"

namespace weft::store::sqlite {
namespace {

// Holds FILE.lock while the store is open, because SQLite itself would let a second coordinator
// write.
class FileLock {
 public:
  static Result<FileLock> take(const std::filesystem::path& path) {
    const std::string name = path.string() + ".lock";
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
      return fail(ErrorCode::permission_denied, "{} cannot be opened: {}.", name,
                  std::strerror(errno));
    FileLock lock(file);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0)
      return fail(ErrorCode::unavailable, "Another process has the database {} open.",
                  path.string());
    return lock;
  }
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ~FileLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

class SqliteStore final : public Store {
  // Locks, because only one caller may read at a time.
  template <class Ask>
  auto read(const Ask& ask) {
    const std::lock_guard guard(reader_mutex_);
    return ask(reader_);
  }

 public:
  SqliteStore(FileLock lock, Writer writer, Connection reading)
      : lock_(std::move(lock)), writer_(std::move(writer)), reader_(std::move(reading)) {}

  Result<Loaded> load() override {
    return read([&](Reader& reader) { return reader.state.load(); });
  }
  Result<> commit_all(std::span<const Batch> batches, const Ready& ready) override {
    const std::lock_guard guard(writer_mutex_);
    return writer_.commit(batches, ready);
  }
  Result<Job> job(const JobId& id) override {
    return read([&](Reader& reader) { return reader.jobs.job(id); });
  }
  Result<std::vector<Task>> tasks(const JobId& id) override {
    return read([&](Reader& reader) { return reader.jobs.tasks(id); });
  }
  Result<std::vector<Replica>> replicas(const JobId& id) override {
    return read([&](Reader& reader) { return reader.jobs.replicas(id); });
  }
  Result<std::vector<Receipt>> receipts(const JobId& id) override {
    return read([&](Reader& reader) { return reader.jobs.receipts(id); });
  }
  Result<std::vector<Job>> jobs(const JobPage& page) override {
    return read([&](Reader& reader) { return reader.jobs.jobs(page); });
  }
  Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                            const SubmitNonce& nonce) override {
    return read([&](Reader& reader) { return reader.jobs.job_of_nonce(client, nonce); });
  }
  Result<BlobOwners> blob_owners(UnixMillis ended_since) override {
    return read([&](Reader& reader) { return reader.jobs.blob_owners(ended_since); });
  }
  Result<History> history(const ledger::Account& account, const HistoryPage& page) override {
    return read([&](Reader& reader) { return reader.money.history(account, page); });
  }
  Result<History> history(const JobId& job, const HistoryPage& page) override {
    return read([&](Reader& reader) { return reader.money.history(job, page); });
  }
  Result<History> history(const HistoryPage& page) override {
    return read([&](Reader& reader) { return reader.money.history(page); });
  }
  Result<> audit() override {
    return read([&](Reader& reader) { return reader.money.audit(); });
  }
  Result<std::vector<Task>> paid_tasks(const PaidPage& page) override {
    return read([&](Reader& reader) { return reader.verdicts.paid_tasks(page); });
  }
  Result<std::vector<Correction>> corrections(const JobId& id) override {
    return read([&](Reader& reader) { return reader.verdicts.corrections(id); });
  }
  Result<BasisCounts> bases(const JobId& id) override {
    return read([&](Reader& reader) { return reader.verdicts.bases(id); });
  }
  Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count) override {
    return read([&](Reader& reader) { return reader.verdicts.evidence(from, count); });
  }
  Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) override {
    return read([&](Reader& reader) { return reader.verdicts.checks(id, count); });
  }
  Result<std::vector<Check>> checks(const PublicKey& worker, std::uint32_t count) override {
    return read([&](Reader& reader) { return reader.verdicts.checks(worker, count); });
  }

 private:
  FileLock lock_;
  std::mutex writer_mutex_;
  Writer writer_;
  std::mutex reader_mutex_;
  Reader reader_;
};

Result<Connection> connect(const std::filesystem::path& path, const Options& options) {
  WEFT_ASSIGN(Connection connection, Connection::open(path.string(), options.vfs));
  // FULL syncs the log at every commit; NORMAL in WAL mode may lose the last commits at a power
  // cut.
  WEFT_OK(connection.execute(
      std::string("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = "
                  "5000; PRAGMA cache_size = -65536;"
                  // 4000 pages are 16 MB of log, so that a page that changes often is copied
                  // rarely.
                  "PRAGMA wal_autocheckpoint = 4000;"
                  "PRAGMA temp_store = MEMORY; PRAGMA synchronous = ") +
      (options.synchronous ? "FULL" : "OFF")));
  if (options.pages_max > 0)
    WEFT_OK(connection.execute(weft::format("PRAGMA max_page_count = {}", options.pages_max)));
  return connection;
}

}  // namespace

Result<std::unique_ptr<Store>> open(const std::filesystem::path& path, const Options& options) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(ErrorCode::permission_denied, "The folder of {} cannot be made: {}.", path.string(),
                error.message());
  WEFT_ASSIGN(FileLock lock, FileLock::take(path));
  auto opened = [&]() -> Result<std::unique_ptr<Store>> {
    WEFT_ASSIGN(Connection writing, connect(path, options));
    WEFT_OK(migrate(writing));
    WEFT_ASSIGN(Writer writer, Writer::create(std::move(writing)));
    WEFT_ASSIGN(Connection reading, connect(path, options));
    return std::make_unique<SqliteStore>(std::move(lock), std::move(writer), std::move(reading));
  }();
  if (!opened) return pass(std::move(opened), "while opening the database {}", path.string());
  return opened;
}

}  // namespace weft::store::sqlite
