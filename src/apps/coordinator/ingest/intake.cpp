#include "apps/coordinator/ingest/intake.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "apps/coordinator/ingest/checkpoint_blobs.h"
#include "apps/coordinator/ingest/compare_results.h"
#include "apps/coordinator/ingest/output_types.h"
#include "common/base/counted.h"
#include "common/base/log.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/manifest/split.h"
#include "common/manifest/step_groups.h"
#include "common/proof/compare.h"
#include "common/proof/freivalds.h"
#include "common/proof/merkle.h"

namespace weft::coordinator {

namespace {

std::vector<std::int32_t> as_integers(ByteSpan bytes) {
  std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::int32_t));
  return values;
}

std::span<const std::int8_t> as_signed(ByteSpan bytes) {
  return {reinterpret_cast<const std::int8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<> Intake::take(const manifest::Manifest& manifest, const protocol::ResultFrame& frame,
                      std::optional<manifest::Range> leased,
                      const std::optional<store::Room::For>& room) {
  const auto& result = frame.result;
  const auto index = result.task.index;
  if (index >= manifest.split.tasks)
    return fail(ErrorCode::data_loss, "The job has {} tasks, numbered from 0; it has no task {}.",
                manifest.split.tasks, index);
  const std::size_t outputs = manifest.output_bytes().size();
  if (result.outputs.size() != outputs)
    return fail(ErrorCode::data_loss, "The job has {}; the result has {}.",
                counted(outputs, "output"), result.outputs.size());

  // A result without roots of steps is checked whole. A result with roots must have one for each
  // group but the last, because otherwise the group to which a root belongs is not known.
  const std::uint32_t groups = manifest::step_groups(manifest);
  if (!result.step_roots.empty() && result.step_roots.size() + 1 != groups)
    return fail(ErrorCode::data_loss,
                "The result has {} after groups of steps, and a task of this job has {}: a result "
                "must give the root after each group except the last one, or no roots.",
                counted(result.step_roots.size(), "root"), counted(groups, "group"));

  const auto range = leased.value_or(manifest::task_range(manifest, index));
  std::vector<Hash> roots;
  std::vector<ByteVector> fetched(outputs);
  std::vector<ByteSpan> contents(outputs);
  std::vector<ByteSpan> to_store;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < outputs; ++i) {
    const auto& part = result.outputs[i];
    const auto wanted = manifest::output_extent(manifest, i, range).size;
    if (part.bytes != wanted)
      return fail(ErrorCode::data_loss, "Output {} has {} bytes; the manifest says {}.", i,
                  part.bytes, wanted);
    if (part.in_frame) {
      // decode_frame() has checked that the payload is exactly as long as its parts.
      contents[i] = ByteSpan(frame.payload).subspan(offset, part.bytes);
      offset += part.bytes;
      if (crypto::sha256(contents[i]) != part.hash)
        return fail(ErrorCode::data_loss,
                    "The bytes of output {} do not have the hash that the result names.", i);
      to_store.push_back(contents[i]);
    } else {
      auto read = blobs_.read(part.hash);
      if (!read)
        return fail(ErrorCode::data_loss, "Output {} is not stored under its hash: {}", i,
                    read.error().message);
      if (read->size() != part.bytes)
        return fail(ErrorCode::data_loss, "The blob of output {} has {} bytes, not {}.", i,
                    read->size(), part.bytes);
      fetched[i] = std::move(*read);
      contents[i] = fetched[i];
    }
    roots.push_back(proof::output_root(contents[i]));
  }
  if (proof::root_of_roots(roots) != result.root)
    return fail(ErrorCode::data_loss,
                "The root that the result names is not the root of its outputs.");
  if (manifest.kind == manifest::Kind::kernel)
    WEFT_OK(check_product(manifest.kernel, range, contents.front()));
  if (auto stored = blobs_.add_all(to_store, room); !stored)
    return pass(std::move(stored), "while storing a result");
  return {};
}

Result<> Intake::check_product(const manifest::Kernel& kernel, manifest::Range rows,
                               ByteSpan product) {
  const auto* a = std::get_if<manifest::Blob>(&kernel.a);
  const auto* b = std::get_if<manifest::Blob>(&kernel.b);
  if (kernel.name != "matmul_i8" || a == nullptr || b == nullptr) return {};
  WEFT_ASSIGN(const auto left, blobs_.read(a->hash, std::uint64_t{rows.first} * kernel.k,
                                           std::uint64_t{rows.count} * kernel.k));
  WEFT_ASSIGN(const auto right, operand(b->hash));
  const auto integers = as_integers(product);
  std::array<std::uint8_t, 8> random{};
  crypto::random_bytes(random);
  std::uint64_t seed = 0;
  std::memcpy(&seed, random.data(), sizeof seed);
  const bool right_product = proof::freivalds_accepts({.m = rows.count,
                                                       .n = kernel.n,
                                                       .k = kernel.k,
                                                       .a = as_signed(left),
                                                       .b = as_signed(*right),
                                                       .c = integers},
                                                      seed);
  if (!right_product)
    return fail(ErrorCode::data_loss, "The output is not the product of the job's two matrices.");
  return {};
}

trust::AuditOutcome Intake::inspect(const jobs::AuditOrder& order) {
  if (const auto open = order.opened ? check_opening(order) : Result<>(); !open) {
    log_warning("The audit of {} fails: {}", order.task.text(), open.error().message);
    return trust::AuditOutcome::failed;
  }
  const auto same = compare_range(order);
  if (!same) {
    log_warning("The audit of {} fails: {}", order.task.text(), same.error().message);
    return trust::AuditOutcome::failed;
  }
  return *same ? trust::AuditOutcome::agrees : trust::AuditOutcome::differs;
}

// Checks that each requested chunk, with its stored bytes, is part of the root that the suspect
// signed.
Result<> Intake::check_opening(const jobs::AuditOrder& order) {
  const auto& opening = order.opening;
  if (opening.roots.size() != order.suspected.size() ||
      proof::root_of_roots(opening.roots) != order.root) {
    return fail(
        ErrorCode::data_loss,
        "The outputs' roots that the worker opens do not belong to the root that it signed.");
  }
  if (opening.paths.size() != order.chunks.size()) {
    return fail(ErrorCode::data_loss, "The worker was asked to open {} chunks; it opens {}.",
                order.chunks.size(), opening.paths.size());
  }
  for (std::size_t i = 0; i < order.chunks.size(); ++i) {
    const auto& [output, chunk] = order.chunks[i];
    const auto& path = opening.paths[i];
    if (path.output != output || path.chunk != chunk)
      return fail(ErrorCode::data_loss,
                  "The worker opens a chunk other than the one that was asked for.");
    const auto& blob = order.suspected[output];
    const std::uint64_t offset = chunk * proof::chunk_bytes;
    WEFT_ASSIGN(const auto bytes,
                blobs_.read(blob.hash, offset,
                            std::min<std::uint64_t>(proof::chunk_bytes, blob.bytes - offset)));
    if (!proof::verify_inclusion(
            opening.roots[output], bytes,
            {.index = chunk, .chunks = path.chunks, .siblings = path.siblings})) {
      return fail(ErrorCode::data_loss,
                  "Chunk {} of output {} does not belong to the root that the worker signed.",
                  chunk, output);
    }
  }
  return {};
}

bool Intake::holds_state(const TaskId& task, const Hash& blob, std::uint64_t bytes) const {
  const auto size = blobs_.size(blob);
  return size && *size == bytes && checkpointed_task(blobs_, blob) == task;
}

jobs::Comparison Intake::compare(const jobs::CompareOrder& order) const {
  jobs::Comparison comparison{.task = order.task,
                              .worker = order.worker,
                              .attempt = order.attempt,
                              .root = order.mine.root,
                              .agreements = {}};
  for (const auto& other : order.others) {
    comparison.agreements.emplace_back(
        other.root, !difference(blobs_, *order.manifest, order.mine.outputs, other.outputs));
  }
  return comparison;
}

Result<bool> Intake::compare_range(const jobs::AuditOrder& order) {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  const auto types = output_types(*order.manifest);
  const auto& compare = order.manifest->verify.compare;
  for (std::size_t output = 0; output < order.suspected.size(); ++output) {
    const auto of_task = manifest::output_extent(*order.manifest, output, whole);
    const auto wanted = manifest::output_extent(*order.manifest, output, order.range);
    WEFT_ASSIGN(const auto suspected, blobs_.read(order.suspected[output].hash,
                                                  wanted.offset - of_task.offset, wanted.size));
    WEFT_ASSIGN(const auto audited, blobs_.read(order.audited.at(output).hash));
    const auto differs =
        compare.exact
            ? proof::difference_exact(suspected, audited)
            : proof::difference(suspected, audited, types[output],
                                {.absolute = compare.absolute, .relative = compare.relative});
    if (differs) return false;
  }
  return true;
}

namespace {

template <class Operands>
std::uint64_t bytes_of(const Operands& operands) {
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : operands) sum += bytes->size();
  return sum;
}

}  // namespace

Result<Intake::Bytes> Intake::operand(const Hash& hash) {
  Bytes known = operands_.with([&](const auto& operands) -> Bytes {
    for (const auto& [name, bytes] : operands) {
      if (name == hash) return bytes;
    }
    return nullptr;
  });
  if (known) return known;
  WEFT_ASSIGN(auto read, blobs_.read(hash));
  auto bytes = std::make_shared<const ByteVector>(std::move(read));
  operands_.with([&](auto& operands) {
    if (bytes->size() > options_.operand_bytes_max) return;
    operands.emplace_back(hash, bytes);
    while (operands.size() > operands_max || bytes_of(operands) > options_.operand_bytes_max)
      operands.pop_front();
  });
  return bytes;
}

void Intake::forget(const manifest::Manifest& manifest) {
  operands_.with([&](auto& operands) {
    std::erase_if(operands, [&](const auto& kept) {
      const auto* blob = std::get_if<manifest::Blob>(&manifest.kernel.b);
      return manifest.kind == manifest::Kind::kernel && blob != nullptr && kept.first == blob->hash;
    });
  });
}

std::uint64_t Intake::operand_bytes() const {
  return operands_.with([](const auto& operands) { return bytes_of(operands); });
}

Result<std::vector<store::OutputBlob>> Intake::join(
    const JobId& job, const manifest::Manifest& manifest,
    const std::vector<std::vector<store::OutputBlob>>& parts) {
  std::vector<std::vector<ByteVector>> bytes;
  bytes.reserve(parts.size());
  for (const auto& task : parts) {
    auto& outputs = bytes.emplace_back();
    for (const auto& output : task) {
      auto read = blobs_.read(output.hash);
      if (!read) return pass(std::move(read), "while joining the outputs");
      outputs.push_back(std::move(*read));
    }
  }
  const auto joined = manifest::join(manifest, bytes);
  bytes.clear();
  std::vector<ByteSpan> spans(joined.begin(), joined.end());
  WEFT_ASSIGN(const auto hashes,
              blobs_.add_all(spans, store::Room::For{.job = job, .part = store::Room::Part::join}));
  std::vector<store::OutputBlob> outputs;
  for (std::size_t i = 0; i < joined.size(); ++i)
    outputs.push_back({.hash = hashes[i], .bytes = joined[i].size()});
  return outputs;
}

}  // namespace weft::coordinator
