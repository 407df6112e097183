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
  CLI::App* gpu =
      bench.add_subcommand("gpu", "Dispatch cost, bandwidths and matrix rates of a GPU");
  gpu->add_option("--adapter", options->adapter,
                  "Which GPU, by its number in --list (default: the best one)");
  gpu->add_flag("--list", options->list, "List the GPUs and stop");
  gpu->add_flag("--strangers", options->strangers,
                "With validation and bounds checks on, as strangers' shaders run");
  gpu->add_flag("--json", options->json, "One JSON document on standard output");
  gpu->callback([options, &chosen] { chosen = [options] { return bench_gpu_command(*options); }; });
}

void add_bench_llm(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchLlmOptions>();
  CLI::App* llm = bench.add_subcommand(
      "llm",
      "How fast language models read and write\n\n"
      "  weft bench llm --model a.gguf --model b.gguf --depth 0,4096 --sequences 1,8 --json");
  llm->add_option("--model", options->models, "A GGUF file; may be given several times")
      ->required()
      ->type_name("FILE");
  llm->add_option("--device", options->model.device, "gpu, cpu or a part of a GPU's name");
  llm->add_option("--adapter", options->model.adapter,
                  "The GPU's number in 'weft bench gpu --list'");
  llm->add_option("--activations", options->model.activations,
                  "f32, int8 for speed, or f16 for many sequences at once")
      ->type_name("{f32,int8,f16}");
  llm->add_option("--kv", options->model.kv, "How keys and values are kept: f32, f16 or q8_0")
      ->type_name("{f32,f16,q8_0}");
  llm->add_option("--threads", options->model.threads,
                  "Of the CPU engine; 0 for as many as the machine has")
      ->check(CLI::Range(0, 256));
  llm->add_option("--prompt", options->tests.prompt, "Tokens of a prefill; 0 to leave it out");
  llm->add_option("--tokens", options->tests.tokens, "Tokens drawn in a round; 0 to leave it out");
  llm->add_option("--depth", options->tests.depths, "Positions before the drawn tokens: 0,4096")
      ->delimiter(',');
  llm->add_option("--sequences", options->tests.sequences, "How many are drawn together: 1,4,8")
      ->delimiter(',');
  llm->add_option("--rounds", options->tests.rounds, "Of every test; the median counts");
  llm->add_flag("--json", options->json, "One JSON document on standard output");
  llm->callback([options, &chosen] { chosen = [options] { return bench_llm_command(*options); }; });
}

void add_bench_embed(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchEmbedOptions>();
  CLI::App* embed =
      bench.add_subcommand("embed",
                           "How fast a bert or nomic-bert model makes vectors of texts\n\n"
                           "  weft bench embed --model m.gguf --texts 32 --tokens 128 --json");
  embed->add_option("--model", options->model.model, "A GGUF file; one without a tokenizer will do")
      ->required()
      ->type_name("FILE");
  embed->add_option("--device", options->model.device, "gpu or cpu")->type_name("{gpu,cpu}");
  embed->add_option("--adapter", options->model.adapter,
                    "The GPU's number in 'weft bench gpu --list'");
  embed
      ->add_option("--activations", options->model.activations,
                   "On a GPU: f32, or f16 for products in f16 where it has subgroup matrices")
      ->type_name("{f32,f16}");
  embed->add_option("--texts", options->texts, "Of a call")->check(CLI::Range(1, 2048));
  embed->add_option("--tokens", options->tokens, "Of a text")->check(CLI::Range(1, 1 << 20));
  embed->add_option("--rounds", options->rounds, "Calls that are measured; the median counts")
      ->check(CLI::Range(1, 1000));
  embed->add_flag("--json", options->json, "One JSON document on standard output");
  embed->callback(
      [options, &chosen] { chosen = [options] { return bench_embed_command(*options); }; });
}

void add_only(CLI::App& command, std::vector<std::string>& only, std::vector<std::string> rows) {
  const std::string all = CLI::detail::join(rows, ", ");
  command.add_option("--only", only, "Only these rows")
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
  CLI::App* command =
      bench.add_subcommand("coordinator",
                           "Jobs, leases and results a second, beside PostgreSQL and Redis\n\n"
                           "  weft bench coordinator --only lifecycle,batched --rounds 3");
  add_only(*command, options->only,
           {"floor", "signed_floor", "lifecycle", "verified", "batched", "sampled", "assign_p99",
            "deep_queue", "idle_workers", "recovery", "established"});
  command->add_option("--rounds", options->rounds, "Of every measurement; the median counts")
      ->check(CLI::Range(1, 100));
  command->add_option("--seconds", options->seconds, "Of a round")->check(CLI::Range(0.5, 600.0));
  command
      ->add_option("--workers", options->workers,
                   "Connected ones that work, and connections of the peers")
      ->check(CLI::Range(1, 180));
  command->add_option("--idle-latency", options->idle_latency,
                      "Idle workers while latency is measured");
  command
      ->add_option(
          "--offered", options->offered,
          "Jobs a second while latency is measured (default: half of what lifecycle reaches)")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--idle-memory", options->idle_memory,
                      "Idle workers while memory is measured");
  command
      ->add_option("--recovery-pending", options->recovery_pending,
                   "Untouched tasks when the coordinator starts again")
      ->check(CLI::Range(1, 100'000'000));
  command
      ->add_option("--recovery-running", options->recovery_running,
                   "Tasks with one of two replicas then, and as many settled ones")
      ->check(CLI::Range(0, 10'000'000));
  command->add_option("--recovery-jobs", options->recovery_jobs, "Jobs that they belong to")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--folder", options->folder,
                   "Where all programs keep their data (default: a temporary folder)")
      ->check(CLI::ExistingDirectory);
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_coordinator_command(*options); }; });
}

void add_bench_hostile(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchHostileOptions>();
  CLI::App* command = bench.add_subcommand(
      "hostile",
      "What honest workers and clients notice of connections that attack the port\n\n"
      "  weft bench hostile --connections 2000 --seconds 60");
  command->add_option("--connections", options->connections, "That attack, and idle ones before")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--addresses", options->addresses, "Of loopback, from which they come")
      ->check(CLI::Range(1, 65'534));
  command->add_option("--seconds", options->seconds, "Of each half")->check(CLI::Range(1, 86'400));
  command->add_option("--workers", options->workers, "Honest ones")->check(CLI::Range(1, 200));
  command->add_option("--clients", options->clients, "Honest ones")->check(CLI::Range(1, 200));
  command->add_option("--offered", options->offered, "Jobs a second of the honest clients")
      ->check(CLI::Range(1.0, 40.0));
  command->add_option("--generator-share", options->share, "Of a core, for the attacks")
      ->check(CLI::Range(0.01, 64.0));
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_hostile_command(*options); }; });
}

void add_bench_attacks(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchAttacksOptions>();
  CLI::App* command = bench.add_subcommand(
      "attacks",
      "What attackers get past a real coordinator, beside the simulator's outcome\n\n"
      "  weft bench attacks\n"
      "  weft bench attacks --strategy zeros,one-slice --tasks 200 --json\n"
      "  weft bench attacks --strategy sale --unverified   # without verification they succeed");
  command
      ->add_option("--strategy", options->strategies,
                   "Only these; weft simulate trust --list names them (default: fourteen)")
      ->type_name("NAME")
      ->delimiter(',');
  command->add_option("--tasks", options->tasks, "Of honest clients, for each strategy")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--simulations", options->simulations, "Runs of the simulator for each")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", options->seed, "Of what attackers draw");
  command->add_option("--task-ms", options->task_ms, "What a task takes a worker")
      ->check(CLI::Range(1.0, 10'000.0));
  command->add_option("--seconds-max", options->seconds_max, "For each strategy")
      ->check(CLI::Range(1.0, 3600.0));
  command->add_flag("--unverified", options->agreement_alone,
                    "Clients ask for agreement alone, so that nothing is verified");
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_attacks_command(*options); }; });
}

void add_bench_serving(CLI::App& bench, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchServingOptions>();
  CLI::App* command = bench.add_subcommand(
      "serving",
      "What it costs to spread a language model over workers of this machine\n\n"
      "  weft bench serving --model m.gguf --only shards,hop");
  command
      ->add_option("--model", options->model,
                   "A GGUF file with a tokenizer (default: the small one of the tests)")
      ->check(CLI::ExistingFile);
  add_only(*command, options->only,
           {"hop", "shards/1", "shards/2", "shards/3", "relay", "wire/f16", "wire/i8", "concurrent",
            "cards", "grammar"});
  command->add_option("--tokens", options->tokens, "Of an answer")->check(CLI::Range(2, 4096));
  command->add_option("--rounds", options->rounds, "Of every measurement; the median counts")
      ->check(CLI::Range(1, 100));
  command
      ->add_option("--adapter", options->adapters,
                   "GPUs by their numbers in 'weft bench gpu --list', 0,1 for a worker each "
                   "(default: the processor)")
      ->delimiter(',');
  command
      ->add_option(
          "--clients", options->clients,
          "Instead: so many clients at a time, 1,8,32 for a row each, beside the engine by "
          "itself")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--model-memory-mb", options->model_memory_mb,
                      "What a worker has for weights and caches (default: as 'weft work')");
  command->add_option("--requests", options->requests_each, "Of each client, in a round")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--prompt-words", options->prompt_words, "Of their prompts")
      ->check(CLI::Range(1, 10'000));
  command
      ->add_option("--arrivals", options->arrivals,
                   "When clients ask: closed (again when they have their answer) or poisson (at "
                   "random, 80 % of what closed reached)")
      ->check(CLI::IsMember({"closed", "poisson"}));
  command
      ->add_option("--activations", options->activations,
                   "What matrices are multiplied with: f32, int8 or f16")
      ->check(CLI::IsMember({"f32", "int8", "f16"}));
  command->add_option("--hops", options->hops, "Round trips in a round of hop")
      ->check(CLI::Range(100, 1'000'000));
  command->add_flag("--json", options->json, "One JSON document on standard output");
  command->callback(
      [options, &chosen] { chosen = [options] { return bench_serving_command(*options); }; });
}

}  // namespace

void add_bench_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* bench = app.add_subcommand("bench", "Measures what this machine can do");
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
