#include "worker/inference/weights.h"

#include <algorithm>
#include <utility>

#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr std::size_t fetches_max = 4;  // The most simultaneous fetches.
constexpr int tries_max = 3;
constexpr int tries_max_unavailable = 5;  // Tries while the coordinator is away or refuses for now.
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;

Async<> rest(ServingHost& host, Duration time) {
  const Pending<bool> over;
  host.after(time, [over] { over.set(true); });
  (void)co_await over;
}

bool is_last(int attempt, const Result<ByteVector>& fetched) {
  const bool unavailable = !fetched && fetched.error().code == ErrorCode::unavailable;
  return attempt >= (unavailable ? tries_max_unavailable : tries_max);
}

Async<> rest_after(ServingHost& host, int attempt) {
  co_await rest(host, std::chrono::milliseconds(100) * attempt);
}

}  // namespace

Result<> check_model_file(const ModelFile& file) {
  if (file.bytes > 0 && file.bytes <= bytes_max && file.chunk_bytes >= (1u << 16) &&
      file.chunk_bytes <= (1u << 24))
    return {};
  return fail(ErrorCode::invalid_argument,
              "A model of {} bytes in chunks of {} bytes cannot be served.", file.bytes,
              file.chunk_bytes);
}

Async<Result<std::shared_ptr<Weights>>> Weights::open(ServingHost& host, ModelFile file,
                                                      Hash digests, std::string token) {
  WEFT_CO_OK(check_model_file(file));
  std::shared_ptr<Weights> out(new Weights(host, file, std::move(token)));
  const std::size_t size = std::size_t{file.chunks()} * Hash::size;
  Result<ByteVector> fetched =
      fail(ErrorCode::internal, "The list of the model's chunks could not be fetched.");
  for (int attempt = 1;; ++attempt) {
    const Pending<Result<ByteVector>> come;
    host.fetch_blob(digests, size, out->token_,
                    [come](Result<ByteVector> bytes) { come.set(std::move(bytes)); });
    fetched = co_await come;
    if (fetched || is_last(attempt, fetched)) break;
    co_await rest_after(host, attempt);
  }
  WEFT_CO_ASSIGN(const ByteVector bytes, std::move(fetched));
  if (bytes.size() != size || crypto::sha256(bytes) != digests)
    co_return fail(ErrorCode::data_loss,
                   "The list of the model's chunks does not have the expected hash.");
  out->digests_.resize(file.chunks());
  for (std::size_t i = 0; i < out->digests_.size(); ++i)
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * Hash::size), Hash::size,
                out->digests_[i].bytes.begin());
  co_return out;
}

Async<Result<>> Weights::want(std::vector<FileRange> ranges) {
  const auto round = std::make_shared<Round>();
  std::vector<bool> wanted(have_.size());
  for (const FileRange& range : ranges) {
    if (range.bytes == 0) continue;
    if (range.first >= file_.bytes || range.bytes > file_.bytes - range.first)
      co_return fail(ErrorCode::invalid_argument,
                     "{} bytes at {} lie past the end of a model of {}.", range.bytes, range.first,
                     file_.bytes);
    for (auto chunk = range.first / file_.chunk_bytes;
         chunk <= (range.first + range.bytes - 1) / file_.chunk_bytes; ++chunk)
      wanted[chunk] = true;
  }
  for (std::uint32_t chunk = 0; chunk < wanted.size(); ++chunk) {
    if (wanted[chunk] && !have_[chunk]) round->chunks.push_back(chunk);
  }
  if (round->chunks.empty()) co_return Result<>();
  round->under_way = std::min(fetches_max, round->chunks.size());
  for (std::size_t left = round->under_way; left > 0; --left)
    start(work(shared_from_this(), round));
  (void)co_await round->done;
  co_return round->result;
}

Async<> Weights::work(std::shared_ptr<Weights> self, std::shared_ptr<Round> round) {
  while (round->result && !round->chunks.empty()) {
    const std::uint32_t chunk = round->chunks.front();
    round->chunks.pop_front();
    Result<> brought = co_await self->bring(chunk);
    if (!brought && round->result) round->result = std::move(brought);
  }
  if (--round->under_way == 0) round->done.set(true);
}

bool Weights::fits(std::uint32_t chunk, ByteSpan bytes) const {
  return bytes.size() == file_.chunk_size(chunk) && crypto::sha256(bytes) == digests_[chunk];
}

Async<Result<>> Weights::bring(std::uint32_t chunk) {
  const Pending<std::optional<ByteVector>> kept;
  host_.read_chunk(file_, chunk,
                   [kept](std::optional<ByteVector> bytes) { kept.set(std::move(bytes)); });
  if (const auto bytes = co_await kept; bytes && fits(chunk, *bytes)) {
    have_[chunk] = true;
    co_return Result<>();
  }
  WEFT_CO_ASSIGN(ByteVector bytes, co_await fetch(chunk));
  const Pending<Result<>> written;
  host_.write_chunk(file_, chunk, std::move(bytes),
                    [written](Result<> result) { written.set(std::move(result)); });
  WEFT_CO_OK(co_await written);
  have_[chunk] = true;
  co_return Result<>();
}

Async<Result<ByteVector>> Weights::fetch(std::uint32_t chunk) {
  for (int attempt = 1;; ++attempt) {
    const Pending<Result<ByteVector>> come;
    host_.fetch_range(file_.hash, file_.chunk_begin(chunk), file_.chunk_size(chunk), token_,
                      [come](Result<ByteVector> bytes) { come.set(std::move(bytes)); });
    Result<ByteVector> bytes = co_await come;
    if (bytes && fits(chunk, *bytes)) {
      fetched_bytes_ += bytes->size();
      co_return bytes;
    }
    if (is_last(attempt, bytes)) {
      if (!bytes) co_return bytes;
      co_return fail(ErrorCode::data_loss, "Chunk {} of the model does not have the expected hash.",
                     chunk);
    }
    co_await rest_after(host_, attempt);
  }
}

}  // namespace weft::worker
