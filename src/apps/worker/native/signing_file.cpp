#include "apps/worker/native/signing_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <sys/file.h>
#include <sys/stat.h>

#include "common/base/format.h"

namespace weft::worker {
namespace {

constexpr std::string_view head = "weft-signed-roots-2\n";
// Files of version 1 are read, too.
constexpr std::string_view head_before = "weft-signed-roots-1\n";
static_assert(head.size() == head_before.size());

bool begins_one(std::string_view text) {
  return text.starts_with(head) || text.starts_with(head_before);
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  const int number_;
};

std::shared_ptr<const int> hold(int file) {
  return {new int(::fcntl(file, F_DUPFD_CLOEXEC, 0)), [](const int* held) {
            if (*held >= 0) ::close(*held);
            delete held;
          }};
}

bool is_same(const std::shared_ptr<const int>& held, const struct stat& found) {
  struct stat last{};
  return held && ::fstat(*held, &last) == 0 && last.st_dev == found.st_dev &&
         last.st_ino == found.st_ino;
}

std::unexpected<Error> failed(const std::filesystem::path& path, std::string_view what) {
  return fail(ErrorCode::unavailable,
              "{} cannot be {}: {}. Without it this worker cannot tell what it has signed, and "
              "signs nothing: make its folder writable.",
              path.string(), what, std::strerror(errno));
}

bool write_all(int file, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

Result<> sync_folder(const std::filesystem::path& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.open() || ::fsync(opened.get()) != 0) return failed(folder, "synced");
  return {};
}

}  // namespace

// The lock is a separate file, because the file of records is replaced.
class SigningJournal::Locked {
 public:
  explicit Locked(const std::filesystem::path& path)
      : lock_(::open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
        locked_(lock_.open() && ::flock(lock_.get(), LOCK_EX) == 0),
        file_(locked_ ? ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1) {}
  [[nodiscard]] bool open() const { return file_.open(); }
  [[nodiscard]] int file() const { return file_.get(); }

 private:
  const Descriptor lock_;
  const bool locked_;
  const Descriptor file_;
};

SigningJournal::SigningJournal(std::filesystem::path path, std::size_t entries_max)
    : path_(std::move(path)), entries_max_(entries_max), roots_(entries_max) {}

Result<> SigningJournal::catch_up(Locked& file) {
  struct stat found{};
  if (::fstat(file.file(), &found) != 0) return failed(path_, "read");
  const auto size = static_cast<std::uint64_t>(found.st_size);
  if (size == 0) {
    roots_ = SignedRoots(entries_max_);
    file_ = hold(file.file());
    ByteVector begin;
    append(begin, as_bytes(head));
    append(begin, roots_.all());
    known_ = begin.size();
    if (!write_all(file.file(), begin) || ::fsync(file.file()) != 0)
      return failed(path_, "written");
    return sync_folder(path_.parent_path());
  }
  const bool again = is_same(file_, found) && known_ <= size;
  const std::uint64_t from = again ? known_ : 0;
  ByteVector bytes(size - from);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got =
        ::pread(file.file(), bytes.data() + at, bytes.size() - at, static_cast<off_t>(from + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed(path_, "read");
    at += static_cast<std::size_t>(got);
  }
  constexpr std::size_t begin = head.size() + SignedRoots::key_bytes;
  if (again) {
    roots_.take(bytes);
  } else {
    // A first write that a crash truncated was not acknowledged, so it is discarded.
    const std::string_view first = as_text(bytes).substr(0, head.size());
    if (size < begin && (head.starts_with(first) || head_before.starts_with(first))) {
      if (::ftruncate(file.file(), 0) != 0) return failed(path_, "written");
      return catch_up(file);
    }
    if (size < begin || !begins_one(first))
      return fail(ErrorCode::data_loss,
                  "{} is not a record of what this worker has signed: put the file back from a "
                  "copy, or give the worker a new wallet. (Without the record the stake of the "
                  "wallet's owner is at risk.)",
                  path_.string());
    roots_ = SignedRoots::from(ByteSpan(bytes).subspan(head.size()), entries_max_);
    marks_changed_ = true;
    file_ = hold(file.file());
  }
  // A record that a crash truncated was not acknowledged, so it is removed.
  known_ = size - (size - begin) % SignedRoots::record_bytes;
  if (known_ < size && ::ftruncate(file.file(), static_cast<off_t>(known_)) != 0)
    return failed(path_, "written");
  return {};
}

Result<> SigningJournal::replace() {
  const std::filesystem::path beside = path_.string() + ".new";
  ByteVector bytes;
  append(bytes, as_bytes(head));
  append(bytes, roots_.all());
  {
    const Descriptor made(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!made.open() || !write_all(made.get(), bytes) || ::fsync(made.get()) != 0)
      return failed(beside, "written");
  }
  if (::rename(beside.c_str(), path_.c_str()) != 0) return failed(path_, "replaced");
  file_ = nullptr;  // The whole file is read again at the next call.
  return sync_folder(path_.parent_path());
}

std::vector<Result<>> SigningJournal::admit(std::span<const Claim> claims) {
  std::vector<Result<>> answers(claims.size());
  const auto all_fail = [&](const Error& why) {
    file_ = nullptr;
    return std::vector<Result<>>(claims.size(), std::unexpected(why));
  };
  std::error_code ignored;  // An error is reported when a file is opened.
  std::filesystem::create_directories(path_.parent_path(), ignored);
  Locked file(path_);
  if (!file.open()) return all_fail(failed(path_, "opened").error());
  if (const auto read = catch_up(file); !read) return all_fail(read.error());
  ByteVector records;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const auto& [key, root] = claims[i];
    switch (roots_.look(key, root)) {
      case SignedRoots::Verdict::fresh:
        append(records, roots_.add(key, root));
        break;
      case SignedRoots::Verdict::same:
        break;
      case SignedRoots::Verdict::other:
        answers[i] = fail(ErrorCode::already_exists,
                          "This device has signed another result of attempt {} of task {}.",
                          key.attempt, key.task.text());
        break;
      case SignedRoots::Verdict::forgotten:
        answers[i] = fail(ErrorCode::already_exists,
                          "Task {} is too old for this device to know whether it has signed a "
                          "result of attempt {} before.",
                          key.task.text(), key.attempt);
        break;
    }
  }
  if (records.empty()) return answers;
  if (!write_all(file.file(), records) || ::fdatasync(file.file()) != 0)
    return all_fail(failed(path_, "written").error());
  known_ += records.size();
  if (roots_.shrink()) {
    marks_changed_ = true;
    if (const auto replaced = replace(); !replaced) return all_fail(replaced.error());
  }
  return answers;
}

SigningFile::SigningFile(std::filesystem::path folder, Post post)
    : folder_(std::move(folder)),
      post_(std::move(post)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

SigningFile::~SigningFile() = default;

void SigningFile::admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
                        std::function<void(Result<>)> done) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(
        {.coordinator = coordinator, .claim = {.key = key, .root = root}, .done = std::move(done)});
  }
  wake_.notify_one();
}

bool SigningFile::forgotten(const PublicKey& coordinator, const TaskKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = marks_.find(coordinator);
  return found != marks_.end() && found->second.forgotten(key);
}

void SigningFile::work(const std::stop_token& stop) {
  for (;;) {
    std::deque<Waiting> taken;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      taken.swap(waiting_);
    }
    std::map<PublicKey, std::vector<SigningJournal::Claim>> claims;
    for (const Waiting& each : taken) claims[each.coordinator].push_back(each.claim);
    std::map<PublicKey, std::deque<Result<>>> answers;
    for (const auto& [coordinator, of] : claims) {
      auto& journal =
          journals_.try_emplace(coordinator, folder_ / coordinator.text()).first->second;
      std::vector<Result<>> found = journal.admit(of);
      answers[coordinator].assign(found.begin(), found.end());
      if (journal.take_marks_changed()) {
        SignedRoots::Marks marks = journal.marks();
        const std::scoped_lock lock(mutex_);
        marks_.insert_or_assign(coordinator, std::move(marks));
      }
    }
    for (Waiting& each : taken) {
      auto& of = answers[each.coordinator];
      post_([done = std::move(each.done), answer = std::move(of.front())] { done(answer); });
      of.pop_front();
    }
  }
}

}  // namespace weft::worker
