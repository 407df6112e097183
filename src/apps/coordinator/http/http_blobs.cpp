#include <charconv>
#include <optional>
#include <utility>

#include "apps/coordinator/http/access.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/protocol/part_claim.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

// One upload of a blob. The store checks its hash and length.
class BlobUpload final : public net::Upload {
 public:
  BlobUpload(store::Blobs::Writer writer, Hash hash, runtime::Pool& pool)
      : writer_(std::make_shared<store::Blobs::Writer>(std::move(writer))),
        hash_(hash),
        pool_(pool) {}

  Result<> write(std::string_view bytes) override { return writer_->write(as_bytes(bytes)); }
  void finish(net::Respond respond) override {
    // Makes the blob durable on a pool, because this waits for the disk.
    post_or_refuse(pool_, respond, [writer = writer_, hash = hash_, respond] {
      if (const auto stored = writer->finish(); !stored)
        return respond(net::problem(stored.error()));
      respond({.status = 201, .headers = {{"etag", weft::format("\"{}\"", hash.text())}}});
    });
  }
  void abandon() override { writer_.reset(); }

 private:
  std::shared_ptr<store::Blobs::Writer> writer_;
  const Hash hash_;
  runtime::Pool& pool_;
};

// An upload of a blob that is stored already: the body is read and dropped.
class KnownUpload final : public net::Upload {
 public:
  explicit KnownUpload(Hash hash) : hash_(hash) {}
  Result<> write(std::string_view) override { return {}; }
  void finish(net::Respond respond) override {
    respond({.status = 200, .headers = {{"etag", weft::format("\"{}\"", hash_.text())}}});
  }
  void abandon() override {}

 private:
  const Hash hash_;
};

// One part of a blob that is uploaded in parts, because it is too large for one request or because
// the sender may disconnect.
class PartUpload final : public net::Upload {
 public:
  // `wanted` is the signed hash of the part's bytes; empty for workers, which do not sign parts.
  PartUpload(store::BlobParts::Part part, std::uint64_t total, std::optional<Hash> wanted,
             runtime::Pool& pool)
      : part_(std::make_shared<std::optional<store::BlobParts::Part>>(std::move(part))),
        total_(total),
        wanted_(wanted),
        pool_(pool) {}

  Result<> write(std::string_view bytes) override {
    if (wanted_) hash_.update(as_bytes(bytes));
    return (*part_)->write(as_bytes(bytes));
  }
  void finish(net::Respond respond) override {
    if (wanted_ && hash_.finish() != *wanted_) {
      (*part_)->take_back();
      part_->reset();
      return respond(net::problem({ErrorCode::invalid_argument,
                                   "The bytes of the part do not have the hash that was signed "
                                   "(Weft-Part); the part is discarded."}));
    }
    // The last part computes the hash of the whole blob and makes it durable, on a pool.
    post_or_refuse(pool_, respond, [part = part_, total = total_, respond] {
      const auto there = (*part)->finish();
      part->reset();  // Released before the reply, because the next part may follow at once.
      if (!there) return respond(net::problem(there.error()));
      respond(
          net::json_reply(*there == total ? 201 : 202, weft::format(R"({{"bytes":{}}})", *there)));
    });
  }
  void abandon() override { part_.reset(); }

 private:
  std::shared_ptr<std::optional<store::BlobParts::Part>> part_;
  const std::uint64_t total_;
  const std::optional<Hash> wanted_;
  crypto::Sha256 hash_;
  runtime::Pool& pool_;
};

// A header such as "bytes 0-99/200".
struct PartRange {
  std::uint64_t first = 0, last = 0, total = 0;

  static Result<PartRange> parse(std::string_view text) {
    PartRange out;
    std::string_view rest = text;
    const auto word = [&](std::string_view expected) {
      const bool fits = rest.starts_with(expected);
      if (fits) rest.remove_prefix(expected.size());
      return fits;
    };
    const auto number = [&](std::uint64_t& value) {
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      return error == std::errc();
    };
    if (!word("bytes ") || !number(out.first) || !word("-") || !number(out.last) || !word("/") ||
        !number(out.total) || !rest.empty() || out.last < out.first || out.last >= out.total)
      return fail(ErrorCode::invalid_argument,
                  "content-range: '{}' is not a range like 'bytes 0-99/200'.", text);
    return out;
  }
};

Result<std::unique_ptr<net::Upload>> begin_part(const HttpParts& parts,
                                                const net::IncomingRequest& request,
                                                const Hash& hash, const PublicKey& who) {
  WEFT_ASSIGN(const PartRange range, PartRange::parse(request.header("content-range")));
  std::optional<Hash> wanted;
  if (request.bearer().empty() && parts.signs_parts) {
    WEFT_ASSIGN(wanted, Hash::parse(request.header("weft-part")));
  }
  if (range.total > parts.blob_bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The blob has {} bytes; the coordinator takes at most {} (--blob-bytes-max).",
                range.total, parts.blob_bytes_max);
  }
  WEFT_ASSIGN(auto part, parts.blob_parts.begin(hash, who.text(), range.first, range.total));
  return std::make_unique<PartUpload>(std::move(part), range.total, wanted, parts.readers);
}

void get_upload(const HttpParts& parts, const net::IncomingRequest& request,
                const net::Respond& respond) {
  const auto hash = Hash::parse(request.parameters.at(0));
  if (!hash) return respond(net::problem(hash.error()));
  const auto who = PublicKey::parse(request.parameters.at(1));
  if (!who) return respond(net::problem(who.error()));
  const auto by = parts.signatures.signer(request);
  if (!by) return respond(parts.signatures.refusal(by.error()));
  if (by->client != *who)
    return respond(net::problem(
        {ErrorCode::permission_denied,
         "Only the client that uploads the blob may see how many bytes have arrived."}));
  respond(net::json_reply(
      200, weft::format(R"({{"bytes":{}}})", parts.blob_parts.have(*hash, who->text()))));
}

// The hash that is signed instead of the body: the blob's hash, or for a part a digest of the blob,
// the part's place and its bytes. The bytes are checked when they have arrived.
Result<Hash> signed_body(const HttpParts& parts, const net::IncomingRequest& request,
                         const Hash& blob) {
  const auto text = request.header("content-range");
  if (text.empty() || !parts.signs_parts) return blob;
  WEFT_ASSIGN(const PartRange range, PartRange::parse(text));
  const auto part = Hash::parse(request.header("weft-part"));
  if (!part)
    return fail(
        ErrorCode::unauthenticated,
        "The header Weft-Part of a part of an upload is not the SHA-256 of the part's bytes: {}",
        part.error().message);
  return protocol::part_digest(
      {.blob = blob, .first = range.first, .total = range.total, .part = *part});
}

// The uploader of a blob, if it may upload: a connected worker by its session's token, or a client
// by its signature if it holds credits.
Result<PublicKey> may_upload(const HttpParts& parts, const net::IncomingRequest& request,
                             const Hash& hash) {
  if (const auto token = request.bearer(); !token.empty()) {
    if (const auto worker = parts.book.worker_of(token)) {
      if (parts.book.is_known(*worker)) request.recognise();
      return *worker;
    }
    return fail(ErrorCode::unauthenticated, "The token belongs to no connected worker.");
  }
  WEFT_ASSIGN(const Hash body, signed_body(parts, request, hash));
  // A repeated upload is harmless, so the nonce is not checked for repetition.
  WEFT_ASSIGN(const Signed who, parts.signatures.signer_of_blob(request, body));
  if (parts.grants_to_strangers || parts.book.is_funded(who.client)) return who.client;
  return fail(ErrorCode::insufficient_funds, "The client {} holds no credits at this coordinator.",
              who.client.text());
}

// Checks the upload's size against the bounds of its sender and returns the room that the blob
// uses. A worker may store what its leases allow, an owner of credits its quota; the operator is
// bounded only by the room for all blobs.
Result<std::optional<store::Room::For>> within_bounds(const HttpParts& parts,
                                                      const net::IncomingRequest& request,
                                                      const PublicKey& who) {
  const std::uint64_t length =
      std::strtoull(std::string(request.header("content-length")).c_str(), nullptr, 10);
  if (request.bearer().empty()) {
    if (who.text() == parts.info.coordinator) return std::nullopt;
    WEFT_OK(parts.uploads.take(parts.book.owner_of(who), length, now()));
    return std::nullopt;
  }
  if (!request.header("content-range").empty())
    return fail(ErrorCode::invalid_argument, "A worker must upload a blob whole, not in parts.");
  if (const auto upload = parts.book.worker_blobs().take_upload(who, length))
    return room_of_worker(parts.book, who, net::address_prefix(request.address), *upload);
  return fail(ErrorCode::permission_denied,
              "The upload has {} bytes, more than the worker's leases allow.", length);
}

Result<std::unique_ptr<net::Upload>> begin_upload(const HttpParts& parts,
                                                  const net::IncomingRequest& request) {
  WEFT_ASSIGN(const auto hash, Hash::parse(request.parameters.at(0)));
  WEFT_ASSIGN(const PublicKey who, may_upload(parts, request, hash));
  if (parts.blobs.has(hash)) return std::make_unique<KnownUpload>(hash);
  WEFT_ASSIGN(const auto room, within_bounds(parts, request, who));
  if (!request.header("content-range").empty()) return begin_part(parts, request, hash, who);
  const std::uint64_t length =
      std::strtoull(std::string(request.header("content-length")).c_str(), nullptr, 10);
  if (length > parts.blob_bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The blob has {} bytes; the coordinator takes at most {} (--blob-bytes-max).",
                length, parts.blob_bytes_max);
  }
  WEFT_ASSIGN(auto writer, parts.blobs.begin(hash, parts.blob_bytes_max, room));
  return std::make_unique<BlobUpload>(std::move(writer), hash, parts.readers);
}

// Checks that the sender may read a blob. The operator may read all blobs, a connected worker those
// of its leases and orders. Owners read their jobs' blobs at the routes of the jobs.
Result<> may_download(const HttpParts& parts, const net::IncomingRequest& request,
                      const Hash& blob) {
  if (const auto token = request.bearer(); !token.empty()) {
    const auto worker = parts.book.worker_of(token);
    if (!worker)
      return fail(ErrorCode::unauthenticated, "The token belongs to no connected worker.");
    if (!parts.reads_by_lease || parts.book.worker_blobs().may_read(*worker, blob)) return {};
    return fail(ErrorCode::permission_denied,
                "The worker may not read the blob {}: neither its leases of running jobs nor the "
                "models that it serves need the blob.",
                blob.text());
  }
  WEFT_ASSIGN(const Viewer viewer, viewer_of(parts, request));
  if (viewer.is_operator) return {};
  return fail(viewer.key ? ErrorCode::permission_denied : ErrorCode::unauthenticated,
              "Blobs are read by connected workers, with their token, and by the operator; a job's "
              "owner finds them at /v1/jobs/ID/outputs/I and /v1/jobs/ID/blobs/HASH.");
}

void get_blob(const HttpParts& parts, const net::IncomingRequest& request,
              const net::Respond& respond) {
  const auto hash = Hash::parse(request.parameters.at(0));
  if (!hash) return respond(net::problem(hash.error()));
  if (const auto may = may_download(parts, request, *hash); !may)
    return respond(parts.signatures.refusal(may.error()));
  respond(blob_reply(parts.blobs, request, *hash));
}

}  // namespace

net::Reply blob_reply(store::Blobs& blobs, const net::IncomingRequest& request, const Hash& hash) {
  const auto file = blobs.location(hash);
  if (!file) return net::problem(file.error());
  auto reply =
      net::file_reply(request, {.path = file->path, .offset = file->offset, .size = file->size},
                      hash.text(), "application/octet-stream");
  // Only the client itself may cache the blob, because a shared cache would show it to others.
  reply.headers["cache-control"] = "private, max-age=31536000, immutable";
  return reply;
}

net::Reply blob_of_job(store::Blobs& blobs, const net::IncomingRequest& request,
                       const store::Job& job, const Hash& hash) {
  if (!blobs.has(hash) && is_terminal(job.state)) {
    return net::problem({ErrorCode::not_found,
                         weft::format("The data of job {} were removed: they are kept for some "
                                      "days after a job's end (weft serve --job-data-days).",
                                      job.id.text())});
  }
  return blob_reply(blobs, request, hash);
}

void add_blob_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/blobs/{}",
       .handle = [parts](const net::IncomingRequest& request,
                         const net::Respond& respond) { get_blob(parts, request, respond); },
       .cost = 0.1});
  // The number of bytes of a blob in parts that have arrived.
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/blobs/{}/upload/{}",
       .handle = [parts](const net::IncomingRequest& request,
                         const net::Respond& respond) { get_upload(parts, request, respond); },
       .cost = 0.1});
  parts.server.upload(
      {.pattern = "/v1/blobs/{}",
       .begin =
           [parts](const net::IncomingRequest& request) { return begin_upload(parts, request); },
       .cost = 0.1});
}

}  // namespace weft::coordinator
