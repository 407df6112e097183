#include "apps/cli/commands/keys.h"

#include <cmath>
#include <cstdio>
#include <map>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "common/json/quote.h"

namespace weft::cli {
namespace {

constexpr double micro = 1e6;

Result<crypto::KeyPair> wallet_of(const KeyOptions& options,
                                  Result<crypto::KeyPair> (*open)(const std::filesystem::path&)) {
  if (!options.data.empty() && !options.wallet.empty())
    return fail(ErrorCode::invalid_argument, "Give either --data or --wallet, not both.");
  return options.data.empty() ? open(options.wallet)
                              : wallet_there(options.data / "coordinator.json");
}

Result<std::int64_t> micro_credits(double credits, const char* option) {
  if (!(credits >= 0 && credits <= 1e12))
    return fail(ErrorCode::invalid_argument, "{} {} is not an amount of credits from 0 to 10^12.",
                option, credits);
  return std::llround(credits * micro);
}

// Reads the members of a flat document as texts.
Result<std::map<std::string, std::string>> read_flat(const json::Value& value) {
  WEFT_ASSIGN(const auto members, value.members());
  std::map<std::string, std::string> out;
  for (const auto& [key, member] : members) {
    if (member.kind() == json::Kind::string) {
      WEFT_ASSIGN(out[key], member.string());
    } else {
      out[key] = member.text();
    }
  }
  return out;
}

double credits_in(const std::string& text) { return std::strtod(text.c_str(), nullptr) / micro; }

std::string limit_text(const std::string& number, const char* unit) {
  return number == "0" ? "-" : weft::format("{} {}", number, unit);
}

Result<> add(const KeyOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_of(options, wallet_or_new));
  WEFT_ASSIGN(const std::int64_t credits, micro_credits(options.credits, "--credits"));
  WEFT_ASSIGN(const std::int64_t give, micro_credits(options.give, "--give"));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  const std::string body = weft::format(
      R"({{"name":{},"requests_per_min":{},"tokens_per_min":{},"tokens_max":{},"credits_max":{},"give":{}{}}})",
      json::quote(options.name), options.requests_per_min, options.tokens_per_min, options.tokens,
      credits, give, options.stays_here ? R"(,"fallback":"never")" : "");
  WEFT_ASSIGN(const net::Response answer, client->requests().post("/v1/keys", body, wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  WEFT_ASSIGN(const json::Value root, json::parse(answer.body));
  WEFT_ASSIGN(const json::Object object, root.object({"secret", "key"}));
  WEFT_ASSIGN(const json::Value value, object.get("secret"));
  WEFT_ASSIGN(const std::string secret, value.string());
  std::printf("%s\nThis is shown once. It alone is enough to spend the credits of %s.\n",
              secret.c_str(), wallet.public_key().text().c_str());
  return {};
}

Result<> list(const KeyOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_of(options, wallet_there));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const net::Response answer, client->requests().get("/v1/keys", wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  WEFT_ASSIGN(const json::Value root,
              json::parse(answer.body, {.bytes_max = answer.body.size() + 1}));
  WEFT_ASSIGN(const json::Object object, root.object({"keys"}));
  WEFT_ASSIGN(const json::Value keys, object.get("keys"));
  std::printf("%-21s  %-20s %14s %16s %20s %24s  %-8s %s\n", "id", "name", "requests/min",
              "tokens/min", "tokens used/max", "credits used/max", "fallback", "state");
  return keys.for_each({.count_max = 1'000'000}, [](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(auto key, read_flat(value));
    const auto of = [](const std::string& used, const std::string& max) {
      return max == "0" ? used : used + " / " + max;
    };
    const std::string credits = key["credits_max"] == "0"
                                    ? weft::format("{:.6f}", credits_in(key["credits"]))
                                    : weft::format("{:.6f} / {:.2f}", credits_in(key["credits"]),
                                                   credits_in(key["credits_max"]));
    std::printf("%-21s  %-20s %14s %16s %20s %24s  %-8s %s\n", key["id"].c_str(),
                key["name"].c_str(), limit_text(key["requests_per_min"], "").c_str(),
                limit_text(key["tokens_per_min"], "").c_str(),
                of(key["tokens"], key["tokens_max"]).c_str(), credits.c_str(),
                key["fallback"].c_str(), key["revoked"] == "0" ? "good" : "revoked");
    return {};
  });
}

Result<> revoke(const KeyOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_of(options, wallet_there));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const net::Response answer,
              client->requests().remove("/v1/keys/" + net::percent_encoded(options.name), wallet));
  if (options.json) std::printf("%s\n", answer.body.c_str());
  return {};
}

Result<> print_stake(const StakeOptions& options, const std::string& body) {
  if (options.json) {
    std::printf("%s\n", body.c_str());
    return {};
  }
  WEFT_ASSIGN(const json::Value root, json::parse(body));
  WEFT_ASSIGN(auto view, read_flat(root));
  std::printf("%s\n", view["wallet"].c_str());
  const auto line = [](const char* what, const std::string& text) {
    std::printf("%-22s %16.6f credits\n", what, credits_in(text));
  };
  line("staked", view["staked"]);
  line("  of it at risk", view["at_risk"]);
  line("  of it free", view["free"]);
  line("staked on the chain", view["on_chain"]);
  line("balance", view["balance"]);
  line("granted, not to stake", view["granted"]);
  std::printf("%-22s %16s%s\n", "reputation", view["reputation"].c_str(),
              view["established"] == "true" ? ", established" : "");
  return {};
}

Result<> move_stake(const StakeOptions& options, const char* action) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const std::int64_t amount, micro_credits(options.credits, "credits"));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  const std::string body = weft::format(R"({{"action":"{}","amount":{}}})", action, amount);
  WEFT_ASSIGN(const net::Response answer, client->requests().post("/v1/stakes", body, wallet));
  return print_stake(options, answer.body);
}

Result<> show_stake(const StakeOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const net::Response answer,
              client->requests().get("/v1/stakes/" + wallet.public_key().text(), wallet));
  return print_stake(options, answer.body);
}

int finish(const char* command, const Result<>& result) {
  return result ? 0 : report(command, result.error());
}

}  // namespace

int key_add_command(const KeyOptions& options) { return finish("key add", add(options)); }
int key_list_command(const KeyOptions& options) { return finish("key list", list(options)); }
int key_revoke_command(const KeyOptions& options) { return finish("key revoke", revoke(options)); }
int stake_deposit_command(const StakeOptions& options) {
  return finish("stake deposit", move_stake(options, "deposit"));
}
int stake_withdraw_command(const StakeOptions& options) {
  return finish("stake withdraw", move_stake(options, "withdraw"));
}
int stake_show_command(const StakeOptions& options) {
  return finish("stake show", show_stake(options));
}

}  // namespace weft::cli
