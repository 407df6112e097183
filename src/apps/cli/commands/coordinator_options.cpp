#include "apps/cli/commands/coordinator_options.h"

#include <CLI/CLI.hpp>

namespace weft::cli {

void add_coordinator(CLI::App& command, std::string& url) {
  command.add_option("--coordinator", url, "Its URL")->required()->envname("WEFT_COORDINATOR");
}

void add_ca_cert(CLI::App& command, net::TlsOptions& tls, const std::string& name) {
  command.add_option(name, tls.ca_cert, "Certificate (PEM) that the coordinator's must lead to")
      ->check(CLI::ExistingFile);
}

void add_tls(CLI::App& command, net::TlsOptions& tls) {
  add_ca_cert(command, tls);
  command.add_flag("--tls-insecure", tls.insecure, "Accept any certificate");
}

void add_signer(CLI::App& command, std::filesystem::path& wallet, bool& json) {
  command.add_option("--wallet", wallet, "Wallet file (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command.add_flag("--json", json, "One JSON document on standard output");
}

}  // namespace weft::cli
