// The signing memory of this machine: a folder beside the wallet with a file for each coordinator.
// A file begins with a line that names its format, followed by the marks and the records of
// signed_roots.h. Processes that share a wallet share the files: each process reads the records of
// the other processes, under a lock, before it decides.
//
// A wallet that is copied to another machine leaves this memory behind, so a key must be used on
// one machine only.
//
// Threading: admit() is called on the session's thread. Files are written on a thread of their own,
// and all waiting records become durable together.
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

// The record of signed roots for one coordinator, in a file. Not thread-safe.
class SigningJournal {
 public:
  struct Claim {
    TaskKey key;
    Hash root;
  };
  explicit SigningJournal(std::filesystem::path path,
                          std::size_t entries_max = SignedRoots::entries_usual);
  // Returns the answer of SigningMemory::admit() for each claim. All claims fail if the file cannot
  // be written.
  [[nodiscard]] std::vector<Result<>> admit(std::span<const Claim> claims);
  // marks() tells up to which task roots were forgotten, as of the last call. take_marks_changed()
  // is true if they have changed since its last call.
  [[nodiscard]] const SignedRoots::Marks& marks() const { return roots_.marks(); }
  [[nodiscard]] bool take_marks_changed() { return std::exchange(marks_changed_, false); }

 private:
  class Locked;
  // Reads the whole file if it was replaced since the last call, else only the records that other
  // processes have added.
  [[nodiscard]] Result<> catch_up(Locked& file);
  [[nodiscard]] Result<> replace();

  const std::filesystem::path path_;
  const std::size_t entries_max_;
  SignedRoots roots_;
  // The file that was read last; null: none yet. It is held open so that no other file gets its
  // inode.
  std::shared_ptr<const int> file_;
  std::uint64_t known_ = 0;  // Bytes of the file whose records are in roots_.
  bool marks_changed_ = false;
};

class SigningFile final : public SigningMemory {
 public:
  using Post = std::function<void(std::function<void()>)>;  // Runs work on the session's thread.
  SigningFile(std::filesystem::path folder, Post post);
  ~SigningFile() override;

  void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
             std::function<void(Result<>)> done) override;
  // True if the task is older than the record. Call admit() for a root of this coordinator before.
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
  std::map<PublicKey, SignedRoots::Marks> marks_;  // Copies of the marks in the journals.
  std::condition_variable_any wake_;
  std::deque<Waiting> waiting_;
  std::map<PublicKey, SigningJournal> journals_;  // Used only by thread_.
  std::jthread thread_;
};

}  // namespace weft::worker
