// Options that the commands which talk to a coordinator share: its URL, how its certificate is
// checked, and the wallet that signs.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/network_models.h"
#include "platform/net/client.h"

namespace CLI {
class App;
}

namespace weft::cli {

// --coordinator (or WEFT_COORDINATOR), which must be given.
void add_coordinator(CLI::App& command, std::string& url);
// For commands that ask a network's models if they are told to: --network, --coordinator (which
// means --network, too), --api-key-file and add_tls().
void add_network(CLI::App& command, NetworkModelsOptions& options);
// In the command's callback: whether it is told to. Throws if the URL is missing.
[[nodiscard]] bool asks_network(NetworkModelsOptions& options);
// The first two of these options alone, with a sentence for --network; and what they come to.
void add_network_choice(CLI::App& command, bool& wanted, std::string& coordinator,
                        const std::string& what);
[[nodiscard]] bool chooses_network(bool wanted, std::string& coordinator);
// --ca-cert and --tls-insecure, and --coordinator-key.
void add_tls(CLI::App& command, net::TlsOptions& tls);
// The certificate option alone, by another name if --ca-cert is another server's.
void add_ca_cert(CLI::App& command, net::TlsOptions& tls, const std::string& name = "--ca-cert");

// What the commands of a wallet at a coordinator have in common; `Options` has these members.
void add_signer(CLI::App& command, std::filesystem::path& wallet, bool& json);
template <class Options>
void add_wallet_at_coordinator(CLI::App& command, Options& options) {
  add_coordinator(command, options.coordinator);
  add_tls(command, options.tls);
  add_signer(command, options.wallet, options.json);
}

}  // namespace weft::cli
