// `weft submit`: gives a manifest to a coordinator and, with --wait, follows the job to its end and
// fetches what it made.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct SubmitOptions {
  std::filesystem::path manifest;
  std::string follow;  // Instead of submitting: the id of a job to wait for.
  std::string show;    // Instead of submitting: the id of a job to show as it is now.
  std::string share;   // Instead of submitting: the id of a job whose link is printed.
  std::string cancel;  // Instead of submitting: the id of a job to cancel.
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;     // Empty: the default one, made when missing.
  bool quote = false;               // Show the price first, and ask whether to submit.
  bool yes = false;                 // Do not ask.
  std::string quoted;               // A quote that `weft quote` made: the price is no higher.
  std::optional<double> max_price;  // Credits; it costs no more.
  bool wait = false;
  std::filesystem::path out;  // A folder for the outputs; implies wait.
  std::filesystem::path png;  // A picture of the first two-dimensional output; implies wait.
  bool json = false;
};

[[nodiscard]] int submit_command(const SubmitOptions& options);

struct QuoteOptions {
  std::filesystem::path manifest;
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Empty: the default one, made when missing.
  bool json = false;
};

// `weft quote`: what a job would cost, and the text that `weft submit --quoted` takes.
[[nodiscard]] int quote_command(const QuoteOptions& options);

}  // namespace weft::cli
