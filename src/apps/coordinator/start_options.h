// What the coordinator opens before it runs, as its options say: the store, the certificate, how
// models are served, the secret of the referee's draws.
//
// Threading: before anything else runs. Errors: one sentence each that names the option.
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

// invalid_argument for an unknown kind of store.
[[nodiscard]] Result<std::unique_ptr<store::Store>> open_store(const Options& options);

// Nothing: plain HTTP, which other machines reach only if the operator said so (--insecure).
[[nodiscard]] Result<std::optional<net::TlsFiles>> tls_of(const Options& options);

// How language models are served; `book` outlives the settings. Tokens of direct connections live
// as long as a chain's epoch, and so may the secret as long as this process.
[[nodiscard]] Result<inference::DeskSettings> desk_settings(const Options& options,
                                                            const jobs::Book& book);

// The secret of the referee's draws: made at the first start, and durable when it returns.
[[nodiscard]] Result<trust::Secret> secret_of(const store::Loaded& loaded, store::Store& store);

// The address of a server at `server_url`, as other machines reach it if it listens on all
// addresses.
[[nodiscard]] std::string reachable_url(const std::string& listen, const std::string& server_url,
                                        std::uint16_t port);

}  // namespace weft::coordinator
