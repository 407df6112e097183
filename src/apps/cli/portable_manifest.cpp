#include "apps/cli/portable_manifest.h"

#include <variant>

#include "apps/cli/files.h"
#include "common/manifest/manifest.h"

namespace weft::cli {
namespace {

// Uploads a file that the manifest names as a blob.
Result<> upload(manifest::Data& data, const std::filesystem::path& folder, ApiClient& client,
                const crypto::KeyPair& wallet) {
  const auto* path = std::get_if<manifest::Path>(&data);
  if (path == nullptr) return {};
  WEFT_ASSIGN(const ByteVector bytes, read_file(folder / path->path));
  WEFT_ASSIGN(const Hash hash, client.requests().put_blob(bytes, wallet));
  data = manifest::Blob{hash};
  return {};
}

}  // namespace

Result<std::string> portable_manifest(const std::filesystem::path& file, ApiClient& client,
                                      const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const ByteVector text, read_file(file));
  Result<manifest::Manifest> parsed = manifest::parse(as_text(text));
  if (!parsed) return pass(std::move(parsed), "while reading {}", file.string());
  const std::filesystem::path folder = file.parent_path();
  if (const auto* path = std::get_if<manifest::Path>(&parsed->shader)) {
    WEFT_ASSIGN(const ByteVector shader, read_file(folder / path->path));
    parsed->shader = std::string(as_text(shader));
  }
  for (manifest::Binding& binding : parsed->bindings)
    WEFT_OK(upload(binding.data, folder, client, wallet));
  WEFT_OK(upload(parsed->kernel.a, folder, client, wallet));
  WEFT_OK(upload(parsed->kernel.b, folder, client, wallet));
  return manifest::to_json(*parsed);
}

}  // namespace weft::cli
