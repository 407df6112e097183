#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/bench/bench_attacks.h"
#include "apps/bench/bench_coordinator.h"
#include "apps/bench/bench_embed.h"
#include "apps/bench/bench_gpu.h"
#include "apps/bench/bench_hostile.h"
#include "apps/bench/bench_llm.h"
#include "apps/bench/bench_rows.h"
#include "apps/bench/bench_serving.h"
#include "apps/cli/commands/commands.h"

namespace weft::cli {
namespace {

void add_bench_gpu(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchGpuOptions>();
  CLI::App* gpu = bench.add_subcommand(
      "gpu", "Measures the dispatch cost, the bandwidths and the matrix rates of a GPU");
  gpu->add_option("--adapter", options->adapter,
                  "Number of the GPU in --list (default: the best GPU)");
  gpu->add_flag("--list", options->list, "List the GPUs and exit");
  gpu->add_flag("--strangers", options->strangers,
                "Measure with validation and bounds checks, as for shaders of strangers");
  gpu->add_flag("--json", options->json, "Print one JSON document on standard output");
  gpu->callback([options, &chosen] { chosen = [options] { return bench_gpu_command(*options); }; });
}

void add_bench_llm(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchLlmOptions>();
  CLI::App* llm = bench.add_subcommand(
      "llm",
      "Measures how fast language models read prompts and write answers\n\n"
      "  weft bench llm --model a.gguf --model b.gguf --depth 0,4096 --sequences 1,8 --json");
  llm->add_option("--model", options->models, "GGUF file of a model (repeatable)")
      ->required()
      ->type_name("FILE");
  llm->add_option("--device", options->model.device,
                  "Device to use: gpu, cpu or a part of a GPU's name");
  llm->add_option("--adapter", options->model.adapter,
                  "Number of the GPU in 'weft bench gpu --list'");
  llm->add_option("--activations", options->model.activations,
                  "Type of activations: f32, int8 for speed, or f16 for many sequences at once")
      ->type_name("{f32,int8,f16}");
  llm->add_option("--kv", options->model.kv,
                  "Type of the keys and values in the cache: f32, f16 or q8_0")
      ->type_name("{f32,f16,q8_0}");
  llm->add_option("--threads", options->model.threads,
                  "Threads of the CPU engine (0: as many as the machine has)")
      ->check(CLI::Range(0, 256));
  llm->add_option("--prompt", options->tests.prompt,
                  "Tokens of the prompt in a prefill test (0: no prefill test)");
  llm->add_option("--tokens", options->tests.tokens,
                  "Tokens drawn in a round of a decoding test (0: no decoding test)");
  llm->add_option("--depth", options->tests.depths,
                  "Positions in the cache before the first drawn token, such as 0,4096")
      ->delimiter(',');
  llm->add_option("--sequences", options->tests.sequences,
                  "Number of sequences decoded together, such as 1,4,8")
      ->delimiter(',');
  llm->add_option("--rounds", options->tests.rounds, "Rounds of each test; the median is reported");
  llm->add_flag("--json", options->json, "Print one JSON document on standard output");
  llm->callback([options, &chosen] { chosen = [options] { return bench_llm_command(*options); }; });
}

void add_bench_embed(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchEmbedOptions>();
  CLI::App* embed = bench.add_subcommand(
      "embed",
      "Measures how fast a bert or nomic-bert model converts texts to vectors\n\n"
      "  weft bench embed --model m.gguf --texts 32 --tokens 128 --json");
  embed
      ->add_option("--model", options->model.model,
                   "GGUF file of the model; a tokenizer is not needed")
      ->required()
      ->type_name("FILE");
  embed->add_option("--device", options->model.device, "Device to use: gpu or cpu")
      ->type_name("{gpu,cpu}");
  embed->add_option("--adapter", options->model.adapter,
                    "Number of the GPU in 'weft bench gpu --list'");
  embed
      ->add_option("--activations", options->model.activations,
                   "Type of activations on a GPU: f32, or f16 if the GPU has f16 subgroup matrices")
      ->type_name("{f32,f16}");
  embed->add_option("--texts", options->texts, "Number of texts in one call")
      ->check(CLI::Range(1, 2048));
  embed->add_option("--tokens", options->tokens, "Length of each text, in tokens")
      ->check(CLI::Range(1, 1 << 20));
  embed->add_option("--rounds", options->rounds, "Number of measured calls; the median is reported")
      ->check(CLI::Range(1, 1000));
  embed->add_flag("--json", options->json, "Print one JSON document on standard output");
  embed->callback(
      [options, &chosen] { chosen = [options] { return bench_embed_command(*options); }; });
}

void add_only(CLI::App& command, std::vector<std::string>& only, std::vector<std::string> rows) {
  const std::string all = CLI::detail::join(rows, ", ");
  command.add_option("--only", only, "Measure only these rows, by name or prefix")
      ->type_name("{" + CLI::detail::join(rows, ",") + "}")
      ->delimiter(',')
      ->check(CLI::Validator(
          [rows = std::move(rows), all](const std::string& name) {
            const bool known = std::ranges::any_of(rows, [&](const std::string& row) {
              return !name.empty() && wants_row({name}, row);
            });
            return known ? std::string()
                         : "there is no row \"" + name + "\"; there are " + all + ".";
          },
          ""));
}

void add_bench_coordinator(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchCoordinatorOptions>();
  CLI::App* command = bench.add_subcommand(
      "coordinator",
      "Measures jobs, leases and results a second, compared with PostgreSQL and Redis\n\n"
      "  weft bench coordinator --only lifecycle,batched --rounds 3");
  add_only(*command, options->only,
           {"floor", "signed_floor", "lifecycle", "verified", "batched", "sampled", "assign_p99",
            "deep_queue", "idle_workers", "recovery", "established"});
  command
      ->add_option("--rounds", options->rounds,
                   "Rounds of each measurement; the median is reported")
      ->check(CLI::Range(1, 100));
  command->add_option("--seconds", options->seconds, "Length of a round, in seconds")
      ->check(CLI::Range(0.5, 600.0));
  command
      ->add_option("--workers", options->workers,
                   "Number of connected workers, and of connections to each peer")
      ->check(CLI::Range(1, 180));
  command->add_option("--idle-latency", options->idle_latency,
                      "Number of idle workers while latency is measured");
  command
      ->add_option(
          "--offered", options->offered,
          "Jobs a second while latency is measured (default: half the rate of row lifecycle)")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--idle-memory", options->idle_memory,
                      "Number of idle workers while memory is measured");
  command
      ->add_option("--recovery-pending", options->recovery_pending,
                   "Recovery: tasks that were not leased before the restart")
      ->check(CLI::Range(1, 100'000'000));
  command
      ->add_option("--recovery-running", options->recovery_running,
                   "Recovery: tasks with one of two replicas; as many more are settled")
      ->check(CLI::Range(0, 10'000'000));
  command
      ->add_option("--recovery-jobs", options->recovery_jobs,
                   "Recovery: number of jobs that contain the tasks")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--folder", options->folder,
                   "Folder for the data of all measured programs (default: a temporary folder)")
      ->check(CLI::ExistingDirectory);
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_coordinator_command(*options); }; });
}

void add_bench_hostile(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchHostileOptions>();
  CLI::App* command = bench.add_subcommand(
      "hostile",
      "Measures honest workers and clients while connections attack the coordinator's port\n\n"
      "  weft bench hostile --connections 2000 --seconds 60");
  command
      ->add_option("--connections", options->connections,
                   "Number of attacking connections; as many are idle in the control")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--addresses", options->addresses,
                   "Number of loopback addresses that the attacks come from")
      ->check(CLI::Range(1, 65'534));
  command
      ->add_option("--seconds", options->seconds,
                   "Length of the attack and of the control, in seconds each")
      ->check(CLI::Range(1, 86'400));
  command->add_option("--workers", options->workers, "Number of honest workers")
      ->check(CLI::Range(1, 200));
  command->add_option("--clients", options->clients, "Number of honest clients")
      ->check(CLI::Range(1, 200));
  command
      ->add_option("--offered", options->offered,
                   "Jobs a second that the honest clients submit, all together")
      ->check(CLI::Range(1.0, 40.0));
  command
      ->add_option("--generator-share", options->share,
                   "Share of a processor core that the attacks may use")
      ->check(CLI::Range(0.01, 64.0));
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_hostile_command(*options); }; });
}

void add_bench_attacks(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchAttacksOptions>();
  CLI::App* command = bench.add_subcommand(
      "attacks",
      "Measures what attackers get past a real coordinator, and compares it with the simulator\n\n"
      "  weft bench attacks\n"
      "  weft bench attacks --strategy zeros,one-slice --tasks 200 --json\n"
      "  weft bench attacks --strategy sale --unverified   # without verification they succeed");
  command
      ->add_option("--strategy", options->strategies,
                   "Play only these strategies of 'weft simulate trust --list' (default: fourteen)")
      ->type_name("NAME")
      ->delimiter(',');
  command->add_option("--tasks", options->tasks, "Tasks of honest clients for each strategy")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--simulations", options->simulations, "Runs of the simulator for each strategy")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "Seed of the attackers' random choices");
  command
      ->add_option("--task-ms", options->task_ms,
                   "Time that a worker takes for a task, in milliseconds")
      ->check(CLI::Range(1.0, 10'000.0));
  command
      ->add_option("--seconds-max", options->seconds_max,
                   "Time limit for each strategy, in seconds")
      ->check(CLI::Range(1.0, 3600.0));
  command->add_flag(
      "--unverified", options->agreement_alone,
      "Submit jobs that need only agreement of workers, so that no result is verified");
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_attacks_command(*options); }; });
}

void add_bench_serving(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchServingOptions>();
  CLI::App* command = bench.add_subcommand(
      "serving",
      "Measures what it costs to spread a language model over workers of this machine\n\n"
      "  weft bench serving --model m.gguf --only shards,hop");
  command
      ->add_option("--model", options->model,
                   "GGUF file with a tokenizer (default: the small model of the tests)")
      ->check(CLI::ExistingFile);
  add_only(*command, options->only,
           {"hop", "shards/1", "shards/2", "shards/3", "relay", "wire/f16", "wire/i8", "concurrent",
            "cards", "grammar"});
  command->add_option("--tokens", options->tokens, "Length of an answer, in tokens")
      ->check(CLI::Range(2, 4096));
  command
      ->add_option("--rounds", options->rounds,
                   "Rounds of each measurement; the median is reported")
      ->check(CLI::Range(1, 100));
  command
      ->add_option("--adapter", options->adapters,
                   "Numbers of GPUs in 'weft bench gpu --list', such as 0,1, a worker on each "
                   "(default: the processor)")
      ->delimiter(',');
  command
      ->add_option("--clients", options->clients,
                   "Measure only concurrent clients: a row for each number, such as 1,8,32, "
                   "compared with the engine alone")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option(
      "--model-memory-mb", options->model_memory_mb,
      "Memory of a worker for weights and caches, in MiB (default: that of 'weft work')");
  command->add_option("--requests", options->requests_each, "Requests of each client in a round")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--prompt-words", options->prompt_words, "Words of a prompt")
      ->check(CLI::Range(1, 10'000));
  command
      ->add_option("--arrivals", options->arrivals,
                   "Arrival of requests: closed (after the answer before) or poisson (random, at "
                   "80 % of the closed rate)")
      ->check(CLI::IsMember({"closed", "poisson"}));
  command
      ->add_option("--activations", options->activations,
                   "Type of activations in matrix products: f32, int8 or f16")
      ->check(CLI::IsMember({"f32", "int8", "f16"}));
  command->add_option("--hops", options->hops, "Round trips in a round of row hop")
      ->check(CLI::Range(100, 1'000'000));
  command->add_flag("--json", options->json, "Print one JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_serving_command(*options); }; });
}

}  // namespace

void add_bench_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* bench = app.add_subcommand(
      "bench", "Measures the speed of this machine, of models and of a coordinator");
  bench->require_subcommand(1);
  add_bench_attacks(*bench, chosen);
  add_bench_coordinator(*bench, chosen);
  add_bench_gpu(*bench, chosen);
  add_bench_llm(*bench, chosen);
  add_bench_embed(*bench, chosen);
  add_bench_serving(*bench, chosen);
  add_bench_hostile(*bench, chosen);
}

}  // namespace weft::cli
