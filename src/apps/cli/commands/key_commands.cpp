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
      "API keys for language models, paid for by a wallet\n\n"
      "  weft key add laptop --requests-per-min 60 --credits 5 --coordinator URL\n"
      "  weft key add alice --give 20 --data DIR --coordinator URL      by the operator, with "
      "credits\n"
      "  weft key list --coordinator URL\n"
      "  weft key revoke ID --coordinator URL");
  key->require_subcommand(1);
  auto options = std::make_shared<KeyOptions>();
  const auto common = [options](CLI::App* command) {
    add_wallet_at_coordinator(*command, *options);
    command
        ->add_option("--data", options->data,
                     "As the operator: the coordinator's folder, which has its wallet")
        ->check(CLI::ExistingDirectory);
  };
  CLI::App* add = key->add_subcommand("add", "Makes one and shows it, once");
  add->add_option("name", options->name, "What people call it")->required();
  add->add_option("--requests-per-min", options->requests_per_min, "0: no limit");
  add->add_option("--tokens-per-min", options->tokens_per_min, "0: no limit");
  add->add_option("--tokens", options->tokens, "That it may use ever; 0: no limit");
  add->add_option("--credits", options->credits,
                  "That it may spend ever; 0: what the account holds");
  add->add_flag("--no-fallback", options->stays_here,
                "Only the network answers it, whatever a request allows");
  add->add_option("--give", options->give,
                  "Credits given to the account with it; the operator's to give");
  common(add);
  add->callback([options, &chosen] { chosen = [options] { return key_add_command(*options); }; });
  CLI::App* list = key->add_subcommand(
      "list", "The wallet's keys and what they have used; the operator's list has all");
  common(list);
  list->callback([options, &chosen] { chosen = [options] { return key_list_command(*options); }; });
  CLI::App* revoke = key->add_subcommand("revoke", "It is refused from now on");
  revoke->add_option("id", options->name, "As the list has it")->required();
  common(revoke);
  revoke->callback(
      [options, &chosen] { chosen = [options] { return key_revoke_command(*options); }; });
}

void add_stake(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* stake = app.add_subcommand(
      "stake",
      "What a wallet has to lose, so that its work is believed with fewer checks\n\n"
      "  weft stake deposit 5 --coordinator URL       out of its balance; granted credits cannot "
      "be staked\n"
      "  weft stake withdraw 5 --coordinator URL      as far as nothing is at risk\n"
      "  weft stake show --coordinator URL");
  stake->require_subcommand(1);
  auto options = std::make_shared<StakeOptions>();
  const auto moves = [&](const char* name, const char* text, int (*run)(const StakeOptions&)) {
    CLI::App* command = stake->add_subcommand(name, text);
    command->add_option("credits", options->credits, "How many")
        ->required()
        ->check(CLI::PositiveNumber);
    add_wallet_at_coordinator(*command, *options);
    command->callback(
        [options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  };
  moves("deposit", "From the balance into the stake", stake_deposit_command);
  moves("withdraw", "From the stake into the balance", stake_withdraw_command);
  CLI::App* show = stake->add_subcommand(
      "show", "What is staked, at risk and free, and the wallet's reputation");
  add_wallet_at_coordinator(*show, *options);
  show->callback(
      [options, &chosen] { chosen = [options] { return stake_show_command(*options); }; });
}

void add_worker(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* worker = app.add_subcommand(
      "worker",
      "Who works for a coordinator, and what its operator decides about a worker\n\n"
      "  weft worker list --coordinator URL                           who is connected, and the "
      "least that each accepts\n"
      "  weft worker pardon ADDRESS --data DIR --coordinator URL      its suspension ends");
  worker->require_subcommand(1);
  auto options = std::make_shared<WorkerOptions>();
  CLI::App* list = worker->add_subcommand(
      "list", "Connected workers: what they hold, and the least that each accepts for a unit");
  add_coordinator(*list, options->coordinator);
  list->add_flag("--json", options->json, "One JSON document on standard output");
  add_tls(*list, options->tls);
  list->callback(
      [options, &chosen] { chosen = [options] { return worker_list_command(*options); }; });
  CLI::App* pardon =
      worker->add_subcommand("pardon", "Ends a suspension: the worker was convicted without cause");
  pardon->add_option("worker", options->worker, "Its address")->required();
  pardon
      ->add_option("--data", options->data,
                   "The coordinator's folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*pardon, *options);
  pardon->callback(
      [options, &chosen] { chosen = [options] { return worker_pardon_command(*options); }; });
}

void add_client(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* client = app.add_subcommand("client",
                                        "What share of the network each client is due\n\n"
                                        "  weft client list --coordinator URL\n"
                                        "  weft client weight ADDRESS 3 --data DIR --coordinator "
                                        "URL      by the operator: three times another's");
  client->require_subcommand(1);
  auto options = std::make_shared<ClientOptions>();
  CLI::App* list = client->add_subcommand(
      "list",
      "Weights, running jobs, what was used lately, and who is ahead of its share; the operator's");
  list->add_option("--data", options->data,
                   "The coordinator's folder, which has the operator's wallet")
      ->check(CLI::ExistingDirectory);
  add_wallet_at_coordinator(*list, *options);
  list->callback(
      [options, &chosen] { chosen = [options] { return client_list_command(*options); }; });
  CLI::App* weight =
      client->add_subcommand("weight", "Sets one, from now on, permanently; others have 1");
  weight->add_option("client", options->client, "Its address")->required();
  weight->add_option("weight", options->weight, "From 0.001 to 1000")
      ->required()
      ->check(CLI::Range(0.001, 1000.0));
  weight
      ->add_option("--data", options->data,
                   "The coordinator's folder, which has the operator's wallet")
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
