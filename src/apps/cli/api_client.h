// The coordinator's HTTP interface as functions, for the commands: one call, one answer, as a
// struct of protocol/api.h.
//
// Blocking; waits, errors and threads as PatientClient. What has no struct here, and what is signed
// otherwise, is asked by requests().
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

// What a submission says of its price.
struct PriceWanted {
  std::string quote = {};                // Quote::quote; empty: none.
  std::optional<MicroCredits> max = {};  // It costs no more.
};

class ApiClient {
 public:
  struct Options {
    std::string url;
    net::TlsOptions tls;
    std::chrono::milliseconds patience{30'000};
  };
  [[nodiscard]] static Result<std::unique_ptr<ApiClient>> create(const Options& options);

  // The requests under the documents.
  [[nodiscard]] SignedRequests& requests() { return requests_; }
  // As SignedRequests says.
  [[nodiscard]] Result<> read_as(const crypto::KeyPair& wallet) {
    return requests_.read_as(wallet);
  }
  [[nodiscard]] Result<PublicKey> coordinator() { return requests_.coordinator(); }

  [[nodiscard]] Result<protocol::api::Info> info();
  // Signs and posts a manifest. The same nonce gives the same job.
  [[nodiscard]] Result<protocol::api::Submitted> submit(const std::string& manifest,
                                                        const crypto::KeyPair& wallet,
                                                        ByteSpan nonce,
                                                        const PriceWanted& price = {});
  // What it would cost.
  [[nodiscard]] Result<protocol::api::Quote> quote(const std::string& manifest,
                                                   const crypto::KeyPair& wallet);
  [[nodiscard]] Result<protocol::api::Job> job(const std::string& id);
  [[nodiscard]] Result<protocol::api::Tasks> tasks(const std::string& id);
  [[nodiscard]] Result<ByteVector> output(const std::string& job, std::size_t index);
  [[nodiscard]] Result<protocol::api::Workers> workers();
  [[nodiscard]] Result<protocol::api::Clients> clients();
  // How the results of a job were decided, or those of one of its tasks.
  [[nodiscard]] Result<protocol::api::Verdict> verdict(const std::string& job,
                                                       std::optional<std::uint32_t> task);
  // How what a worker handed in was checked.
  [[nodiscard]] Result<protocol::api::Verdict> verdict_of_worker(const std::string& worker);
  [[nodiscard]] Result<protocol::api::Ledger> ledger();
  [[nodiscard]] Result<protocol::api::Settlement> settlement();
  // The page of an account's history, newest first, or of a job's, oldest first, that begins at
  // `from`: 0, or `next` of the one before.
  [[nodiscard]] Result<protocol::api::LedgerAccount> account(const std::string& name,
                                                             std::uint64_t from = 0,
                                                             std::uint32_t count = 100);
  [[nodiscard]] Result<protocol::api::LedgerJob> job_ledger(const std::string& job,
                                                            std::uint64_t from = 0,
                                                            std::uint32_t count = 100);
  // What the wallet's owner holds, and its devices.
  [[nodiscard]] Result<protocol::api::Owner> owner(const crypto::KeyPair& wallet);
  [[nodiscard]] Result<protocol::api::Job> cancel(const std::string& job,
                                                  const crypto::KeyPair& wallet);

 private:
  ApiClient(std::unique_ptr<net::Client> client, const Options& options)
      : client_(std::move(client), options.url, options.patience) {}
  template <class View>
  Result<View> get(const std::string& path);
  // All pages of a list as one.
  template <class View, class Row>
  Result<View> get_pages(const std::string& path, std::vector<Row> View::* rows);

  PatientClient client_;
  SignedRequests requests_{client_};
};

}  // namespace weft::cli
