// Fuzzes frames of bytes: frames of chains, openings of blocks, stored receipts, messages of a
// confined child to its parent, and states of tasks. A frame is refused, or has only one form. The
// first byte chooses the kind.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/proof/frame_block.h"
#include "common/proof/receipt.h"
#include "common/proof/task_state.h"
#include "engine/llm/chain/chain_frame.h"
#include "worker/sandbox/sandbox_wire.h"
#include "worker/serving_child/messages.h"

using namespace weft;

namespace {

void chain_frame(ByteSpan bytes) {
  const auto frame = llm::decode_chain_frame(bytes);
  if (!frame) return;
  const auto again = llm::decode_chain_frame(llm::encode(*frame));
  check(again && again->tokens == frame->tokens && again->values.size() == frame->values.size() &&
            again->kind == frame->kind && again->message == frame->message,
        "a frame that was read is written readably");
}

void opening(ByteSpan bytes) {
  const auto read = proof::decode_frame_opening(bytes);
  if (!read) return;
  check(as_text(proof::encode(*read)) == as_text(bytes), "an opening has one form");
  (void)proof::opens(*read, Hash{});
}

void receipt(ByteSpan bytes) {
  constexpr std::size_t statement_bytes = 206;
  const auto cut = std::min(bytes.size(), statement_bytes);
  const auto read = proof::read_receipt(bytes.first(cut), bytes.subspan(cut));
  if (!read) return;
  check(as_text(proof::receipt_statement(read->place, read->claims)) == as_text(bytes.first(cut)) &&
            as_text(proof::claims_text(read->claims)) == as_text(bytes.subspan(cut)),
        "a receipt has one form");
}

void state(ByteSpan bytes) {
  const auto read = proof::decode_state(bytes);
  if (!read) return;
  std::vector<ByteVector> outputs;
  for (const ByteSpan output : read->outputs) outputs.emplace_back(output.begin(), output.end());
  check(as_text(proof::encode_state(read->task, read->done, outputs)) == as_text(bytes),
        "a state has one form");
  check(proof::stated_task(bytes) == read->task.id, "its first bytes name its task");
}

void child(ByteSpan bytes) {
  (void)worker::unpack_error(bytes);
  if (const auto output = worker::unpack_output(bytes))
    check(worker::unpack_output(worker::pack_output(*output)).has_value(),
          "outputs that were read are written readably");
  if (const auto job = worker::unpack_job(bytes))
    check(worker::unpack_job(worker::pack_job(*job)).has_value(),
          "a job that was read is written readably");
  if (const auto setup = worker::unpack_setup(bytes))
    check(worker::unpack_setup(worker::pack(*setup)).has_value(), "so is a setup");
  if (const auto reply = worker::unpack_reply(bytes))
    check(worker::unpack_reply(worker::pack(*reply)).has_value(), "so is a reply");
  if (const auto chain = worker::unpack_chain(bytes))
    check(worker::unpack_chain(worker::pack(*chain)).has_value(), "so is a chain");
  worker::Unpacker event(bytes);
  (void)worker::unpack_line_event(event);
  worker::Unpacker hash(bytes);
  (void)worker::unpack_hash(hash);
  worker::Unpacker in(bytes);
  if (const auto file = worker::unpack_file(in)) {
    const auto chunk = worker::unpack_chunk(in, *file);
    check(!chunk || *chunk < file->chunks(), "a chunk is one of its file's");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan bytes(data + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      chain_frame(bytes);
      break;
    case 1:
      opening(bytes);
      break;
    case 2:
      receipt(bytes);
      break;
    case 4:
      state(bytes);
      break;
    default:
      child(bytes);
  }
  return 0;
}
