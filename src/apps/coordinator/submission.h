// A client's request to run a job, from its HTTP headers and text to a Submission that the core takes: the signature fits,
// the manifest keeps every rule, its data are blobs that are stored, its shader compiles.
//
// Threading: any. Blocks: reads and writes blobs, and runs the shader checker.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/events.h"
#include "service/store/blobs.h"

namespace weft::coordinator {

// What is wrong with a shader, where.
struct ShaderComplaint {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
};
// Compiles the shader of a manifest (whose text it gets, whether inline or from a blob) somewhere safe. Empty: it compiles.
// An error means that it could not be checked; the job is taken then, and workers report. May take seconds.
using ShaderChecker = std::function<Result<std::vector<ShaderComplaint>>(const manifest::Manifest& manifest, std::string_view shader)>;

// "I am KEY and say so": the headers Weft-Client (base58), Weft-Nonce (32 hex digits) and Weft-Signature (base58, over
// protocol::submit_digest of `digest` and the nonce).
struct Signed {
  PublicKey client;
  store::SubmitNonce nonce{};
};
// unauthenticated where a header is missing, is none, or does not fit.
[[nodiscard]] Result<Signed> verify_signed(std::string_view client, std::string_view nonce, std::string_view signature, const Hash& digest);
// The same over protocol::blob_digest: to put that blob.
[[nodiscard]] Result<Signed> verify_signed_blob(std::string_view client, std::string_view nonce, std::string_view signature, const Hash& blob);

// What a client signs to cancel a job: SHA-256 of "cancel ID".
[[nodiscard]] Hash cancel_digest(const JobId& job);

struct SubmissionBounds {
  std::uint64_t input_bytes_max = std::uint64_t{4} << 30;   // Of all data of one job.
  std::uint64_t output_bytes_max = std::uint64_t{1} << 30;  // Of its joined outputs.
};

struct Complaint {
  Error error;
  std::optional<ShaderComplaint> shader = {};  // Where a shader does not compile: the first message.
};

// The body has been signed by `who`.
[[nodiscard]] std::expected<Submission, Complaint> read_submission(const Signed& who, std::string_view body, store::Blobs& blobs,
                                                                   const ShaderChecker& checker, const SubmissionBounds& bounds);

}  // namespace weft::coordinator
