// Options of all commands that talk to a coordinator: its URL, the check of its certificate, and
// the wallet that signs.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/network_models.h"
#include "platform/net/client.h"

namespace CLI {
class App;
}

namespace weft::cli {

// Adds --coordinator (or WEFT_COORDINATOR), which is required.
void add_coordinator(CLI::App& command, std::string& url);
// Adds the options of commands that can use a network's models: --network, --coordinator (which
// implies --network), --api-key-file and those of add_tls().
void add_network(CLI::App& command, NetworkModelsOptions& options);
// Called in the command's callback: true if the command shall use the network. Throws if the URL is
// missing.
[[nodiscard]] bool asks_network(NetworkModelsOptions& options);
// Adds --network and --coordinator only; `what` is the help text of --network. chooses_network()
// returns true if either was given.
void add_network_choice(CLI::App& command, bool& wanted, std::string& coordinator,
                        const std::string& what);
[[nodiscard]] bool chooses_network(bool wanted, std::string& coordinator);
// Adds the options --ca-cert, --tls-insecure and --coordinator-key.
void add_tls(CLI::App& command, net::TlsOptions& tls);
// Adds the certificate option only, with another name if --ca-cert is for another server.
void add_ca_cert(CLI::App& command, net::TlsOptions& tls, const std::string& name = "--ca-cert");

// Adds the options of commands in which a wallet signs. `Options` must have the members
// coordinator, tls, wallet and json.
void add_signer(CLI::App& command, std::filesystem::path& wallet, bool& json);
template <class Options>
void add_wallet_at_coordinator(CLI::App& command, Options& options) {
  add_coordinator(command, options.coordinator);
  add_tls(command, options.tls);
  add_signer(command, options.wallet, options.json);
}

}  // namespace weft::cli
