#include "apps/cli/commands/ledger.h"

#include <algorithm>
#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/ledger_text.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/ids.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t page_max = 1000;  // The most rows that the coordinator puts on a page.

// Joins all pages into one view with at most `limit` transactions (0: all). `page(from, count)`
// asks for one page.
template <class Page>
auto gather(std::uint64_t limit, Page page) -> decltype(page(0, 0)) {
  const auto wanted = [&](std::size_t have) {
    return static_cast<std::uint32_t>(limit == 0 ? page_max : std::min(page_max, limit - have));
  };
  WEFT_ASSIGN(auto view, page(0, wanted(0)));
  while (view.next != 0 && (limit == 0 || view.entries.size() < limit)) {
    WEFT_ASSIGN(auto more, page(view.next, wanted(view.entries.size())));
    view.entries.insert(view.entries.end(), std::make_move_iterator(more.entries.begin()),
                        std::make_move_iterator(more.entries.end()));
    view.next = more.next;
  }
  return view;
}

template <class View>
Result<> show(const LedgerOptions& options, const Result<View>& view) {
  if (!view) return std::unexpected(view.error());
  std::printf("%s", options.json ? (protocol::api::to_json(*view) + "\n").c_str()
                                 : ledger_text(*view).c_str());
  return check_ledger(*view);
}

Result<> run(const LedgerOptions& options) {
  if (!options.job.empty() && !JobId::parse(options.job))
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not a job's id: it has 32 hexadecimal digits.", options.job);
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  // The totals are public; other views need a wallet.
  const bool is_own = !options.account.empty() || !options.job.empty();
  if (is_own || !options.data.empty() || !options.wallet.empty()) {
    WEFT_ASSIGN(
        const crypto::KeyPair wallet,
        wallet_there(options.data.empty() ? options.wallet : options.data / "coordinator.json"));
    WEFT_OK(client->read_as(wallet));
  }
  if (!options.account.empty()) {
    return show(options, gather(options.limit, [&](std::uint64_t from, std::uint32_t count) {
                  return client->account(options.account, from, count);
                }));
  }
  if (!options.job.empty()) {
    return show(options, gather(options.limit, [&](std::uint64_t from, std::uint32_t count) {
                  return client->job_ledger(options.job, from, count);
                }));
  }
  return show(options, client->ledger());
}

}  // namespace

int ledger_command(const LedgerOptions& options) {
  const Result<> done = run(options);
  return done ? 0 : report("ledger", done.error());
}

}  // namespace weft::cli
