// Uploads a large file to a coordinator's blobs in parts. Each part is retried. An upload that was
// interrupted, even one of another process, continues after the bytes that have arrived.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/cli/api_client.h"

namespace weft::cli {

struct LargeUpload {
  std::uint64_t sent_bytes = 0;  // Bytes that this call sent; the others had arrived before.
};

// `hash` is the hash of `bytes`. `on_progress` is called with the number of bytes that have
// arrived. Fails with unavailable if no part was accepted for a minute.
[[nodiscard]] Result<LargeUpload> upload_large(
    ApiClient& client, ByteSpan bytes, const Hash& hash, const crypto::KeyPair& wallet,
    const std::function<void(std::uint64_t done)>& on_progress);

}  // namespace weft::cli
