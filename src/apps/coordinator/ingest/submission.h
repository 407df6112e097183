// A client's request to run a job, from its text to a Submission that the core takes: the manifest
// keeps every rule, its data are blobs that are stored, its shader compiles.
//
// Threading: any. Blocks: reads and writes blobs, and runs the shader checker.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/ingest/output_room.h"
#include "decisions/jobs/events.h"
#include "platform/store/blobs.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// What is wrong with a shader, where.
struct ShaderComplaint {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
};
// Compiles the shader of a manifest (whose text it gets, whether inline or from a blob), or reads
// the model of an onnx job (whose bytes it gets), somewhere safe. Empty: it compiles. unavailable
// means that nothing can be checked on this machine (SubmissionBounds::unchecked_shaders). Any
// error refuses the job. May take seconds: `asker` is who waits for it, so that one of them does
// not keep others waiting.
struct ShaderAsker {
  std::string client;   // Its key.
  std::string address;  // As net::address_group() counts it.
};
using ShaderChecker = std::function<Result<std::vector<ShaderComplaint>>(
    const manifest::Manifest& manifest, std::string_view shader, const ShaderAsker& asker)>;

// The client that signed a request, and with which nonce (http/signatures.h).
struct Signed {
  PublicKey client;
  store::SubmitNonce nonce{};
};

struct SubmissionBounds {
  std::uint64_t input_bytes_max = std::uint64_t{4} << 30;   // All data of one job.
  std::uint64_t output_bytes_max = std::uint64_t{1} << 30;  // Its joined outputs.
  // Size of the matrix B of a kernel, which is held in memory while products are checked.
  std::uint64_t operand_bytes_max = std::uint64_t{256} << 20;
  // The file of an onnx job, which is held in memory a few times while it is checked.
  std::uint64_t model_bytes_max = std::uint64_t{128} << 20;
  bool anyone = true;  // Whether it may ask for "trust": "anyone".
  // Takes what no device of this machine can check, so that workers compile it first
  // (--unchecked-shaders).
  bool unchecked_shaders = false;
  // Room for its results is set aside before it is taken. Off only in tests: uploads fill the store
  // then, and a job whose results are all accepted fails.
  bool room_set_aside = true;
  RoomShares room = {};
};

struct Complaint {
  Error error;
  std::optional<ShaderComplaint> shader =
      {};                 // Where a shader does not compile: the first message.
  bool is_later = false;  // Trying again helps: others wait to be checked (429).
};

// Fails if the wallet that submits cannot pay, or if there is no room for the job. Called before
// anything expensive is done with the submission.
using FundsCheck = std::function<Result<>(const manifest::Manifest&)>;

// The body has been signed by `who`. `funds` is asked before the shader is compiled and data are
// stored.
[[nodiscard]] std::expected<jobs::Submission, Complaint> read_submission(
    const Signed& who, std::string_view body, store::Blobs& blobs, const ShaderChecker& checker,
    const SubmissionBounds& bounds, const ShaderAsker& asker = {}, const FundsCheck& funds = {});

// Fills in Submission::known.
[[nodiscard]] Result<> look_up_nonce(jobs::Submission& submission, store::Store& store);

}  // namespace weft::coordinator
