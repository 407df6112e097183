// The keys of the coordinators that this user has signed for, by the host that they were asked at:
// as ssh does it with known_hosts. A file of lines "HOST KEY", which its user may edit.
//
// Hosts of loopback are not looked up: coordinators come and go there, and only this machine
// answers. Where WEFT_KNOWN_COORDINATORS names another file, they are.
#pragma once

#include <filesystem>
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
  // Whether a host of loopback is looked up.
  [[nodiscard]] static bool includes_loopback();

  // `host` (protocol::canonical_host) has shown that it holds `shown`. A host that is seen for the
  // first time is written down. unauthenticated if it had another key before, and no chain of
  // `rotations`, each signed by the key before, leads from that one to `shown`.
  [[nodiscard]] Result<Seen> check(const std::string& host, const PublicKey& shown,
                                   std::span<const protocol::api::KeyRotation> rotations) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace weft::cli
