#include "apps/coordinator/ingest/submission.h"

#include <algorithm>
#include <numeric>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/sha256.h"
#include "decisions/jobs/work.h"

namespace weft::coordinator {

namespace {

struct DataPlace {
  manifest::Data* data;
  std::string name;
  std::uint64_t bytes;  // The size that the data must have.
};

std::vector<DataPlace> data_of(manifest::Manifest& manifest) {
  std::vector<DataPlace> places;
  for (std::size_t i = 0; i < manifest.bindings.size(); ++i) {
    auto& binding = manifest.bindings[i];
    places.push_back({&binding.data, weft::format("bindings[{}]", i), binding.bytes()});
  }
  if (manifest.kind == manifest::Kind::kernel) {
    auto& kernel = manifest.kernel;
    places.push_back({&kernel.a, "a", std::uint64_t{kernel.m} * kernel.k});
    places.push_back({&kernel.b, "b", std::uint64_t{kernel.k} * kernel.n});
  }
  return places;
}

// Stores inline data as blobs, and checks that named blobs exist and have the right size.
Result<> store_data(manifest::Manifest& manifest, store::Blobs& blobs,
                    const SubmissionBounds& bounds) {
  std::vector<ByteSpan> inlined;
  std::vector<manifest::Data*> owners;
  std::uint64_t total = 0;
  for (const auto& place : data_of(manifest)) {
    if (std::holds_alternative<std::monostate>(*place.data)) continue;
    total += place.bytes;
    if (const auto* path = std::get_if<manifest::Path>(place.data)) {
      return fail(ErrorCode::invalid_argument,
                  "{}.path: \"{}\" is a file of the client's machine; send its bytes as a blob "
                  "(`weft submit` does).",
                  place.name, path->path);
    }
    if (const auto* blob = std::get_if<manifest::Blob>(place.data)) {
      const auto size = blobs.size(blob->hash);
      if (!size)
        return fail(ErrorCode::invalid_argument,
                    "{}.blob: {} is not stored here; PUT /v1/blobs/{} first.", place.name,
                    blob->hash.text(), blob->hash.text());
      if (*size != place.bytes)
        return fail(ErrorCode::invalid_argument, "{}.blob: has {} bytes; the shape asks for {}.",
                    place.name, *size, place.bytes);
    }
    if (const auto* data = std::get_if<manifest::Inline>(place.data)) {
      inlined.emplace_back(data->bytes);
      owners.push_back(place.data);
    }
  }
  if (total > bounds.input_bytes_max) {
    return fail(ErrorCode::resource_exhausted,
                "The job's data have {} bytes; at most {} are taken (--job-input-bytes-max).",
                total, bounds.input_bytes_max);
  }
  WEFT_ASSIGN(const auto hashes, blobs.add_all(inlined));
  for (std::size_t i = 0; i < owners.size(); ++i) *owners[i] = manifest::Blob{hashes[i]};
  return {};
}

Result<std::string> shader_text(const manifest::Manifest& manifest, store::Blobs& blobs) {
  if (const auto* text = std::get_if<std::string>(&manifest.shader)) return *text;
  if (const auto* blob = std::get_if<manifest::Blob>(&manifest.shader)) {
    const auto size = blobs.size(blob->hash);
    if (!size)
      return fail(ErrorCode::invalid_argument, "shader.blob: {} is not stored here; PUT it first.",
                  blob->hash.text());
    if (*size > manifest::Limits{}.shader_bytes_max)
      return fail(ErrorCode::invalid_argument, "shader.blob: has {} bytes; at most {} are taken.",
                  *size, manifest::Limits{}.shader_bytes_max);
    WEFT_ASSIGN(const auto bytes, blobs.read(blob->hash));
    return std::string(as_text(bytes));
  }
  return fail(
      ErrorCode::invalid_argument,
      "shader.path: is a file of the client's machine; send its text (`weft submit` does).");
}

// The bytes of an onnx job's model.
Result<std::string> model_bytes(const manifest::Manifest& manifest, store::Blobs& blobs) {
  const manifest::Data& data = manifest.bindings.front().data;
  if (const auto* given = std::get_if<manifest::Inline>(&data))
    return std::string(as_text(given->bytes));
  const auto* blob = std::get_if<manifest::Blob>(&data);
  if (blob == nullptr)
    return fail(ErrorCode::invalid_argument,
                "model.path: is a file of the client's machine; send its bytes as a blob (`weft "
                "submit` does).");
  const auto size = blobs.size(blob->hash);
  if (!size)
    return fail(ErrorCode::invalid_argument,
                "model.blob: {} is not stored here; PUT /v1/blobs/{} first.", blob->hash.text(),
                blob->hash.text());
  if (*size != manifest.bindings.front().bytes())
    return fail(ErrorCode::invalid_argument, "model.blob: has {} bytes; \"bytes\" says {}.", *size,
                manifest.bindings.front().bytes());
  WEFT_ASSIGN(const auto bytes, blobs.read(blob->hash));
  return std::string(as_text(bytes));
}

}  // namespace

std::expected<jobs::Submission, Complaint> read_submission(
    const Signed& who, std::string_view body, store::Blobs& blobs, const ShaderChecker& checker,
    const SubmissionBounds& bounds, const ShaderAsker& asker, const FundsCheck& funds) {
  const auto refuse = [](Error error) {
    return std::unexpected(Complaint{.error = std::move(error)});
  };
  auto parsed = manifest::parse(body);
  if (!parsed) return refuse(parsed.error());
  if (parsed->verify.anyone && !bounds.anyone) {
    return refuse({ErrorCode::permission_denied,
                   "verify.trust: this coordinator takes no job whose results any workers decide "
                   "(\"anyone\"); its operator allows them with weft serve --allow-anyone."});
  }
  const auto outputs = parsed->output_bytes();
  const std::uint64_t output_bytes =
      std::accumulate(outputs.begin(), outputs.end(), std::uint64_t{0});
  if (output_bytes > bounds.output_bytes_max) {
    return refuse(
        {ErrorCode::resource_exhausted,
         weft::format(
             "The job's outputs have {} bytes; at most {} are taken (--job-output-bytes-max).",
             output_bytes, bounds.output_bytes_max)});
  }
  const std::uint64_t operand_bytes = std::uint64_t{parsed->kernel.k} * parsed->kernel.n;
  if (parsed->kind == manifest::Kind::kernel && operand_bytes > bounds.operand_bytes_max) {
    return refuse(
        {ErrorCode::resource_exhausted,
         weft::format("The matrix b has {} bytes; at most {} are taken: split the product "
                      "into several jobs.",
                      operand_bytes, bounds.operand_bytes_max)});
  }
  if (funds) {
    if (auto funded = funds(*parsed); !funded) return refuse(funded.error());
  }
  const bool is_model = parsed->kind == manifest::Kind::onnx;
  const std::uint64_t model_size = is_model ? parsed->bindings.front().bytes() : 0;
  if (model_size > bounds.model_bytes_max) {
    return refuse({ErrorCode::resource_exhausted,
                   weft::format("The model has {} bytes; at most {} are taken.", model_size,
                                bounds.model_bytes_max)});
  }
  auto shader = is_model ? model_bytes(*parsed, blobs) : shader_text(*parsed, blobs);
  if (!shader) return refuse(shader.error());
  if (parsed->kind != manifest::Kind::kernel && checker) {
    const auto complaints = checker(*parsed, *shader, asker);
    const bool without_device = !complaints && complaints.error().code == ErrorCode::unavailable;
    if (without_device && !bounds.unchecked_shaders) {
      return refuse({ErrorCode::unsupported,
                     weft::format("The coordinator's machine has no device to check {} with, so "
                                  "the job is refused: {} The operator can install a driver (a "
                                  "software one, such as lavapipe, is enough), or let workers "
                                  "compile unchecked shaders (weft serve --unchecked-shaders).",
                                  is_model ? "models" : "shaders", complaints.error().message)});
    }
    if (!complaints && !without_device)
      return std::unexpected(
          Complaint{.error = complaints.error(),
                    .is_later = complaints.error().code == ErrorCode::resource_exhausted});
    if (without_device) log_warning("A shader is taken unchecked: {}", complaints.error().message);
    if (complaints && !complaints->empty()) {
      const auto& first = complaints->front();
      if (first.line == 0 || is_model)
        return refuse(
            {ErrorCode::invalid_argument, (is_model ? "model: " : "shader: ") + first.message});
      return std::unexpected(Complaint{
          .error = {ErrorCode::invalid_argument,
                    weft::format("shader:{}:{}: {}", first.line, first.column, first.message)},
          .shader = first});
    }
  }
  if (auto stored = store_data(*parsed, blobs, bounds); !stored) return refuse(stored.error());
  jobs::Submission submission;
  submission.client = who.client;
  submission.nonce = who.nonce;
  submission.manifest_text = manifest::to_json(*parsed);
  auto hash = blobs.add(as_bytes(submission.manifest_text));
  if (!hash) return refuse(hash.error());
  submission.manifest_hash = *hash;
  submission.work = jobs::work_of(*parsed);
  submission.manifest = std::make_shared<const manifest::Manifest>(std::move(*parsed));
  submission.id = JobId{{crypto::ordered_id()}};
  return submission;
}

Result<> look_up_nonce(jobs::Submission& submission, store::Store& store) {
  WEFT_ASSIGN(const auto id, store.job_of_nonce(submission.client, submission.nonce));
  if (!id) return {};
  WEFT_ASSIGN(submission.known, store.job(*id));
  return {};
}

}  // namespace weft::coordinator
