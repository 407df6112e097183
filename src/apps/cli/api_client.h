// The coordinator's HTTP interface as functions for the commands: each call returns one answer as a
// struct of protocol/api.h.
//
// Blocking; the rules for waits, errors and threads are those of PatientClient. requests() sends
// requests that have no struct here, and requests that are signed differently.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/patient_client.h"
#include "apps/cli/signed_requests.h"
#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"
#include "common/protocol/api.h"
#include "platform/net/client.h"

namespace weft::cli {

// The quote and the maximum price that a submission names.
struct PriceWanted {
  std::string quote = {};                // The text of a quote; empty: no quote.
  std::optional<MicroCredits> max = {};  // Maximum price; none: no limit.
};

class ApiClient {
 public:
  struct Options {
    std::string url;
    net::TlsOptions tls;
    std::chrono::milliseconds patience{30'000};
  };
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> create(const Options& options);

  // The layer that signs and sends the requests.
  [[nodiscard]] SignedRequests& requests() { return requests_; }
  // Signs all further reads by `wallet` (SignedRequests::read_as()).
  [[nodiscard]] Result<> read_as(const crypto::KeyPair& wallet) {
    return requests_.read_as(wallet);
  }
  [[nodiscard]] Result<PublicKey> coordinator() { return requests_.coordinator(); }

  [[nodiscard]] Result<protocol::api::Info> info();
  // Signs and posts a manifest. A repeated nonce returns the job of its first submission.
  [[nodiscard]] Result<protocol::api::Submitted> submit(const std::string& manifest,
                                                        const crypto::KeyPair& wallet,
                                                        ByteSpan nonce,
                                                        const PriceWanted& price = {});
  // Asks for the price of a manifest.
  [[nodiscard]] Result<protocol::api::Quote> quote(const std::string& manifest,
                                                   const crypto::KeyPair& wallet);
  [[nodiscard]] Result<protocol::api::Job> job(const std::string& id);
  [[nodiscard]] Result<protocol::api::Tasks> tasks(const std::string& id);
  [[nodiscard]] Result<ByteVector> output(const std::string& job, std::size_t index);
  [[nodiscard]] Result<protocol::api::Workers> workers();
  [[nodiscard]] Result<protocol::api::Clients> clients();
  // The decisions about the results of a job, or of one of its tasks.
  [[nodiscard]] Result<protocol::api::Verdict> verdict(const std::string& job,
                                                       std::optional<std::uint32_t> task);
  // The decisions about a worker's results.
  [[nodiscard]] Result<protocol::api::Verdict> verdict_of_worker(const std::string& worker);
  [[nodiscard]] Result<protocol::api::Ledger> ledger();
  [[nodiscard]] Result<protocol::api::Settlement> settlement();
  // The page of a history that begins at `from`: 0 for the first page, else `next` of the previous
  // page. An account's history is newest first, a job's oldest first.
  [[nodiscard]] Result<protocol::api::LedgerAccount> account(const std::string& name,
                                                             std::uint64_t from = 0,
                                                             std::uint32_t count = 100);
  [[nodiscard]] Result<protocol::api::LedgerJob> job_ledger(const std::string& job,
                                                            std::uint64_t from = 0,
                                                            std::uint32_t count = 100);
  // The balances and devices of the wallet's owner.
  [[nodiscard]] Result<protocol::api::Owner> owner(const crypto::KeyPair& wallet);
  [[nodiscard]] Result<protocol::api::Job> cancel(const std::string& job,
                                                  const crypto::KeyPair& wallet);

 private:
  ApiClient(std::unique_ptr<net::Client> client, const Options& options)
      : client_(std::move(client), options.url, options.patience) {}
  template <class View>
  Result<View> get(const std::string& path);
  // Reads all pages of a list and joins their rows.
  template <class View, class Row>
  Result<View> get_pages(const std::string& path, std::vector<Row> View::* rows);

  PatientClient client_;
  SignedRequests requests_{client_};
};

}  // namespace weft::cli
