// The keys of the coordinators that this user has signed for, by the host that they were asked at:
// as ssh does it with known_hosts. A file of lines "HOST KEY", which its user may edit.
//
// Hosts of loopback are not looked up: coordinators come and go there, and only this machine
// answers. Where WEFT_KNOWN_COORDINATORS names another file, they are.
//
// A user that was told the key in advance names it (--coordinator-key, WEFT_COORDINATOR_KEY): no
// other key is accepted then, also at first sight, and also of loopback.
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
  // WEFT_KNOWN_COORDINATORS, or "known-coordinators" beside the default wallet.
  [[nodiscard]] static Result<KnownCoordinators> of_user();
  // What a command does with a coordinator at `host` (protocol::canonical_host), which has shown
  // that it holds `shown`: as check(), after the key that was named in advance, if one was.
  // `is_loopback`: the host is this machine's own.
  struct Contact {
    std::string host;
    bool is_loopback = false;
    PublicKey shown;
  };
  [[nodiscard]] static Result<Seen> meet(const Contact& contact,
                                         std::span<const protocol::api::KeyRotation> rotations);
  // The key that the user named in advance; invalid_argument if that is not a key.
  [[nodiscard]] static Result<std::optional<PublicKey>> named_in_advance();
  // Names it for this process and those that it starts.
  static void name_in_advance(const std::string& key);

  // `host` (protocol::canonical_host) has shown that it holds `shown`. A host that is seen for the
  // first time is written down. unauthenticated if it had another key before, and no chain of
  // `rotations`, each signed by the key before, leads from that one to `shown`.
  [[nodiscard]] Result<Seen> check(const std::string& host, const PublicKey& shown,
                                   std::span<const protocol::api::KeyRotation> rotations) const;
  // The user says itself that it has this key.
  [[nodiscard]] Result<> put(const std::string& host, const PublicKey& key) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace weft::cli
