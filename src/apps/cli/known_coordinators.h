// The keys of the coordinators for which this user has signed requests, by host, as ssh keeps
// known_hosts. They are in a file of lines "HOST KEY", which the user may edit.
//
// Loopback hosts are not looked up, because only this machine can answer at them, and because a new
// coordinator with a new key may start at any time. They are looked up if WEFT_KNOWN_COORDINATORS
// names another file.
//
// A user who knows the key in advance gives it by --coordinator-key or WEFT_COORDINATOR_KEY. No
// other key is then accepted, not even for a new host or for loopback.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/api.h"

namespace weft::cli {

class KnownCoordinators {
 public:
  enum class Seen { known, first, rotated };

  explicit KnownCoordinators(std::filesystem::path file) : file_(std::move(file)) {}
  // Uses the file WEFT_KNOWN_COORDINATORS, or "known-coordinators" beside the default wallet.
  [[nodiscard]] static Result<KnownCoordinators> of_user();
  // Checks a coordinator at `host` (protocol::canonical_host) that has proven the key `shown`:
  // first against the key given in advance, if there is one, then by check(). `is_loopback` is true
  // if the host is this machine.
  struct Contact {
    std::string host;
    bool is_loopback = false;
    PublicKey shown;
  };
  [[nodiscard]] static Result<Seen> meet(const Contact& contact,
                                         std::span<const protocol::api::KeyRotation> rotations);
  // Returns the key that the user gave in advance. Fails with invalid_argument if it is no key.
  [[nodiscard]] static Result<std::optional<PublicKey>> named_in_advance();
  // Sets the key given in advance for this process and its child processes.
  static void name_in_advance(const std::string& key);

  // Checks a `host` (protocol::canonical_host) that has proven the key `shown`. A new host is
  // written to the file. Fails with unauthenticated if the host had another key before and no chain
  // of `rotations`, each signed by the key before it, leads from that key to `shown`.
  [[nodiscard]] Result<Seen> check(const std::string& host, const PublicKey& shown,
                                   std::span<const protocol::api::KeyRotation> rotations) const;
  // Stores a host's key that the user has stated.
  [[nodiscard]] Result<> put(const std::string& host, const PublicKey& key) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace weft::cli
