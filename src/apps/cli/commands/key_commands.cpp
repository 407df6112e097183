#include <CLI/CLI.hpp>

#include "apps/cli/commands/clients.h"
#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/keys.h"
#include "apps/cli/commands/workers.h"

namespace weft::cli {
namespace {

void add_key(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* key = app.add_subcommand(
      "key",
      "Manages API keys for language models, which a wallet pays for\n\n"
      "  weft key add laptop --requests-per-min 60 --credits 5 --coordinator URL\n"
      "  weft key add alice --give 20 --data DIR --coordinator URL      with credits, by the "
      "operator\n"
      "  weft key list --coordinator URL\n"
      "  weft key revoke ID --coordinator URL");
  key->require_subcommand(1);
  auto options = std::make_shared<KeyOptions>();
  const auto common = [options](CLI::App* command) {
    add_wallet_at_coordinator(*command, *options);
    command
        ->add_option("--data", options->data,
                     "The coordinator's data folder, to act as the operator")
        ->check(CLI::ExistingDirectory);
  };
  CLI::App* add = key->add_subcommand("add", "Creates a key and shows its secret, once");
  add->add_option("name", options->name, "Name of the key, shown in lists")->required();
  add->add_option("--requests-per-min", options->requests_per_min,
                  "Most requests a minute (0: no limit)");
  add->add_option("--tokens-per-min", options->tokens_per_min,
                  "Most tokens a minute (0: no limit)");
  add->add_option("--tokens", options->tokens,
                  "Most tokens that the key may ever use (0: no limit)");
  add->add_option("--credits", options->credits,
                  "Most credits that the key may ever spend (0: what the account holds)");
  add->add_flag(
      "--no-fallback", options->stays_here,
      "Have only the network answer requests of the key, even if a request allows a fallback");
  add->add_option("--give", options->give, "Credits to give to the key's account (operator)");
  common(add);
  add->callback([options, &chosen] { chosen = [options] { return key_add_command(*options); }; });
  CLI::App* list = key->add_subcommand(
      "list",
      "Lists the wallet's keys and what they have used; the operator sees the keys of all wallets");
  common(list);
  list->callback([options, &chosen] { chosen = [options] { return key_list_command(*options); }; });
  CLI::App* revoke =
      key->add_subcommand("revoke", "Revokes a key: its requests are refused from now on");
  revoke->add_option("id", options->name, "Id of the key, as 'weft key list' shows it")->required();
  common(revoke);
  revoke->callback(
      [options, &chosen] { chosen = [options] { return key_revoke_command(*options); }; });
}

void add_stake(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* stake = app.add_subcommand(
      "stake",
      "Manages a wallet's stake, which it can lose, so that its work is believed with fewer "
      "checks\n\n"
      "  weft stake deposit 5 --coordinator URL       out of its balance; granted credits cannot "
      "be staked\n"
      "  weft stake withdraw 5 --coordinator URL      unless the credits are at risk\n"
      "  weft stake show --coordinator URL");
  stake->require_subcommand(1);
  auto options = std::make_shared<StakeOptions>();
  const auto moves = [&](const char* name, const char* text, int (*run)(const StakeOptions&)) {
    CLI::App* command = stake->add_subcommand(name, text);
    command->add_option("credits", options->credits, "Credits to move")
        ->required()
        ->check(CLI::PositiveNumber);
    add_wallet_at_coordinator(*command, *options);
    command->callback(
        [options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  };
  moves("deposit", "Moves credits from the balance into the stake", stake_deposit_command);
  moves("withdraw", "Moves credits from the stake into the balance", stake_withdraw_command);
  CLI::App* show = stake->add_subcommand(
      "show", "Shows what is staked, at risk and free, and the wallet's reputation");
  add_wallet_at_coordinator(*show, *options);
  show->callback(
      [options, &chosen] { chosen = [options] { return stake_show_command(*options); }; });
}

void add_worker(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* worker = app.add_subcommand(
      "worker",
      "Lists the workers of a coordinator, or ends the suspension of one\n\n"
      "  weft worker list --coordinator URL                           the connected workers and "
      "their least prices\n"
      "  weft worker pardon ADDRESS --data DIR --coordinator URL      ends a worker's suspension");
  worker->require_subcommand(1);
  auto options = std::make_shared<WorkerOptions>();
  CLI::App* list = worker->add_subcommand("list",
                                          "Lists the connected workers, their balances and the "
                                          "least price that each accepts for a unit");
  add_coordinator(*list, options->coordinator);
  list->add_flag("--json", options->json, "Print one JSON document on standard output");
  add_tls(*list, options->tls);
  list->callback(
      [options, &chosen] { chosen = [options] { return worker_list_command(*options); }; });
  CLI::App* pardon = worker->add_subcommand(
      "pardon", "Ends the suspension of a worker that was convicted without cause (operator)");
  pardon->add_option("worker", options->worker, "Address of the worker")->required();
  pardon
      ->add_option("--data", options->data,
                   "The coordinator's data folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*pardon, *options);
  pardon->callback(
      [options, &chosen] { chosen = [options] { return worker_pardon_command(*options); }; });
}

void add_client(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* client =
      app.add_subcommand("client",
                         "Shows and sets the share of the network that each client is due\n\n"
                         "  weft client list --coordinator URL\n"
                         "  weft client weight ADDRESS 3 --data DIR --coordinator URL      three "
                         "times the usual share, by the operator");
  client->require_subcommand(1);
  auto options = std::make_shared<ClientOptions>();
  CLI::App* list = client->add_subcommand("list",
                                          "Lists clients with their weights, running jobs, recent "
                                          "use and lead over their share (operator)");
  list->add_option("--data", options->data,
                   "The coordinator's data folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*list, *options);
  list->callback(
      [options, &chosen] { chosen = [options] { return client_list_command(*options); }; });
  CLI::App* weight = client->add_subcommand(
      "weight", "Sets the weight of a client permanently; other clients have weight 1 (operator)");
  weight->add_option("client", options->client, "Address of the client")->required();
  weight->add_option("weight", options->weight, "Weight of the client, from 0.001 to 1000")
      ->required()
      ->check(CLI::Range(0.001, 1000.0));
  weight
      ->add_option("--data", options->data,
                   "The coordinator's data folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*weight, *options);
  weight->callback(
      [options, &chosen] { chosen = [options] { return client_weight_command(*options); }; });
}

}  // namespace

void add_key_commands(CLI::App& app, std::function<int()>& chosen) {
  add_key(app, chosen);
  add_client(app, chosen);
  add_worker(app, chosen);
  add_stake(app, chosen);
}

}  // namespace weft::cli
