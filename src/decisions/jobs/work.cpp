#include "decisions/jobs/work.h"

#include "common/crypto/sha256.h"

namespace weft::jobs {
namespace {

void name_data(manifest::Data& data) {
  if (const auto* given = std::get_if<manifest::Inline>(&data))
    data = manifest::Blob{crypto::sha256(given->bytes)};
}

manifest::Manifest with_blobs(manifest::Manifest manifest) {
  for (manifest::Binding& binding : manifest.bindings) name_data(binding.data);
  name_data(manifest.kernel.a);
  name_data(manifest.kernel.b);
  return manifest;
}

}  // namespace

Hash work_of(const manifest::Manifest& manifest) {
  manifest::Manifest work = with_blobs(manifest);
  work.name.clear();
  work.budget = 0;
  work.priority = 0;
  work.deadline_s = 0;
  work.verify = {};
  work.split.tasks = 1;
  work.requirements = {};
  if (work.kind == manifest::Kind::kernel) {
    work.kernel.a = manifest::Blob{};
    work.kernel.b = manifest::Blob{};
  }
  return crypto::sha256(as_bytes(manifest::to_json(work)));
}

Hash stored_hash(const manifest::Manifest& manifest) {
  return crypto::sha256(as_bytes(manifest::to_json(with_blobs(manifest))));
}

}  // namespace weft::jobs
