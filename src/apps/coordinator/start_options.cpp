#include "apps/coordinator/start_options.h"

#include <algorithm>

#include "apps/coordinator/ice_servers.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "decisions/inference/placement.h"
#include "platform/net/address.h"
#include "platform/store/memory/memory_store.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator {

Result<std::unique_ptr<store::Store>> open_store(const Options& options) {
  if (options.store == "memory:") return store::memory::create();
  constexpr std::string_view sqlite = "sqlite:";
  if (options.store.starts_with(sqlite)) {
    const auto path = options.store.substr(sqlite.size());
    return store::sqlite::open(path.empty() ? options.data / "weft.db"
                                            : std::filesystem::path(path));
  }
  return fail(
      ErrorCode::invalid_argument,
      "--store {} is not a store that this build knows: it takes sqlite:, sqlite:PATH or memory:.",
      options.store);
}

Result<std::optional<net::TlsFiles>> tls_of(const Options& options) {
  if (options.tls_self_signed && !options.tls_cert.empty())
    return fail(ErrorCode::invalid_argument,
                "Give either --tls-self-signed or --tls-cert, not both.");
  if (options.tls_cert.empty() != options.tls_key.empty())
    return fail(ErrorCode::invalid_argument, "--tls-cert and --tls-key go together.");
  if (!options.tls_cert.empty())
    return net::TlsFiles{.certificate = options.tls_cert, .key = options.tls_key};
  if (options.tls_self_signed) {
    auto names = net::local_names();
    if (options.listen != "0.0.0.0" && options.listen != "::" &&
        !std::ranges::contains(names, options.listen))
      names.push_back(options.listen);
    WEFT_ASSIGN(auto files, net::self_signed(options.data / "tls", names, unix_now()));
    return files;
  }
  if (!options.insecure && !net::is_loopback(options.listen)) {
    return fail(ErrorCode::invalid_argument,
                "{} is reached by other machines, so the connection must be encrypted: add "
                "--tls-self-signed (or --tls-cert FILE --tls-key FILE), or --insecure for plain "
                "http://, over which browsers on other machines have no WebGPU and cannot work.",
                options.listen);
  }
  return std::nullopt;
}

Result<inference::DeskSettings> desk_settings(const Options& options, const jobs::Book& book) {
  inference::DeskSettings out{.activations = options.activations, .wire = options.wire};
  out.newcomers_answer = options.submission.anyone;
  WEFT_ASSIGN(out.strategy, inference::parse_strategy(options.partition));
  WEFT_ASSIGN(auto ice, IceServers::read(options.ice_servers));
  if (!ice.empty())
    out.ice = [ice = std::move(ice), &book,
               known_only = options.relays_for_known_only](const PublicKey& worker) {
      const bool may = !known_only || book.is_known(worker);
      return ice.issue(worker.text(), unix_now(),
                       may ? IceServers::For::known : IceServers::For::stranger);
    };
  constexpr std::size_t secret_bytes = 32;
  out.secret.resize(secret_bytes);
  crypto::random_bytes(out.secret);
  return out;
}

Result<trust::Secret> secret_of(const store::Loaded& loaded, store::Store& store) {
  constexpr std::string_view name = "trust-secret";
  trust::Secret secret;
  const auto stored = std::ranges::find(loaded.secrets, name, &store::Secret::name);
  if (stored != loaded.secrets.end()) {
    secret.bytes = stored->value.bytes;
    return secret;
  }
  crypto::random_bytes(secret.bytes);
  store::Batch batch;
  batch.secrets.push_back({.name = std::string(name), .value = {secret.bytes}});
  WEFT_OK(store.commit(batch));
  return secret;
}

std::string reachable_url(const std::string& listen, const std::string& server_url,
                          std::uint16_t port) {
  if (listen != "0.0.0.0" && listen != "::") return server_url;
  std::string host = "127.0.0.1";
  for (const auto& name : net::local_names()) {
    const bool is_v4 = name.find_first_not_of("0123456789.") == std::string::npos;
    if (is_v4 && !net::is_loopback(name)) host = name;
  }
  return weft::format("{}://{}:{}", server_url.starts_with("https") ? "https" : "http", host, port);
}

}  // namespace weft::coordinator
