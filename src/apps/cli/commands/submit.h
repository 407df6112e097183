// `weft submit`: submits a manifest to a coordinator. With --wait it follows the job to its end and
// fetches its outputs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct SubmitOptions {
  std::filesystem::path manifest;
  std::string follow;  // Instead of submitting: id of a job to wait for.
  std::string show;    // Instead of submitting: id of a job to show.
  std::string share;   // Instead of submitting: id of a job whose link is printed.
  std::string cancel;  // Instead of submitting: id of a job to cancel.
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;     // Empty: the default wallet, created if missing.
  bool quote = false;               // Shows the price first and asks before it submits.
  bool yes = false;                 // Submits without asking the user.
  std::string quoted;               // A quote of `weft quote`, which bounds the price.
  std::optional<double> max_price;  // Maximum price in credits.
  bool wait = false;
  std::filesystem::path out;  // Folder for the outputs; a folder implies wait.
  std::filesystem::path png;  // Picture of the first two-dimensional output; implies wait.
  bool json = false;
};

[[nodiscard]] int submit_command(const SubmitOptions& options);

struct QuoteOptions {
  std::filesystem::path manifest;
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Empty: the default wallet, created if missing.
  bool json = false;
};

// `weft quote`: prints the price of a job and the text for `weft submit --quoted`.
[[nodiscard]] int quote_command(const QuoteOptions& options);

}  // namespace weft::cli
