// The coordinator's HTTP interface as functions, for the commands: one call, one answer, as a
// struct of protocol/api.h.
//
// What a wallet without credits may not do is tried once more after the operator's own invitation
// was redeemed for it, where this user may read the coordinator's (DATA/invite).
//
// Blocking; any thread; cancelled at once where interrupted() (interruption.h). A coordinator that
// has never answered and is not reached is unavailable at once, with the reason. One that has, or
// that says "later", is tried again for `patience` (every request here may be repeated: a
// submission carries a nonce), then unavailable. Standard error says so when that takes more than a
// moment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

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

  // From now on reads are signed by this wallet: its owner's data is shown then; the operator sees
  // all data.
  [[nodiscard]] Result<> read_as(const crypto::KeyPair& wallet);

  [[nodiscard]] Result<protocol::api::Info> info();
  // Signs and posts a manifest. The same nonce gives the same job.
  [[nodiscard]] Result<protocol::api::Submitted> submit(const std::string& manifest,
                                                        const crypto::KeyPair& wallet,
                                                        ByteSpan nonce,
                                                        const PriceWanted& price = {});
  // What it would cost.
  [[nodiscard]] Result<protocol::api::Quote> quote(const std::string& manifest,
                                                   const crypto::KeyPair& wallet);
  // Puts bytes under their hash, as a client.
  [[nodiscard]] Result<Hash> put_blob(ByteSpan bytes, const crypto::KeyPair& wallet);
  // Part of a blob of `total` bytes, once: whatever comes of it is the caller's to see
  // (large_upload.h).
  [[nodiscard]] Result<net::Response> put_blob_part(const Hash& hash, ByteSpan part,
                                                    std::uint64_t offset, std::uint64_t total,
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
  // Documents that have no struct here.
  [[nodiscard]] Result<net::Response> get_raw(const std::string& path) {
    return read(net::get(path));
  }
  [[nodiscard]] Result<net::Response> post_signed(const std::string& path, const std::string& body,
                                                  const crypto::KeyPair& wallet);
  // With a nonce of the caller's own, by which the coordinator knows a request that comes again.
  [[nodiscard]] Result<net::Response> post_signed(const std::string& path, const std::string& body,
                                                  const crypto::KeyPair& wallet, ByteSpan nonce);
  [[nodiscard]] Result<net::Response> get_signed(const std::string& path,
                                                 const crypto::KeyPair& wallet);
  [[nodiscard]] Result<net::Response> delete_signed(const std::string& path,
                                                    const crypto::KeyPair& wallet);
  // Has the wallet granted what an invitation brings. already_exists if it was before.
  [[nodiscard]] Result<net::Response> redeem(const std::string& invitation,
                                             const crypto::KeyPair& wallet);
  // The key for which this client signs: the coordinator has shown that it holds it, and it is the
  // one that the user knows (known_coordinators.h).
  [[nodiscard]] Result<PublicKey> coordinator();

 private:
  ApiClient(std::unique_ptr<net::Client> client, std::string url,
            std::chrono::milliseconds patience)
      : client_(std::move(client)), url_(std::move(url)), patience_(patience) {}
  Result<net::Response> send(const net::Request& request);
  // As read_as() has it.
  Result<net::Response> read(net::Request request);
  Result<net::Request> signed_by(net::Request request, const crypto::KeyPair& wallet,
                                 const Hash& body, ByteSpan nonce);
  Result<net::Response> send_signed(net::Request request, const crypto::KeyPair& wallet);
  // Signs and sends; `nonce` of the first attempt.
  Result<net::Response> send_as(const crypto::KeyPair& wallet, net::Request request,
                                const Hash& body, ByteSpan nonce);
  // True if the wallet has been granted credits by it, now or before, at the first call.
  bool redeem_own(const crypto::KeyPair& wallet);
  // Once, without the interpretation. `waiting` is called every few milliseconds until there is an
  // answer.
  Result<net::Response> ask(const net::Request& request, const std::function<void()>& waiting);
  template <class View>
  Result<View> get(const std::string& path);
  // All pages of a list as one.
  template <class View, class Row>
  Result<View> get_pages(const std::string& path, std::vector<Row> View::* rows);

  std::unique_ptr<net::Client> client_;
  std::string url_;  // As it was given, for sentences.
  std::optional<PublicKey> coordinator_;
  std::optional<crypto::KeyPair> reader_;
  std::chrono::milliseconds patience_;
  std::atomic<bool> reached_ = false;   // It has answered once.
  std::atomic<bool> redeemed_ = false;  // redeem_own() was called.
};

}  // namespace weft::cli
