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
  command->add_option("--listen", options->listen, "ADDRESS:PORT; port 0 takes a free one");
  command->add_option("--data", options->data, "Folder of its state (default: ~/.local/share/weft)")
      ->type_name("DIR");
  command->add_option("--store", options->store,
                      "sqlite:, sqlite:FILE, or memory: (forgets everything)");
  command->add_option("--grant", options->grant,
                      "Credits that an invitation brings a client (default: 100000)");
  command
      ->add_option("--price-base", options->price_base,
                   "What a compute unit costs in an idle network, in credits; demand, rare "
                   "requirements and the hour raise it (docs/pricing.md)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.000001, 1e6))
      ->capture_default_str();
  command->add_option("--tls-cert", options->tls_cert, "Certificate chain, PEM")
      ->check(CLI::ExistingFile);
  command->add_option("--tls-key", options->tls_key, "Its private key, PEM")
      ->check(CLI::ExistingFile);
  command->add_flag("--tls-self-signed", options->tls_self_signed,
                    "Make a certificate for this machine's addresses and use it");
  command->add_flag("--insecure", options->insecure,
                    "Listen beyond loopback without TLS; browsers there then lack WebGPU");
  command->add_flag("--public", options->is_public,
                    "Strangers reach it: wants --host and a certificate or --trusted-proxy, keys "
                    "for models, and refuses what opens more (docs/public.md)");
  command
      ->add_option("--web", options->web, "Folder of the page (default: web/dist beside the build)")
      ->type_name("DIR");
  command->add_option("--task-wall-ms", options->task_wall_ms, "Longest time of one task")
      ->check(CLI::Range(1, day_ms));
  command
      ->add_option("--checkpoint-ms", options->checkpoint_ms,
                   "Long tasks keep their state for each 5 % of their work, but not more often "
                   "than this (0: never)")
      ->check(CLI::Range(0, day_ms));
  command->add_option("--client-weight", options->client_weights,
                      "ADDRESS=WEIGHT: a client's share of the network (others: 1); may be "
                      "repeated; weft client weight comes before it");
  command->add_option("--blob-bytes-max", options->blob_bytes_max, "Largest blob")->check(bytes);
  command->add_option("--blobs-bytes-max", options->blobs_bytes_max, "All blobs together")
      ->check(bytes);
  command
      ->add_option("--job-data-days", options->job_data_days,
                   "Days after its end that a job's data and results are kept; data that no job "
                   "names go after an hour")
      ->check(CLI::Range(1, 36'500));
  command->add_option("--job-input-bytes-max", options->job_input_bytes_max, "Inputs of one job")
      ->check(bytes);
  command->add_option("--job-output-bytes-max", options->job_output_bytes_max, "Outputs of one job")
      ->check(bytes);
  command->add_option("--jobs-max", options->jobs_max, "Running jobs")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--tasks-max", options->tasks_max, "Tasks of running jobs")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option("--jobs-per-client", options->jobs_per_client,
                   "Running jobs of one client (default: a tenth of --jobs-max, at most 1000; "
                   "never more than half of it)")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option("--tasks-per-client", options->tasks_per_client,
                   "Tasks of running jobs of one client (default: a quarter of --tasks-max, at "
                   "most 500000)")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_option("--workers-max", options->workers_max, "Connected workers")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--stake-permille", options->stake_permille,
                   "Of what a worker earns, so much becomes its stake; with one it may work alone")
      ->check(CLI::Range(0, 1000));
  command->add_option("--stake-target", options->stake_target, "Credits that a stake grows to");
  command->add_flag("--allow-anyone", options->allow_anyone,
                    "Beyond loopback: jobs may ask for no more than that any workers agree "
                    "(verify.trust \"anyone\", docs/trust.md)");
  command->add_flag("--unchecked-shaders", options->unchecked_shaders,
                    "Without a device on this machine: take jobs whose shader nothing here has "
                    "compiled, so that workers are the first to compile what clients send");
  command->add_flag("--stakes", options->stakes,
                    "Workers may deposit and withdraw stakes (weft stake)");
  command->add_flag(
      "--require-keys", options->require_keys,
      "Models are asked with an API key (weft key) only; the default if others reach it");
  command->add_flag("--open-models", options->open_models,
                    "Models are asked without an API key, also beyond loopback");
  command
      ->add_option(
          "--guest-requests", options->guest_requests,
          "Where keys are required: what the page may ask a minute from one address; 0: nothing")
      ->check(CLI::Range(0, 1'000'000));
  CLI::Option* fallback = command->add_option(
      "--fallback", options->fallback,
      "URL of another server of OpenAI's form that answers requests with \"fallback\": \"allow\" "
      "which the network cannot serve; at the operator's cost");
  command->add_option("--fallback-key-file", options->fallback_key_file, "Holds the API key for it")
      ->needs(fallback)
      ->check(CLI::ExistingFile);
  add_ca_cert(*command, options->fallback_tls, "--fallback-ca-cert");
  command
      ->add_option(
          "--settlement", options->settlement,
          "Network file of `weft chain init`: the page's Wallet settles there, by the rows in "
          "DATA/epochs/epoch-N.csv")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--wire", options->wire,
                   "How hidden states travel between workers that share a model: f32, f16 or i8 "
                   "(fewer bytes, other roundings)")
      ->check(CLI::IsMember({"f32", "f16", "i8"}));
  command
      ->add_option(
          "--activations", options->activations,
          "What served models' matrices are multiplied with: f32; int8, which is twice as "
          "fast and more, and whose answers are audited less sharply; f16, for GPUs with matrix "
          "units that answer 64 clients and more at once; auto: int8 for files of 8 bits a weight "
          "or fewer, else f32")
      ->check(CLI::IsMember({"auto", "f32", "int8", "f16"}))
      ->capture_default_str();
  command
      ->add_option(
          "--partition", options->partition,
          "How models are cut: layer (one chain), batch (whole models side by side) or hybrid")
      ->type_name("{layer,batch,hybrid}");
  command->add_option("--ice-servers", options->ice_servers,
                      "STUN and TURN servers for tabs (TURN: established ones), JSON or a file "
                      "with it: "
                      "[{\"urls\":\"turn:HOST:3478\",\"secret\":\"...\"}]");
  command
      ->add_option("--camera-relay", options->camera_relay,
                   "Megabits a second that shared cameras and devices without a direct connection "
                   "exchange over this coordinator, all together; networks take turns; 0: none")
      ->type_name("MEGABITS")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--rate-limit", options->rate_limit,
                      "Requests a second from one address (IPv6: a /64), by what they cost");
  command->add_option("--host", options->hosts,
                      "A name that others call this coordinator by; requests for other hosts are "
                      "refused (repeatable)");
  command->add_option("--trusted-proxy", options->trusted_proxies,
                      "Address of a proxy whose X-Forwarded-For is believed (repeatable)");
  command->add_option("--connections-max", options->connections_max, "Connections")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--connections-per-address", options->connections_per_address,
                   "Connections of one address (IPv6: a /64; default: an eighth of all that the "
                   "process can hold, at most 256)")
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
                         "This machine joins a coordinator and works until Ctrl-C\n\n"
                         "  weft work --coordinator http://127.0.0.1:7300\n"
                         "  weft work --coordinator https://weft.example --adapter all      every "
                         "GPU of this machine\n"
                         "  weft work --coordinator https://weft.example --device cpu");
  add_coordinator(*command, options->coordinator);
  command->add_option("--device", options->device, "gpu, or cpu for the built-in kernels only")
      ->check(CLI::IsMember({"gpu", "cpu"}));
  command->add_option("--adapter", chosen_options->adapter,
                      "Which GPU, by its number in 'weft bench gpu --list'; several (0,1) or all: "
                      "a worker with a wallet of its own for each (default: "
                      "the best one)");
  command
      ->add_option("--wallet", options->wallet,
                   "Wallet file; made when missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  command
      ->add_option(
          "--invite", options->invite,
          "The operator's invitation ('weft invite'): what this worker computes is believed")
      ->type_name("CODE")
      ->envname("WEFT_INVITE");
  command
      ->add_option("--price", options->price,
                   "The least that it accepts for a compute unit, in credits: it is given no job "
                   "that pays less (docs/pricing.md)")
      ->type_name("CREDITS")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--slots", options->slots, "Tasks to hold at a time")
      ->check(CLI::Range(1, 64));
  command
      ->add_option("--wall-ms-max", options->wall_ms_max,
                   "Longest time of one task, whatever the coordinator allows")
      ->check(CLI::Range(10, 3'600'000));
  command->add_option("--memory-mb", options->memory_mb, "Memory that one task may use")
      ->check(CLI::Range(16, 1 << 20));
  command
      ->add_option("--slice-memory-mb", options->slice_memory_mb,
                   "Share the device in time slices: --slots tasks at a time, each in a partition "
                   "of so much of --memory-mb (0: tasks run in turn)")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option("--model-memory-mb", options->model_memory_mb,
                   "Memory for language models; 0 serves none")
      ->check(CLI::Range(0, 1 << 24));
  command
      ->add_option("--model-disk-mb", options->model_disk_mb,
                   "Disk for models that were fetched; the least recently used go (0: no bound)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_flag("--unsafe-sandbox", options->unsafe_sandbox,
                    "Run strangers' shaders although this machine lacks a required part of their "
                    "confinement");
  command->add_option("--peer-listen", options->peer_listen,
                      "ADDRESS[:PORT] where other workers of a chain call directly, or none "
                      "(default: the address towards the coordinator)");
  command->add_option(
      "--peer-address", options->peer_address,
      "ADDRESS[:PORT] that they are told instead, behind a NAT with a forwarded port");
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
      "An invitation for a worker that you trust, or for a client that is to have credits\n\n"
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
  CLI::Option* worker = add("--worker", Kind::worker, "What it computes is believed (default)");
  CLI::Option* verifier =
      add("--verifier", Kind::verifier, "Its evidence decides between other workers, and convicts");
  add("--client", Kind::client, "Grants a client what weft serve --grant says")
      ->excludes(worker)
      ->excludes(verifier);
  verifier->excludes(worker);
  command->add_option("--days", options->days, "How long it counts")->check(CLI::Range(1, 3650));
  command->add_option("--for", options->wallet, "The wallet that may use it (default: any)")
      ->type_name("ADDRESS");
  command->callback(
      [options, &chosen] { chosen = [options] { return invite_command(*options); }; });
}

void add_rotate_key(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<RotateKeyOptions>();
  CLI::App* command = app.add_subcommand(
      "rotate-key",
      "Gives a coordinator that is stopped a new key, which its old one announces\n\n"
      "Command lines that know the old key follow. The old one stays in the data folder, and\n"
      "invitations that it signed no longer count.\n\n"
      "  weft rotate-key --data DIR");
  command->add_option("--data", options->data, "The coordinator's data folder")->type_name("DIR");
  command->callback(
      [options, &chosen] { chosen = [options] { return rotate_key_command(*options); }; });
}

void add_plan(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan",
      "What so many workers would give: P = N * G * E / (1 + L / C)\n\n"
      "  weft plan --workers 10,100 --gflops 500 --latency-ms 80 --task-ms 400\n"
      "  weft plan --task-gflop 2000 --task-mbytes 4 --mbit 50 --replicas 2 --tasks 5000\n"
      "  weft plan --workers 100 --simulate --json             beside what the scheduler makes of "
      "them");
  command
      ->add_option("--workers", options->workers, "N: how many; several for a row each: 1,10,100")
      ->delimiter(',')
      ->check(CLI::Range(1, 20'000));
  command->add_option("--gflops", options->gflops,
                      "G: GFLOP/s of one worker ('weft bench gpu' measures)");
  command->add_option("--efficiency", options->efficiency,
                      "E: share of a worker's time that is spent on work that counts");
  command->add_option("--latency-ms", options->latency_ms, "Of L: there and back");
  command
      ->add_option("--task-mbytes", options->task_mbytes,
                   "Of L: megabytes that a task fetches and sends")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--mbit", options->mbit, "A worker's connection, Mbit/s")
      ->check(CLI::PositiveNumber);
  CLI::Option* task_ms =
      command->add_option("--task-ms", options->task_ms, "C: what a task computes on one worker");
  command
      ->add_option("--task-gflop", options->task_gflop,
                   "The work of a task, instead of --task-ms: C = work / G")
      ->excludes(task_ms);
  command->add_option("--tasks", options->tasks, "Of the job")->check(CLI::Range(1, 100'000'000));
  command->add_option("--replicas", options->replicas, "Of each task")->check(CLI::Range(1, 7));
  command->add_flag("--simulate", options->simulate,
                    "Run the job through the scheduler in simulated time as well");
  command
      ->add_option("--slots", options->slots,
                   "Simulated: tasks that a worker holds; from two on the next is fetched ahead")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--spread", options->spread,
                   "Simulated: how unlike the tasks are (sigma of a log-normal)")
      ->check(CLI::Range(0.0, 3.0));
  command->add_flag("--json", options->json, "One JSON document on standard output");
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
      "Models that a coordinator's workers answer with: language models, and ONNX models\n\n"
      "  weft model add llama-3.2-1b.gguf --coordinator http://127.0.0.1:7300 --wait\n"
      "  weft model add mnist.onnx --coordinator http://127.0.0.1:7300\n"
      "  weft model list --coordinator http://127.0.0.1:7300");
  model->require_subcommand(1);
  auto options = std::make_shared<ServedModelOptions>();
  const auto common = [options](CLI::App* command) {
    add_coordinator(*command, options->coordinator);
    add_tls(*command, options->tls);
  };
  CLI::App* add = model->add_subcommand(
      "add",
      "Gives a GGUF file to the coordinator, whose workers fetch the layers that they serve, or an "
      "ONNX file, which they run for each request");
  add->add_option("file", options->file, "The model")->required()->check(CLI::ExistingFile);
  add->add_option("--name", options->name, "How it is asked for (default: the file's name)");
  add->add_option("--shards", options->shards, "Workers that share its layers at least")
      ->check(CLI::Range(1, 64));
  add->add_option("--price", options->price,
                  "Credits for 1,000 tokens (default: by its size, docs/pricing.md)")
      ->check(CLI::NonNegativeNumber);
  add->add_option("--wire", options->wire,
                  "How hidden states travel between them: f32, f16 or i8 (default: as the "
                  "coordinator has it)")
      ->check(CLI::IsMember({"f32", "f16", "i8"}));
  add->add_option("--size", options->sizes,
                  "NAME=SIZE: a number for a size that an ONNX model has as a name")
      ->type_name("NAME=SIZE");
  add->add_option("--wallet", options->wallet,
                  "Wallet file; made when missing (default: ~/.config/weft/wallet.json)")
      ->type_name("FILE");
  add->add_flag("--wait", options->wait, "Until it can be asked");
  add->add_flag("--json", options->json, "One JSON document on standard output");
  common(add);
  add->callback([options, &chosen] { chosen = [options] { return model_add_command(*options); }; });
  CLI::App* list = model->add_subcommand("list", "The models, and whether they can be asked");
  list->add_flag("--json", options->json, "One JSON document on standard output");
  common(list);
  list->callback(
      [options, &chosen] { chosen = [options] { return model_list_command(*options); }; });
  CLI::App* remove = model->add_subcommand("remove", "Serves it no more");
  remove->add_option("name", options->name, "The model")->required();
  remove
      ->add_option("--wallet", options->wallet,
                   "The wallet that added it (default: ~/.config/weft/wallet.json)")
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
