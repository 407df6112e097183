#include "worker/serving_child/messages.h"

#include <algorithm>
#include <utility>

#include "worker/inference/weights.h"

namespace weft::worker {
namespace {

// Bounds the members of a chain; real chains have far fewer.
constexpr std::size_t others_max = 4096;

}  // namespace

Result<std::uint32_t> unpack_small(Unpacker& in) {
  WEFT_ASSIGN(const std::uint64_t value, in.number());
  if (value > 0xffff'ffffU)
    return fail(ErrorCode::data_loss,
                "The serving process sends {}, which does not fit into 32 bits.", value);
  return static_cast<std::uint32_t>(value);
}

Result<Hash> unpack_hash(Unpacker& in) {
  WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
  if (bytes.size() != Hash::size)
    return fail(ErrorCode::data_loss, "The serving process sends a hash of {} bytes.",
                bytes.size());
  Hash hash;
  std::ranges::copy(bytes, hash.bytes.begin());
  return hash;
}

ByteVector pack(const ServingSetup& setup) {
  Packer out;
  out.number(setup.memory_bytes).real(setup.gb_per_s).number(setup.line_patience_ms);
  out.number(setup.lines.size());
  for (const std::string& line : setup.lines) out.text(line);
  return out.take();
}

Result<ServingSetup> unpack_setup(ByteSpan payload) {
  Unpacker in(payload);
  ServingSetup setup;
  WEFT_ASSIGN(setup.memory_bytes, in.number());
  WEFT_ASSIGN(setup.gb_per_s, in.real());
  WEFT_ASSIGN(setup.line_patience_ms, in.number());
  WEFT_ASSIGN(const std::uint64_t lines, in.number());
  for (std::uint64_t i = 0; i < lines; ++i) {
    WEFT_ASSIGN(std::string line, in.text());
    setup.lines.push_back(std::move(line));
  }
  return setup;
}

ByteVector pack(const Reply& reply) {
  Packer out;
  out.number(reply.ask).number(reply.result ? 1 : 0);
  return reply.result ? out.bytes(*reply.result).take()
                      : out.bytes(pack_error(reply.result.error())).take();
}

Result<Reply> unpack_reply(ByteSpan payload) {
  Unpacker in(payload);
  Reply reply{.ask = 0, .result = ByteVector()};
  WEFT_ASSIGN(reply.ask, in.number());
  WEFT_ASSIGN(const std::uint64_t good, in.number());
  WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
  if (good != 0) {
    reply.result = ByteVector(bytes.begin(), bytes.end());
  } else {
    reply.result = std::unexpected(unpack_error(bytes));
  }
  return reply;
}

ByteVector pack(const LineEvent& event, ByteSpan bytes) {
  return Packer().number(event.chain).number(event.epoch).number(event.member).bytes(bytes).take();
}

Result<LineEvent> unpack_line_event(Unpacker& in) {
  LineEvent event;
  WEFT_ASSIGN(event.chain, unpack_small(in));
  WEFT_ASSIGN(event.epoch, unpack_small(in));
  WEFT_ASSIGN(event.member, unpack_small(in));
  return event;
}

ByteVector pack(const PeerLines::Chain& chain) {
  Packer out;
  out.number(chain.chain).number(chain.epoch).number(chain.index).number(chain.others.size());
  for (const PeerLines::Other& other : chain.others)
    out.number(other.member).text(other.line).text(other.token);
  return out.take();
}

Result<PeerLines::Chain> unpack_chain(ByteSpan payload) {
  Unpacker in(payload);
  PeerLines::Chain chain;
  WEFT_ASSIGN(chain.chain, unpack_small(in));
  WEFT_ASSIGN(chain.epoch, unpack_small(in));
  WEFT_ASSIGN(chain.index, unpack_small(in));
  WEFT_ASSIGN(const std::uint64_t others, in.number());
  if (others > others_max)
    return fail(ErrorCode::invalid_argument, "A chain of {} other members cannot be opened.",
                others);
  for (std::uint64_t i = 0; i < others; ++i) {
    PeerLines::Other other;
    WEFT_ASSIGN(other.member, unpack_small(in));
    WEFT_ASSIGN(other.line, in.text());
    WEFT_ASSIGN(other.token, in.text());
    chain.others.push_back(std::move(other));
  }
  return chain;
}

void pack(Packer& out, const ModelFile& file) {
  out.bytes(file.hash.span()).number(file.bytes).number(file.chunk_bytes);
}

Result<ModelFile> unpack_file(Unpacker& in) {
  ModelFile file;
  WEFT_ASSIGN(file.hash, unpack_hash(in));
  WEFT_ASSIGN(file.bytes, in.number());
  WEFT_ASSIGN(file.chunk_bytes, unpack_small(in));
  WEFT_OK(check_model_file(file));
  return file;
}

Result<std::uint32_t> unpack_chunk(Unpacker& in, const ModelFile& file) {
  WEFT_ASSIGN(const std::uint32_t chunk, unpack_small(in));
  if (chunk >= file.chunks())
    return fail(ErrorCode::invalid_argument,
                "The model has {} chunks, numbered from 0; it has no chunk {}.", file.chunks(),
                chunk);
  return chunk;
}

}  // namespace weft::worker
