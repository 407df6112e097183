#include <cstdio>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/coordinator_options.h"
#include "apps/cli/commands/invite.h"
#include "apps/cli/commands/part_runner.h"
#include "apps/cli/commands/plan.h"
#include "apps/cli/commands/rotate_key.h"
#include "apps/cli/commands/serve.h"
#include "apps/cli/commands/served_models.h"
#include "apps/cli/commands/shader_check.h"
#include "apps/cli/commands/text_reader.h"
#include "apps/cli/commands/work.h"
#include "apps/cli/installation.h"
#include "common/protocol/schema.h"

namespace weft::cli {
namespace {

void add_serve(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve",
      "Runs a coordinator, with its page\n\n"
      "  weft serve                                              on http://127.0.0.1:7300, for "
      "this machine\n"
      "  weft serve --listen 0.0.0.0:7300 --tls-self-signed      for the network around you");
  constexpr int day_ms = 86'400'000;
  // 2^50 bytes are more than any disk has.
  const CLI::Range bytes(std::uint64_t{1}, std::uint64_t{1} << 50);
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT to listen on (port 0: a free one)");
  command
      ->add_option("--data", options->data,
                   "Folder for the coordinator's data (default: ~/.local/share/weft)")
      ->type_name("DIR");
  command->add_option(
      "--store", options->store,
      "Database: sqlite:, sqlite:FILE, or memory: (which keeps nothing after the end)");
  command->add_option("--grant", options->grant,
                      "Credits that a client gets for an invitation (default: 100000)");
  command
      ->add_option("--price-base", options->price_base,
                   "Price of a compute unit in an idle network, in credits; demand, rare "
                   "requirements and the hour raise it (docs/pricing.md)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.000001, 1e6))
      ->capture_default_str();
  command->add_option("--tls-cert", options->tls_cert, "File with the certificate chain (PEM)")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--tls-key", options->tls_key, "File with the certificate's private key (PEM)")
      ->check(CLI::ExistingFile);
  command->add_flag("--tls-self-signed", options->tls_self_signed,
                    "Create a certificate for this machine's addresses and use it");
  command->add_flag(
      "--insecure", options->insecure,
      "Listen beyond loopback without TLS; browsers on other machines then lack WebGPU");
  command->add_flag("--public", options->is_public,
                    "Serve strangers safely: requires --host, a certificate or --trusted-proxy, "
                    "and keys for models, and refuses riskier options (docs/public.md)");
  command
      ->add_option("--web", options->web, "Folder of the page (default: web/dist beside the build)")
      ->type_name("DIR");
  command
      ->add_option("--task-wall-ms", options->task_wall_ms,
                   "Time limit of one task, in milliseconds")
      ->check(CLI::Range(1, day_ms));
  command
      ->add_option("--checkpoint-ms", options->checkpoint_ms,
                   "Least time between two checkpoints of a long task, in milliseconds (0: no "
                   "checkpoints); one is taken for each 5 % of the work")
      ->check(CLI::Range(0, day_ms));
  command->add_option("--client-weight", options->client_weights,
                      "A client's weight as ADDRESS=WEIGHT, its share of the network (others: 1); "
                      "'weft client weight' overrides it (repeatable)");
  command->add_option("--blob-bytes-max", options->blob_bytes_max, "Most bytes of one blob")
      ->check(bytes);
  command
      ->add_option("--blobs-bytes-max", options->blobs_bytes_max,
                   "Most bytes of all blobs together")
      ->check(bytes);
  command
      ->add_option("--job-data-days", options->job_data_days,
                   "Days that the data and results of an ended job are kept; data of no job is "
                   "removed after an hour")
      ->check(CLI::Range(1, 36'500));
  command
      ->add_option("--job-input-bytes-max", options->job_input_bytes_max,
                   "Most bytes of the inputs of one job")
      ->check(bytes);
  command
      ->add_option("--job-output-bytes-max", options->job_output_bytes_max,
                   "Most bytes of the outputs of one job")
      ->check(bytes);
  command->add_option("--jobs-max", options->jobs_max, "Most running jobs")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--tasks-max", options->tasks_max, "Most tasks of all running jobs")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option("--jobs-per-client", options->jobs_per_client,
                   "Most running jobs of one client, at most half of --jobs-max (default: a tenth "
                   "of --jobs-max, at most 1000)")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option("--tasks-per-client", options->tasks_per_client,
                   "Most tasks of one client's running jobs (default: a quarter of --tasks-max, at "
                   "most 500000)")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--workers-max", options->workers_max, "Most connected workers")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--stake-permille", options->stake_permille,
                   "Thousandths of a worker's pay that go into its stake; a worker with a stake "
                   "may compute a task alone")
      ->check(CLI::Range(0, 1000));
  command->add_option("--stake-target", options->stake_target,
                      "Credits up to which a worker's pay goes into its stake");
  command->add_flag("--allow-anyone", options->allow_anyone,
                    "Accept jobs whose results any agreeing workers decide (verify.trust "
                    "\"anyone\"), also beyond loopback (docs/trust.md)");
  command->add_flag("--unchecked-shaders", options->unchecked_shaders,
                    "Accept shaders that this machine cannot compile for lack of a device, so that "
                    "workers are the first to compile them");
  command->add_flag("--stakes", options->stakes,
                    "Allow workers to deposit and withdraw stakes (weft stake)");
  command->add_flag("--require-keys", options->require_keys,
                    "Require an API key (weft key) for models; the default if other machines reach "
                    "the coordinator");
  command->add_flag("--open-models", options->open_models,
                    "Require no API key for models, also beyond loopback");
  command
      ->add_option(
          "--guest-requests", options->guest_requests,
          "Requests a minute that the page may make from one address without a key (0: none)")
      ->check(CLI::Range(0, 1'000'000));
  CLI::Option* fallback = command->add_option(
      "--fallback", options->fallback,
      "URL of another server with OpenAI's interface, at the operator's cost, for requests with "
      "\"fallback\": \"allow\" that the network cannot answer");
  command
      ->add_option("--fallback-key-file", options->fallback_key_file,
                   "File with the API key of the fallback server")
      ->needs(fallback)
      ->check(CLI::ExistingFile);
  add_ca_cert(*command, options->fallback_tls, "--fallback-ca-cert");
  command
      ->add_option("--settlement", options->settlement,
                   "Network file of `weft chain init` by which the page's Wallet settles, with the "
                   "rows in DATA/epochs/epoch-N.csv")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--wire", options->wire,
                   "Type of hidden states sent between workers that share a model: f32, f16 or i8 "
                   "(fewer bytes, other rounding)")
      ->check(CLI::IsMember({"f32", "f16", "i8"}));
  command
      ->add_option("--activations", options->activations,
                   "Type of activations in matrix products of served models: f32; int8 (at least "
                   "twice as fast, audited less strictly); f16 (for GPUs with matrix units and 64 "
                   "or more clients); auto (int8 for files of at most 8 bits a weight, else f32)")
      ->check(CLI::IsMember({"auto", "f32", "int8", "f16"}))
      ->capture_default_str();
  command
      ->add_option("--partition", options->partition,
                   "Division of models among workers: layer (one chain), batch (whole models side "
                   "by side) or hybrid")
      ->type_name("{layer,batch,hybrid}");
  command->add_option("--ice-servers", options->ice_servers,
                      "STUN and TURN servers for tabs (TURN only for established ones), as JSON or "
                      "a file with it: [{\"urls\":\"turn:HOST:3478\",\"secret\":\"...\"}]");
  command
      ->add_option(
          "--camera-relay", options->camera_relay,
          "Megabits a second that the coordinator relays in all for shared cameras without "
          "a direct connection (0: none)")
      ->type_name("MEGABITS")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--rate-limit", options->rate_limit,
                      "Requests a second from one address (IPv6: a /64), weighted by their cost");
  command->add_option("--host", options->hosts,
                      "Host name by which others reach this coordinator; requests for other hosts "
                      "are refused (repeatable)");
  command->add_option("--trusted-proxy", options->trusted_proxies,
                      "Address of a proxy whose X-Forwarded-For is believed (repeatable)");
  command->add_option("--connections-max", options->connections_max, "Most open connections")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--connections-per-address", options->connections_per_address,
                   "Most open connections of one address (IPv6: a /64; default: an eighth of what "
                   "the process can hold, at most 256)")
      ->check(CLI::Range(1, 1'000'000));
  command->callback([options, &chosen] {
    chosen = [options] {
      return serve_command(
          *options, make_shader_checker, [] { return make_part_runner(); }, make_text_reader);
    };
  });
}

void add_work(CLI::App& app, std::function<int()>& chosen) {
  auto chosen_options = std::make_shared<WorkCommand>();
  const std::shared_ptr<worker::WorkOptions> options(chosen_options, &chosen_options->options);
  CLI::App* command =
      app.add_subcommand("work",
                         "Joins a coordinator with this machine and works until Ctrl-C\n\n"
                         "  weft work --coordinator http://127.0.0.1:7300\n"
                         "  weft work --coordinator https://weft.example --adapter all      every "
                         "GPU of this machine\n"
                         "  weft work --coordinator https://weft.example --device cpu");
  add_coordinator(*command, options->coordinator);
  command
      ->add_option("--device", options->device,
                   "Device to use: gpu, or cpu for the built-in kernels only")
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command->add_option("--adapter", chosen_options->adapter,
                      "Number of the GPU in 'weft bench gpu --list'; several (0,1) or all: one "
                      "worker with its own wallet for each (default: the best GPU)");
  command
      ->add_option("--wallet", options->wallet,
                   "Wallet file; created if missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command
      ->add_option("--invite", options->invite,
                   "The operator's invitation ('weft invite'), with which this worker's results "
                   "are believed")
      ->type_name("CODE")
      ->envname("WEFT_INVITE");
  command
      ->add_option("--price", options->price,
                   "Least credits for a compute unit; jobs that pay less are not sent to this "
                   "worker (docs/pricing.md)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--slots", options->slots, "Number of tasks to hold at a time")
      ->check(CLI::Range(1, 64));
  command
      ->add_option("--wall-ms-max", options->wall_ms_max,
                   "Time limit of one task in milliseconds, whatever the coordinator allows")
      ->check(CLI::Range(10, 3'600'000));
  command->add_option("--memory-mb", options->memory_mb, "Memory that one task may use, in MiB")
      ->check(CLI::Range(16, 1 << 20));
  command
      ->add_option("--slice-memory-mb", options->slice_memory_mb,
                   "Memory of each task in MiB, a part of --memory-mb, if --slots tasks share the "
                   "device in time slices (0: tasks run one after the other)")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option("--model-memory-mb", options->model_memory_mb,
                   "Memory for language models, in MiB (0: no models are served)")
      ->check(CLI::Range(0, 1 << 24));
  command
      ->add_option("--model-disk-mb", options->model_disk_mb,
                   "Disk space for fetched models, in MiB; the least recently used are removed (0: "
                   "no limit)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_flag(
      "--unsafe-sandbox", options->unsafe_sandbox,
      "Run strangers' shaders even if this machine lacks a required part of their confinement");
  command->add_option("--peer-listen", options->peer_listen,
                      "ADDRESS[:PORT] for direct calls of other workers of a chain, or none "
                      "(default: the address towards the coordinator)");
  command->add_option("--peer-address", options->peer_address,
                      "ADDRESS[:PORT] that other workers are told instead of --peer-listen, for a "
                      "NAT with a forwarded port");
  add_tls(*command, options->tls);
  options->cache = cache_folder();
  command->callback([options, chosen_options, &chosen] {
    if (options->device == "cpu" && !chosen_options->adapter.empty())
      throw CLI::ValidationError("--adapter",
                                 "the processor has no number: leave it out with --device cpu");
    chosen = [chosen_options] { return work_command(*chosen_options); };
  });
}

void add_invite(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<InviteOptions>();
  CLI::App* command = app.add_subcommand(
      "invite",
      "Prints an invitation for a worker that you trust, or for a client that is to have "
      "credits\n\n"
      "  weft invite                            what this worker computes is believed (weft work "
      "--invite CODE)\n"
      "  weft invite --verifier --days 365      and it decides between other workers\n"
      "  weft invite --client                   credits for a client, once (weft wallet redeem "
      "CODE), and no trust\n"
      "  weft invite --for ADDRESS              for that wallet alone");
  command->add_option("--data", options->data, "The coordinator's data folder")->type_name("DIR");
  using Kind = crypto::InvitationKind;
  const auto add = [&](const char* name, Kind kind, const char* text) {
    return command->add_flag_callback(name, [options, kind] { options->kind = kind; }, text);
  };
  CLI::Option* worker =
      add("--worker", Kind::worker, "Invite a worker whose results are believed (default)");
  CLI::Option* verifier =
      add("--verifier", Kind::verifier,
          "Invite a verifier: its evidence decides between other workers, and convicts");
  add("--client", Kind::client,
      "Invite a client, which is granted the credits of 'weft serve --grant'")
      ->excludes(worker)
      ->excludes(verifier);
  verifier->excludes(worker);
  command->add_option("--days", options->days, "Days that the invitation is valid")
      ->check(CLI::Range(1, 3650));
  command
      ->add_option("--for", options->wallet,
                   "Address of the only wallet that may use the invitation (default: any wallet)")
      ->type_name("ADDRESS");
  command->callback(
      [options, &chosen] { chosen = [options] { return invite_command(*options); }; });
}

void add_rotate_key(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<RotateKeyOptions>();
  CLI::App* command =
      app.add_subcommand("rotate-key",
                         "Gives a stopped coordinator a new key, which its old key announces\n\n"
                         "Programs that know the old key accept the new one. The old key stays in "
                         "the data folder, and\n"
                         "invitations that it signed are no longer valid.\n\n"
                         "  weft rotate-key --data DIR");
  command->add_option("--data", options->data, "The coordinator's data folder")->type_name("DIR");
  command->callback(
      [options, &chosen] { chosen = [options] { return rotate_key_command(*options); }; });
}

void add_plan(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan",
      "Predicts the throughput of a number of workers: P = N * G * E / (1 + L / C)\n\n"
      "  weft plan --workers 10,100 --gflops 500 --latency-ms 80 --task-ms 400\n"
      "  weft plan --task-gflop 2000 --task-mbytes 4 --mbit 50 --replicas 2 --tasks 5000\n"
      "  weft plan --workers 100 --simulate --json             compared with a simulation of the "
      "scheduler");
  command
      ->add_option("--workers", options->workers,
                   "N: number of workers; a row for each of several: 1,10,100")
      ->delimiter(',')
      ->check(CLI::Range(1, 20'000));
  command->add_option("--gflops", options->gflops,
                      "G: rate of one worker in GFLOP/s, as 'weft bench gpu' measures it");
  command->add_option("--efficiency", options->efficiency,
                      "E: share of a worker's time that is spent on work that counts");
  command->add_option("--latency-ms", options->latency_ms,
                      "Part of L: round trip to a worker, in milliseconds");
  command
      ->add_option("--task-mbytes", options->task_mbytes,
                   "Part of L: megabytes that a task transfers")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--mbit", options->mbit, "Speed of a worker's connection, in Mbit/s")
      ->check(CLI::PositiveNumber);
  CLI::Option* task_ms = command->add_option("--task-ms", options->task_ms,
                                             "C: time of a task on one worker, in milliseconds");
  command
      ->add_option("--task-gflop", options->task_gflop,
                   "Work of a task in GFLOP, instead of --task-ms: C = work / G")
      ->excludes(task_ms);
  command->add_option("--tasks", options->tasks, "Number of tasks of the job")
      ->check(CLI::Range(1, 100'000'000));
  command->add_option("--replicas", options->replicas, "Number of replicas of each task")
      ->check(CLI::Range(1, 7));
  command->add_flag("--simulate", options->simulate,
                    "Also run the job through the scheduler in simulated time");
  command
      ->add_option(
          "--slots", options->slots,
          "Simulation: tasks that a worker holds; from two on, the next task is fetched in advance")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--spread", options->spread,
                   "Simulation: spread of the task times (sigma of a log-normal distribution)")
      ->check(CLI::Range(0.0, 3.0));
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback([options, &chosen] { chosen = [options] { return plan_command(*options); }; });
}

// Adds hidden commands for the build of the web page.
void add_hidden(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* schema =
      app.add_subcommand("schema", "Prints the JSON schema of the worker protocol")->group("");
  schema->callback([&chosen] {
    chosen = [] {
      std::printf("%s\n", protocol::json_schema().c_str());
      return 0;
    };
  });
}

void add_model(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* model = app.add_subcommand(
      "model",
      "Manages the language models and ONNX models that a coordinator's workers serve\n\n"
      "  weft model add llama-3.2-1b.gguf --coordinator http://127.0.0.1:7300 --wait\n"
      "  weft model add mnist.onnx --coordinator http://127.0.0.1:7300\n"
      "  weft model list --coordinator http://127.0.0.1:7300");
  model->require_subcommand(1);
  auto options = std::make_shared<ServedModelOptions>();
  const auto common = [options](CLI::App* command) {
    add_coordinator(*command, options->coordinator);
    add_tls(*command, options->tls);
  };
  CLI::App* add = model->add_subcommand("add",
                                        "Adds a model: a GGUF file, whose layers the workers "
                                        "fetch, or an ONNX file, which they run for each request");
  add->add_option("file", options->file, "GGUF or ONNX file of the model")
      ->required()
      ->check(CLI::ExistingFile);
  add->add_option("--name", options->name,
                  "Name of the model in requests (default: the file's name)");
  add->add_option("--shards", options->shards,
                  "Least number of workers that share the model's layers")
      ->check(CLI::Range(1, 64));
  add->add_option("--price", options->price,
                  "Credits for 1,000 tokens (default: by the model's size, docs/pricing.md)")
      ->check(CLI::NonNegativeNumber);
  add->add_option("--wire", options->wire,
                  "Type of hidden states sent between workers: f32, f16 or i8 (default: as the "
                  "coordinator is set)")
      ->check(CLI::IsMember({"f32", "f16", "i8"}));
  add->add_option("--size", options->sizes, "Number for a named size of an ONNX model (repeatable)")
      ->type_name("NAME=SIZE");
  add->add_option("--wallet", options->wallet,
                  "Wallet file; created if missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  add->add_flag("--wait", options->wait, "Wait until the model can be used");
  add->add_flag("--json", options->json, "Print one JSON document on standard output");
  common(add);
  add->callback([options, &chosen] { chosen = [options] { return model_add_command(*options); }; });
  CLI::App* list = model->add_subcommand("list", "Lists the models, and whether they can be used");
  list->add_flag("--json", options->json, "Print one JSON document on standard output");
  common(list);
  list->callback(
      [options, &chosen] { chosen = [options] { return model_list_command(*options); }; });
  CLI::App* remove =
      model->add_subcommand("remove", "Removes a model, which is then no longer served");
  remove->add_option("name", options->name, "Name of the model")->required();
  remove
      ->add_option("--wallet", options->wallet,
                   "Wallet file that added the model (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  common(remove);
  remove->callback(
      [options, &chosen] { chosen = [options] { return model_remove_command(*options); }; });
}

}  // namespace

void add_network_commands(CLI::App& app, std::function<int()>& chosen) {
  add_serve(app, chosen);
  add_work(app, chosen);
  add_invite(app, chosen);
  add_rotate_key(app, chosen);
  add_plan(app, chosen);
  add_model(app, chosen);
  add_hidden(app, chosen);
}

}  // namespace weft::cli
