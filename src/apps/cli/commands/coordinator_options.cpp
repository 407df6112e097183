#include "apps/cli/commands/coordinator_options.h"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "apps/cli/known_coordinators.h"

namespace weft::cli {

void add_coordinator(CLI::App& command, std::string& url) {
  command.add_option("--coordinator", url, "URL of the coordinator")
      ->required()
      ->envname("WEFT_COORDINATOR");
}

void add_network(CLI::App& command, NetworkModelsOptions& options) {
  add_network_choice(command, options.wanted, options.coordinator,
                     "Use the models of a network instead of a file");
  command
      .add_option("--api-key-file", options.key_file,
                  "File with the API key that pays for the requests (default: WEFT_API_KEY)")
      ->type_name("FILE");
  add_tls(command, options.tls);
}

bool asks_network(NetworkModelsOptions& options) {
  return chooses_network(options.wanted, options.coordinator);
}

void add_network_choice(CLI::App& command, bool& wanted, std::string& coordinator,
                        const std::string& what) {
  command.add_flag("--network", wanted, what);
  command.add_option("--coordinator", coordinator,
                     "URL of the network's coordinator; implies --network (default with --network: "
                     "WEFT_COORDINATOR)");
}

bool chooses_network(bool wanted, std::string& coordinator) {
  if (!coordinator.empty()) return true;
  if (!wanted) return false;
  if (const char* const url = std::getenv("WEFT_COORDINATOR")) coordinator = url;
  if (coordinator.empty()) throw CLI::RequiredError("--coordinator");
  return true;
}

void add_ca_cert(CLI::App& command, net::TlsOptions& tls, const std::string& name) {
  command
      .add_option(name, tls.ca_cert,
                  "File with the certificate (PEM) that must have issued the coordinator's")
      ->check(CLI::ExistingFile);
}

void add_tls(CLI::App& command, net::TlsOptions& tls) {
  add_ca_cert(command, tls);
  command.add_flag("--tls-insecure", tls.insecure, "Accept any certificate");
  command
      .add_option_function<std::string>(
          "--coordinator-key", KnownCoordinators::name_in_advance,
          "The only coordinator key to accept, as 'weft serve' prints it (or WEFT_COORDINATOR_KEY)")
      ->type_name("KEY");
}

void add_signer(CLI::App& command, std::filesystem::path& wallet, bool& json) {
  command.add_option("--wallet", wallet, "Wallet file (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command.add_flag("--json", json, "Print one JSON document on standard output");
}

}  // namespace weft::cli
