// A large file on its way to a coordinator's blobs: in parts, each tried again, and going on where
// an earlier upload was cut off, also one of another process.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/cli/api_client.h"

namespace weft::cli {

struct LargeUpload {
  std::uint64_t sent_bytes = 0;  // By this call; the rest was there.
};

// `hash` is that of the bytes. `on_progress` hears how many are there. unavailable when nothing
// went through for a minute.
[[nodiscard]] Result<LargeUpload> upload_large(
    ApiClient& client, ByteSpan bytes, const Hash& hash, const crypto::KeyPair& wallet,
    const std::function<void(std::uint64_t done)>& on_progress);

}  // namespace weft::cli
