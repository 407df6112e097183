// Turns a client's request to run a job into a Submission for the core: checks that the manifest
// keeps every rule, that its data are stored blobs, and that its shader compiles.
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

// One error in a shader, with its position.
struct ShaderComplaint {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
};
// Compiles the shader of a manifest, or reads the model of an onnx job, in a confined place. It
// gets the shader's text or the model's bytes, whether inline or from a blob. An empty result means
// that the shader compiles. The error unavailable means that this machine can check nothing
// (SubmissionBounds::unchecked_shaders); other errors refuse the job. May take seconds: `asker`
// names the waiting client, so that one client cannot keep others waiting.
struct ShaderAsker {
  std::string client;   // The key of the client that submits.
  std::string address;  // The client's address group (net::address_group()).
};
using ShaderChecker = std::function<Result<std::vector<ShaderComplaint>>(
    const manifest::Manifest& manifest, std::string_view shader, const ShaderAsker& asker)>;

// The client that signed a request, and the request's nonce (http/signatures.h).
struct Signed {
  PublicKey client;
  store::SubmitNonce nonce{};
};

struct SubmissionBounds {
  std::uint64_t input_bytes_max = std::uint64_t{4} << 30;  // Maximum size of all data of one job.
  // Maximum size of the joined outputs of one job.
  std::uint64_t output_bytes_max = std::uint64_t{1} << 30;
  // Maximum size of the matrix B of a kernel, which is held in memory while products are checked.
  std::uint64_t operand_bytes_max = std::uint64_t{256} << 20;
  // Maximum size of the file of an onnx job, of which several copies are in memory while it is
  // checked.
  std::uint64_t model_bytes_max = std::uint64_t{128} << 20;
  bool anyone = true;  // A job may ask for "trust": "anyone".
  // Accepts shaders that no device of this machine can check; workers are then the first to compile
  // them (--unchecked-shaders).
  bool unchecked_shaders = false;
  // Reserves room for the results of a job before the job is accepted. False only in tests: uploads
  // can then fill the store, and a job whose results are all accepted fails.
  bool room_set_aside = true;
  RoomShares room = {};
};

struct Complaint {
  Error error;
  std::optional<ShaderComplaint> shader = {};  // First error if a shader does not compile.
  bool is_later = false;  // The client may try again: the queue for checks is full (429).
};

// Fails if the wallet that submits cannot pay, or if the store has no room for the job. Called
// before the expensive work on a submission.
using FundsCheck = std::function<Result<>(const manifest::Manifest&)>;

// Reads a submission. `who` signed the body. `funds` is called before the shader is compiled and
// data are stored.
[[nodiscard]] std::expected<jobs::Submission, Complaint> read_submission(
    const Signed& who, std::string_view body, store::Blobs& blobs, const ShaderChecker& checker,
    const SubmissionBounds& bounds, const ShaderAsker& asker = {}, const FundsCheck& funds = {});

// Sets Submission::known to the job that was submitted with this nonce before, if there is one.
[[nodiscard]] Result<> look_up_nonce(jobs::Submission& submission, store::Store& store);

}  // namespace weft::coordinator
