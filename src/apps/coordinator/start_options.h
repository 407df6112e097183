// Reads the start options and opens what they name before the coordinator runs: the store, the
// certificate, the settings for language models, the secret of the referee's draws.
//
// Threading: called before any other thread runs. Errors: one sentence each that names the option.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/coordinator/coordinator.h"
#include "common/base/result.h"
#include "decisions/inference/desk.h"
#include "decisions/jobs/book.h"
#include "decisions/trust/draw.h"
#include "platform/net/tls.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// Opens the store that the options name. Fails with invalid_argument for an unknown kind of store.
[[nodiscard]] Result<std::unique_ptr<store::Store>> open_store(const Options& options);

// The certificate files of the server. No value means plain HTTP, which other machines reach only
// if the operator allowed it (--insecure).
[[nodiscard]] Result<std::optional<net::TlsFiles>> tls_of(const Options& options);

// The settings for serving language models; `book` must outlive them. The secret for tokens of
// direct links is new in each process, because no token has to stay valid for longer than an epoch
// of a chain.
[[nodiscard]] Result<inference::DeskSettings> desk_settings(const Options& options,
                                                            const jobs::Book& book);

// Returns the secret of the referee's draws. The first start makes the secret and stores it durably
// before this function returns.
[[nodiscard]] Result<trust::Secret> secret_of(const store::Loaded& loaded, store::Store& store);

// The URL for other machines: `server_url`, or with an address of this machine as its host if the
// server listens on all addresses.
[[nodiscard]] std::string reachable_url(const std::string& listen, const std::string& server_url,
                                        std::uint16_t port);

}  // namespace weft::coordinator
