#include "worker/serving_child/child_host.h"

#include <utility>

#include "engine/gguf/mapped_file.h"

namespace weft::worker {

void ChildHost::ask(ServingFrame kind, const std::function<void(Packer&)>& fill, Done done) {
  const std::uint64_t number = ++asks_;
  waiting_.emplace(number, std::move(done));
  Packer packer;
  packer.number(number);
  fill(packer);
  loop_.send(kind, packer.take());
}

bool ChildHost::take(const Frame& frame) {
  const auto kind = static_cast<ServingFrame>(frame.kind);
  if (kind == ServingFrame::reply) {
    auto reply = unpack_reply(frame.payload);
    if (!reply) return true;
    const auto asked = waiting_.extract(reply->ask);
    if (!asked.empty()) asked.mapped()(std::move(reply->result));
    return true;
  }
  if (kind < ServingFrame::socket_open || kind > ServingFrame::socket_closed) return false;
  Unpacker in(frame.payload);
  if (const auto connection = in.number(); !connection || *connection != connection_) return true;
  // The callbacks are copied, because an event may connect again or close.
  const SocketEvents events = events_;
  const auto said = in.bytes();
  if (kind == ServingFrame::socket_open) {
    if (events.open) events.open();
  } else if (!said) {
    return true;
  } else if (kind == ServingFrame::socket_text) {
    if (events.text) events.text(std::string(as_text(*said)));
  } else if (kind == ServingFrame::socket_binary) {
    if (events.binary) events.binary(ByteVector(said->begin(), said->end()));
  } else {
    events_ = {};
    if (events.closed) events.closed(std::string(as_text(*said)));
  }
  return true;
}

void ChildHost::connect(SocketEvents events) {
  events_ = std::move(events);
  loop_.send(ServingFrame::connect, Packer().number(++connection_).take());
}

void ChildHost::send_text(std::string text) {
  loop_.send(ServingFrame::send_text, Packer().text(text).take());
}

void ChildHost::send_binary(ByteVector bytes) {
  loop_.send(ServingFrame::send_binary, Packer().bytes(bytes).take());
}

void ChildHost::close() {
  events_ = {};
  ++connection_;
  loop_.send(ServingFrame::close_socket, {});
}

// The token is not used, because the parent has the session's token.
void ChildHost::fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string /*token*/,
                           Done done) {
  ask(
      ServingFrame::fetch_blob, [&](Packer& out) { out.bytes(hash.span()).number(bytes_max); },
      std::move(done));
}

void ChildHost::put_blob(const Hash& /*hash*/, ByteVector /*bytes*/, std::string /*token*/,
                         std::function<void(Result<>)> done) {
  loop_.next_turn([done = std::move(done)] {
    done(fail(ErrorCode::unsupported, "A process that serves models cannot store blobs."));
  });
}

void ChildHost::fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count,
                            std::string /*token*/, Done done) {
  ask(
      ServingFrame::fetch_range,
      [&](Packer& out) { out.bytes(blob.span()).number(first).number(count); }, std::move(done));
}

void ChildHost::read_chunk(const ModelFile& file, std::uint32_t chunk,
                           std::function<void(std::optional<ByteVector>)> done) {
  ask(
      ServingFrame::read_chunk,
      [&](Packer& out) {
        pack(out, file);
        out.number(chunk);
      },
      [done = std::move(done)](Result<ByteVector> bytes) {
        done(bytes ? std::optional(std::move(*bytes)) : std::nullopt);
      });
}

void ChildHost::write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                            std::function<void(Result<>)> done) {
  ask(
      ServingFrame::write_chunk,
      [&](Packer& out) {
        pack(out, file);
        out.number(chunk).bytes(bytes);
      },
      [done = std::move(done)](Result<ByteVector> written) {
        done(written ? Result<>() : std::unexpected(std::move(written).error()));
      });
}

Result<std::unique_ptr<gguf::Source>> ChildHost::open_file(const ModelFile& file) {
  const std::uint64_t number = ++asks_;
  Packer packer;
  packer.number(number);
  pack(packer, file);
  loop_.send(ServingFrame::open_file, packer.take());
  WEFT_ASSIGN(const Frame frame, loop_.wait_for([number](const Frame& one) {
    if (one.kind != kind_of(ServingFrame::reply)) return false;
    const auto reply = unpack_reply(one.payload);
    return reply && reply->ask == number;
  }));
  WEFT_ASSIGN(const Reply reply, unpack_reply(frame.payload));
  if (!reply.result) return std::unexpected(reply.result.error());
  const int opened = loop_.take_file();
  if (opened < 0) return fail(ErrorCode::internal, "The worker did not send the model's file.");
  WEFT_ASSIGN(auto mapped, gguf::MappedFile::of(opened, "the model's file"));
  return mapped;
}

}  // namespace weft::worker
