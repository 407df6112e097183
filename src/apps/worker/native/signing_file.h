// The signing memory of this machine: a folder beside the wallet with a file for each coordinator.
// A file begins with a line that names its format, then the mark and the records of
// signed_roots.h. Processes that share a wallet share the files: each reads what the others have
// added, under a lock, before it decides.
//
// A wallet that is copied to another machine leaves its memory behind: a key belongs to one.
//
// Threading: admit() on the session's thread; files are written on a thread of its own, and many
// records that wait become durable together.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "worker/tasks/signed_roots.h"
#include "worker/tasks/signing_memory.h"

namespace weft::worker {

// One coordinator's file. Not thread-safe.
class SigningJournal {
 public:
  struct Claim {
    TaskKey key;
    Hash root;
  };
  explicit SigningJournal(std::filesystem::path path,
                          std::size_t entries_max = SignedRoots::entries_usual);
  // An answer for each claim: SigningMemory::admit()'s. All fail where the file cannot be written.
  [[nodiscard]] std::vector<Result<>> admit(std::span<const Claim> claims);
  // Up to where roots were forgotten at the last call; true where that changed since the last take.
  [[nodiscard]] const SignedRoots::Marks& marks() const { return roots_.marks(); }
  [[nodiscard]] bool take_marks_changed() { return std::exchange(marks_changed_, false); }

 private:
  class Locked;
  // Everything if the file is not that of last time, else what others have added.
  [[nodiscard]] Result<> catch_up(Locked& file);
  [[nodiscard]] Result<> replace();

  const std::filesystem::path path_;
  const std::size_t entries_max_;
  SignedRoots roots_;
  // The file that was read last, held open so that no other file is given its inode; null: none
  // was.
  std::shared_ptr<const int> file_;
  std::uint64_t known_ = 0;  // Bytes of it that are in roots_.
  bool marks_changed_ = false;
};

class SigningFile final : public SigningMemory {
 public:
  using Post = std::function<void(std::function<void()>)>;  // To the session's thread.
  SigningFile(std::filesystem::path folder, Post post);
  ~SigningFile() override;

  void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
             std::function<void(Result<>)> done) override;
  // Known from the first root on that this process was asked to admit for the coordinator.
  [[nodiscard]] bool forgotten(const PublicKey& coordinator, const TaskKey& key) const override;

 private:
  struct Waiting {
    PublicKey coordinator;
    SigningJournal::Claim claim;
    std::function<void(Result<>)> done;
  };
  void work(const std::stop_token& stop);

  const std::filesystem::path folder_;
  const Post post_;
  mutable std::mutex mutex_;
  std::map<PublicKey, SignedRoots::Marks> marks_;  // Copies of the journals'.
  std::condition_variable_any wake_;
  std::deque<Waiting> waiting_;
  std::map<PublicKey, SigningJournal> journals_;  // The thread's.
  std::jthread thread_;
};

}  // namespace weft::worker
