// `weft wallet data` prints the data that a coordinator has of the wallet's owner, as lines of
// JSON; `weft wallet forget` deletes the data.
#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/commands/owners.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

// Reads the last line of a part: {"next": PLACE}, or {"end": true}, which gives an empty place.
Result<std::string> place_after(std::string_view part) {
  const std::string_view lines =
      part.substr(0, part.ends_with('\n') ? part.size() - 1 : part.size());
  const std::string_view last = lines.substr(lines.rfind('\n') + 1);
  WEFT_ASSIGN(const json::Value root, json::parse(last, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"next", "end"}));
  if (object.find("end")) return std::string();
  WEFT_ASSIGN(const json::Value next, object.get("next"));
  return next.string({.bytes_max = 256});
}

Result<> print_data(const OwnerOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  std::string place;
  do {
    const std::string path = place.empty() ? "/v1/owner/data" : "/v1/owner/data?from=" + place;
    WEFT_ASSIGN(const net::Response answer, client->requests().get(path, wallet));
    auto next = place_after(answer.body);
    if (!next)
      return pass(std::move(next), "while reading what {} holds of the owner", options.coordinator);
    // The line with the place is not printed.
    const std::size_t end = next->empty() ? answer.body.size() : answer.body.rfind("{\"next\"");
    std::fwrite(answer.body.data(), 1, end, stdout);
    place = *next;
  } while (!place.empty());
  return {};
}

constexpr std::string_view what_goes =
    "names, manifests and outputs of ended jobs, API keys, models, uploads, stored responses, "
    "names "
    "of devices, and when workers of them were here";
constexpr std::string_view what_stays =
    "what was paid and earned, receipts and hashes that prove it, the keys of devices, and what "
    "the "
    "coordinator thinks of their work";

Result<> forget(const OwnerOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  if (!options.yes)
    return fail(
        ErrorCode::invalid_argument,
        "This deletes permanently, at {}: {}. What stays: {}. Save it first with `weft wallet "
        "data`, and give --yes.",
        options.coordinator, what_goes, what_stays);
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const net::Response answer, client->requests().remove("/v1/owner/data", wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
  } else {
    std::printf(
        "Deleted: %s.\nWhat stays: %s.\nThe bytes of deleted outputs and models go an hour after "
        "their last use.\n",
        std::string(what_goes).c_str(), std::string(what_stays).c_str());
  }
  return {};
}

int done(const char* command, const Result<>& result) {
  return result ? 0 : report(command, result.error());
}

}  // namespace

int owner_data_command(const OwnerOptions& options) {
  return done("wallet data", print_data(options));
}
int forget_command(const OwnerOptions& options) { return done("wallet forget", forget(options)); }

}  // namespace weft::cli
