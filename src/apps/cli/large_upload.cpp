#include "apps/cli/large_upload.h"

#include <algorithm>
#include <thread>

#include "common/base/format.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

constexpr std::size_t part_bytes = std::size_t{2} << 20;
constexpr auto patience = std::chrono::seconds(60);

// Asks how many bytes have already arrived.
Result<std::uint64_t> ask_there(ApiClient& client, const Hash& hash, const crypto::KeyPair& wallet,
                                std::uint64_t total) {
  WEFT_ASSIGN(
      const net::Response answer,
      client.requests().get(
          weft::format("/v1/blobs/{}/upload/{}", hash.text(), wallet.public_key().text()), wallet));
  WEFT_ASSIGN(const json::Value root, json::parse(answer.body));
  WEFT_ASSIGN(const json::Object object, root.object({"bytes"}));
  WEFT_ASSIGN(const json::Value bytes, object.get("bytes"));
  return bytes.unsigned_integer(total);
}

}  // namespace

Result<LargeUpload> upload_large(ApiClient& client, ByteSpan bytes, const Hash& hash,
                                 const crypto::KeyPair& wallet,
                                 const std::function<void(std::uint64_t done)>& on_progress) {
  LargeUpload out;
  bool restarted = false;  // True once the bytes of an earlier upload were removed.
  Instant give_up = now() + patience;
  for (auto wait = std::chrono::milliseconds(100);;) {
    WEFT_ASSIGN(std::uint64_t done, ask_there(client, hash, wallet, bytes.size()));
    Error problem;
    for (;;) {
      on_progress(done);
      if (done == bytes.size()) return out;
      const ByteSpan part =
          bytes.subspan(done, std::min<std::size_t>(part_bytes, bytes.size() - done));
      const auto answer = client.requests().put_blob_part(hash, part, done, bytes.size(), wallet);
      if (!answer || !answer->ok()) {
        problem = answer ? net::error_of(*answer) : answer.error();
        break;
      }
      out.sent_bytes += part.size();
      done += part.size();
      give_up = now() + patience;
      wait = std::chrono::milliseconds(100);
    }
    switch (problem.code) {
      // An earlier upload has left damaged bytes, so the whole blob does not have its hash.
      case ErrorCode::invalid_argument:
        if (std::exchange(restarted, true)) return std::unexpected(problem);
        break;
      case ErrorCode::unavailable:
      case ErrorCode::deadline_exceeded:
      // The coordinator has another number of bytes than the offset, or still waits for the
      // interrupted part.
      case ErrorCode::already_exists:
      case ErrorCode::cancelled:
      case ErrorCode::resource_exhausted:
        break;
      default:
        return std::unexpected(problem);
    }
    if (now() + wait > give_up) return std::unexpected(problem);
    std::this_thread::sleep_for(wait);
    wait = std::min(2 * wait, std::chrono::milliseconds(3'000));
  }
}

}  // namespace weft::cli
