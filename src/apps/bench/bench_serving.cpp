#include "apps/bench/bench_serving.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "apps/bench/bench_clients.h"
#include "apps/bench/bench_processes.h"
#include "apps/bench/bench_rows.h"
#include "apps/bench/model_speed.h"
#include "apps/cli/installation.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "platform/net/client.h"

namespace weft::cli {

namespace {

// The prompt of all rows, escaped for JSON.
constexpr std::string_view prompt = "KING RICHARD III:\\nNow is the winter of";

// A grammar of more words than any measured answer has, so that no answer ends before its last
// token.
constexpr std::string_view words_only =
    R"(,"grammar":"root ::= (word \" \"){400}\nword ::= [a-zA-Z,.']+")";

// A grammar whose allowed tokens change at each token.
constexpr std::string_view by_turns = R"(,"grammar":"root ::= ([a-z] [0-9]){1000}")";

// A coordinator, its workers, and the model in one chain over all workers.
class Network {
 public:
  struct Shape {
    std::uint32_t shards = 1;
    bool direct = true;
    std::string wire = "f32";
    bool own_cores =
        false;  // Gives every worker its own share of the cores, as on separate machines.
  };
  static Result<std::unique_ptr<Network>> start(const Shape& shape,
                                                const BenchServingOptions& options,
                                                const std::filesystem::path& folder) {
    std::unique_ptr<Network> out(new Network);
    std::filesystem::create_directories(folder);
    WEFT_ASSIGN(out->server_, CoordinatorProcess::start(folder / "coordinator",
                                                        {"--activations", options.activations}));
    const std::string url = weft::format("http://127.0.0.1:{}", out->server_->port());
    for (std::uint32_t i = 0; i < shape.shards; ++i) {
      std::vector<std::string> arguments{own_executable().string(),
                                         "work",
                                         "--coordinator",
                                         url,
                                         "--wallet",
                                         (folder / weft::format("worker-{}.json", i)).string()};
      if (options.adapters.empty()) {
        arguments.insert(arguments.end(), {"--device", "cpu"});
      } else {
        arguments.insert(
            arguments.end(),
            {"--adapter", std::to_string(options.adapters[i % options.adapters.size()])});
      }
      const std::uint32_t cores = std::thread::hardware_concurrency() / shape.shards;
      if (shape.own_cores && cores > 0)
        arguments.insert(arguments.begin(),
                         {"taskset", "-c", weft::format("{}-{}", i * cores, (i + 1) * cores - 1)});
      if (options.model_memory_mb > 0)
        arguments.insert(arguments.end(),
                         {"--model-memory-mb", std::to_string(options.model_memory_mb)});
      if (!shape.direct) arguments.insert(arguments.end(), {"--peer-listen", "none"});
      WEFT_ASSIGN(auto worker,
                  ChildProcess::start(
                      {.arguments = arguments,
                       .environment = {weft::format(
                           "XDG_CACHE_HOME={}", (folder / weft::format("cache-{}", i)).string())},
                       .on_line = {}}));
      out->workers_.push_back(std::move(worker));
    }
    WEFT_ASSIGN(out->client_, net::Client::create({.url = url, .connections = 1024}));
    // Waits for all workers before the model is added, so that its chain uses all of them.
    const Instant give_up = now() + std::chrono::seconds(60);
    for (std::uint32_t serving = 0; serving < shape.shards;) {
      WEFT_ASSIGN(const net::Response answer, out->client_->send_now(net::get("/v1/serving")));
      serving = 0;
      for (std::size_t at = 0; (at = answer.body.find("\"memory_bytes\"", at)) != std::string::npos;
           ++at)
        ++serving;
      if (now() > give_up)
        return fail(ErrorCode::unavailable, "The workers do not join the coordinator in time.");
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    WEFT_ASSIGN(
        const auto add,
        ChildProcess::start(
            {.arguments = {own_executable().string(), "model", "add", options.model.string(),
                           "--name", "bench", "--shards", std::to_string(shape.shards), "--wire",
                           shape.wire, "--coordinator", url, "--wallet",
                           (folder / "client.json").string(), "--wait"},
             .environment = {},
             .on_line = {}}));
    while (add->running()) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      if (now() > give_up + std::chrono::minutes(5))
        return fail(ErrorCode::unavailable, "The workers do not serve the model in time.");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (add->stop(std::chrono::seconds(1)) != 0)
      return fail(ErrorCode::unavailable, "The model cannot be added.\n{}",
                  out->server_->last_words());
    return out;
  }

  // Sends `requests` requests at a time. Returns the seconds until their answers are complete, and
  // the transport of the chain. The first `held` requests follow a grammar. If other requests run
  // beside them, only the other requests are timed.
  Result<std::pair<double, std::string>> answer(std::uint32_t requests, std::uint32_t tokens,
                                                std::uint32_t held = 0,
                                                std::string_view grammar = words_only) {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint32_t left = requests, timed = held < requests ? requests - held : requests;
    std::string trouble, transport;
    const Instant begun = now();
    double took = 0;
    for (std::uint32_t i = 0; i < requests; ++i) {
      net::Request request = net::post(
          "/v1/completions",
          weft::format(R"({{"model":"bench","prompt":"{}","max_tokens":{},"temperature":0{}}})",
                       prompt, tokens, i < held ? grammar : ""));
      request.timeout = std::chrono::minutes(5);
      const bool is_timed = i >= held || held == requests;
      client_->send(std::move(request), [&, is_timed](const Result<net::Response>& answer) {
        const std::lock_guard lock(mutex);
        if (is_timed && --timed == 0) took = seconds(now() - begun);
        if (!answer) {
          trouble = answer.error().message;
        } else if (!answer->ok()) {
          trouble = answer->body;
        } else if (!answer->body.contains(weft::format(R"("completion_tokens":{})", tokens))) {
          trouble = "The answer does not have the number of tokens that was asked for.";
        } else {
          for (const std::string_view word : {"self", "tcp", "relay", "webrtc"}) {
            if (answer->body.contains(weft::format(R"("transport":"{}")", word))) transport = word;
          }
        }
        if (--left == 0) changed.notify_all();
      });
    }
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return left == 0; });
    if (!trouble.empty())
      return fail(ErrorCode::unavailable, "{}\n{}", trouble, server_->last_words());
    return std::pair(took, transport);
  }
  // Tokens a second of all timed requests, without the prompt and the latency: the difference
  // between a long answer and an answer of one token.
  Result<double> rate(std::uint32_t requests, std::uint32_t tokens, std::uint32_t held = 0,
                      std::string_view grammar = words_only) {
    WEFT_ASSIGN(const auto one, answer(requests, 1, held, grammar));
    WEFT_ASSIGN(const auto many, answer(requests, tokens, held, grammar));
    transport_ = many.second;
    const std::uint32_t timed = held < requests ? requests - held : requests;
    return timed * (tokens - 1) / std::max(many.first - one.first, 1e-9);
  }
  [[nodiscard]] const std::string& transport() const { return transport_; }
  [[nodiscard]] net::Client& client() { return *client_; }
  [[nodiscard]] std::string last_words() { return server_->last_words(); }

 private:
  Network() = default;
  std::unique_ptr<CoordinatorProcess> server_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
  std::unique_ptr<net::Client> client_;
  std::string transport_;
};

class Bench {
 public:
  explicit Bench(const BenchServingOptions& options) : options_(options) {}

  Result<std::vector<BenchServingRow>> run() {
    if (!options_.clients.empty()) {
      WEFT_OK(clients());
      return std::move(rows_);
    }
    if (wants("hop")) WEFT_OK(hops());
    if (wants("shards")) WEFT_OK(shards());
    if (wants("relay"))
      WEFT_OK(against("relay", {.shards = 2, .direct = false}, {.shards = 2}, "direct lines"));
    if (wants("wire/f16"))
      WEFT_OK(against("wire/f16", {.shards = 2, .wire = "f16"}, {.shards = 2}, "f32"));
    if (wants("wire/i8"))
      WEFT_OK(against("wire/i8", {.shards = 2, .wire = "i8"}, {.shards = 2}, "f32"));
    if (wants("concurrent")) WEFT_OK(concurrent());
    if (wants("cards")) WEFT_OK(cards());
    if (wants("grammar")) WEFT_OK(grammar());
    return std::move(rows_);
  }

 private:
  [[nodiscard]] bool wants(std::string_view row) const { return wants_row(options_.only, row); }
  static void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }
  std::filesystem::path folder() {
    return scratch_.path() / weft::format("network-{}", next_folder_++);
  }

  void add(std::string name, const std::vector<double>& ours, std::string peer,
           const std::vector<double>& theirs, std::string goal, bool reached, std::string unit,
           std::string note) {
    const Spread value = spread(ours), other = spread(theirs);
    rows_.push_back({.name = std::move(name),
                     .value = value.median,
                     .unit = std::move(unit),
                     .peer = std::move(peer),
                     .peer_value = other.median,
                     .ratio = other.median > 0 ? value.median / other.median : 0,
                     .goal = std::move(goal),
                     .reached = reached,
                     .min = value.min,
                     .max = value.max,
                     .peer_min = other.min,
                     .peer_max = other.max,
                     .rounds = static_cast<std::uint32_t>(ours.size()),
                     .note = std::move(note)});
  }

  Result<> hops() {
    std::vector<double> line99, raw99, line50, raw50;
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      WEFT_ASSIGN(const HopTimes times, measure_hops(scratch_.path(), options_.hops));
      line99.push_back(percentile(times.line_us, 0.99));
      raw99.push_back(percentile(times.raw_us, 0.99));
      line50.push_back(percentile(times.line_us, 0.5));
      raw50.push_back(percentile(times.raw_us, 0.5));
      say(weft::format(
          "hop, round {}: p99 {:.0f} us, bare socket {:.0f} us; median {:.0f} and {:.0f}",
          round + 1, line99.back(), raw99.back(), line50.back(), raw50.back()));
    }
    add("hop/tcp p50", line50, "bare socket", raw50, "", false, "us, 10 KB there and back",
        "TLS 1.3, framed, checked for its session");
    add("hop/tcp p99", line99, "bare socket", raw99, "", false, "us, 10 KB there and back", "");
    return {};
  }

  // Tokens a second of the engine alone. It runs in turn with the network, so that other load on
  // the machine affects both.
  Result<double> alone(LanguageModel& model) {
    double rate = 0;
    SpeedTests tests{.prompt = 0,
                     .tokens = options_.tokens,
                     .depths = {16},
                     .sequences = {1},
                     .rounds = 1,
                     .warm_up_s = 0.1};
    WEFT_OK(measure_speed(
        model, tests, [&](const Speed& speed) { rate = speed.median(); },
        [](std::string_view, std::uint32_t, std::uint32_t) {}, [] { return interrupted(); }));
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    return rate;
  }
  Result<> shards() {
    LanguageModelOptions alone_options;
    alone_options.model = options_.model.string();
    alone_options.device = options_.adapters.empty() ? "cpu" : "gpu";
    if (!options_.adapters.empty()) alone_options.adapter = options_.adapters.front();
    alone_options.context = options_.tokens + 64;
    WEFT_ASSIGN(const auto model, LanguageModel::open(alone_options));
    for (const std::uint32_t count : {1u, 2u, 3u}) {
      if (!wants(weft::format("shards/{}", count))) continue;
      WEFT_ASSIGN(const auto network, Network::start({.shards = count}, options_, folder()));
      std::vector<double> ours, theirs;
      WEFT_ASSIGN([[maybe_unused]] const double warm, network->rate(1, options_.tokens));
      for (std::uint32_t round = 0; round < options_.rounds; ++round) {
        WEFT_ASSIGN(const double by_itself, alone(*model));
        WEFT_ASSIGN(const double rate, network->rate(1, options_.tokens));
        ours.push_back(rate);
        theirs.push_back(by_itself);
        say(weft::format("{} shards, round {}: {:.1f} tokens/s over {}, {:.1f} by itself", count,
                         round + 1, rate, network->transport(), by_itself));
      }
      const double ratio = spread(ours).median / std::max(spread(theirs).median, 1e-9);
      add(weft::format("shards/{}", count), ours, "the engine by itself", theirs,
          count == 2 ? ">= 0.9" : "", ratio >= 0.9, "token/s", "over " + network->transport());
    }
    return {};
  }

  // The seconds that the engine takes to read a prompt of `prompt` tokens for each sequence, one
  // after another, and then to decode `tokens` tokens of all sequences together.
  static Async<Result<double>> answer_all(llm::Engine& engine, std::uint32_t sequences,
                                          std::uint32_t prompt, std::uint32_t tokens,
                                          std::uint32_t seed) {
    std::vector<llm::SequenceId> all;
    const Instant begun = now();
    for (std::uint32_t i = 0; i < sequences; ++i) {
      WEFT_CO_ASSIGN(const llm::SequenceId id, engine.open());
      all.push_back(id);
      std::vector<llm::Token> text;
      for (std::uint32_t k = 0; k < prompt; ++k)
        text.push_back(static_cast<llm::Token>((seed * 7919 + i * 104'729 + k * 31) %
                                               engine.config().vocabulary));
      WEFT_CO_OK(co_await engine.append(id, std::move(text)));
    }
    for (std::uint32_t i = 0; i < tokens; ++i) {
      if (interrupted()) co_return fail(ErrorCode::cancelled, "Interrupted.");
      WEFT_CO_OK(co_await engine.draw(all, tokens - 1 - i));
    }
    const double took = seconds(now() - begun);
    for (const llm::SequenceId id : all) engine.close(id);
    co_return took;
  }
  // Measures the network first and the engine alone afterwards, because each needs the whole
  // device.
  Result<> clients() {
    struct Served {
      std::uint32_t clients = 0, prompt = 0;
      std::vector<double> rates{}, answers{};
    };
    std::vector<Served> all;
    {
      WEFT_ASSIGN(const auto network, Network::start({}, options_, folder()));
      std::uint64_t seed = 0;
      for (const std::uint32_t count : options_.clients) {
        Served served{.clients = count};
        ClientLoad load{.clients = count,
                        .requests = count * options_.requests_each,
                        .prompt_words = options_.prompt_words,
                        .tokens = options_.tokens};
        for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
          if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
          load.seed = ++seed;
          auto times = measure_clients(network->client(), load);
          if (!times)
            return fail(times.error().code, "{}\n{}", times.error().message, network->last_words());
          if (times->refused > 0 || times->answer_s.empty())
            return fail(ErrorCode::unavailable, "{} of {} requests are refused.", times->refused,
                        load.requests);
          const double rate = static_cast<double>(times->answer_tokens) / times->wall_s;
          say(weft::format(
              "{} clients, round {}: {:.0f} tokens/s, an answer {:.0f} ms, p99 {:.0f} ms", count,
              round, rate, percentile(times->answer_s, 0.5) * 1e3,
              percentile(times->answer_s, 0.99) * 1e3));
          served.prompt = static_cast<std::uint32_t>(times->prompt_tokens / times->answer_s.size());
          if (round == 0) {
            // The first round is a warm-up; its rate sets the rate of random arrivals.
            if (options_.arrivals == "poisson")
              load.per_s = 0.8 * static_cast<double>(times->answer_s.size()) / times->wall_s;
            continue;
          }
          served.rates.push_back(rate);
          served.answers.push_back(percentile(times->answer_s, 0.5));
        }
        all.push_back(std::move(served));
      }
    }
    LanguageModelOptions alone_options;
    alone_options.model = options_.model.string();
    alone_options.device = options_.adapters.empty() ? "cpu" : "gpu";
    if (!options_.adapters.empty()) alone_options.adapter = options_.adapters.front();
    alone_options.activations = options_.activations;
    alone_options.sequences = std::min(256u, std::ranges::max(options_.clients));
    for (const Served& served : all)
      alone_options.context = std::max(alone_options.context, served.prompt + options_.tokens + 8);
    WEFT_ASSIGN(const auto model, LanguageModel::open(alone_options));
    for (Served& served : all) {
      std::vector<double> theirs;
      const std::uint32_t sequences = std::min(served.clients, alone_options.sequences);
      for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
        WEFT_ASSIGN(const double took,
                    model->run(answer_all(model->engine(), sequences, served.prompt,
                                          options_.tokens, round)));
        if (round > 0) theirs.push_back(static_cast<double>(sequences) * options_.tokens / took);
      }
      add(weft::format("clients/{}", served.clients), served.rates, "the engine by itself", theirs,
          "", false, "token/s",
          weft::format("{}, prompts of {} tokens, {} answered; an answer takes {:.0f} ms",
                       options_.arrivals, served.prompt, options_.tokens,
                       spread(served.answers).median * 1e3));
    }
    return {};
  }

  Result<> against(std::string name, const Network::Shape& one, const Network::Shape& other,
                   std::string peer) {
    std::vector<double> ours, theirs;
    WEFT_ASSIGN(const auto network, Network::start(one, options_, folder()));
    WEFT_ASSIGN(const auto control, Network::start(other, options_, folder()));
    for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
      WEFT_ASSIGN(const double theirs_now, control->rate(1, options_.tokens));
      WEFT_ASSIGN(const double ours_now, network->rate(1, options_.tokens));
      if (round == 0) continue;  // The first round is a warm-up.
      ours.push_back(ours_now);
      theirs.push_back(theirs_now);
      say(weft::format("{}, round {}: {:.1f} tokens/s, {} {:.1f}", name, round, ours_now, peer,
                       theirs_now));
    }
    add(std::move(name), ours, std::move(peer), theirs, "", false, "token/s",
        weft::format("2 shards, over {} and {}", network->transport(), control->transport()));
    return {};
  }

  Result<> concurrent() {
    std::vector<double> ours, theirs;
    WEFT_ASSIGN(
        const auto network,
        Network::start({.shards = 2, .own_cores = options_.adapters.empty()}, options_, folder()));
    for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
      WEFT_ASSIGN(const double one, network->rate(1, options_.tokens));
      WEFT_ASSIGN(const double eight, network->rate(8, options_.tokens));
      if (round == 0) continue;
      ours.push_back(eight);
      theirs.push_back(one);
      say(weft::format("concurrent, round {}: {:.1f} tokens/s of 8 requests, {:.1f} of one", round,
                       eight, one));
    }
    add("concurrent", ours, "one request", theirs, "", false, "token/s, 8 requests",
        options_.adapters.empty()
            ? "2 shards, each on half of the cores; at most 4 requests under way at a time"
            : "2 shards");
    return {};
  }

  // Compares a chain of two workers that gets many requests with one worker that has all layers and
  // gets the same requests.
  Result<> cards() {
    WEFT_ASSIGN(const auto two, Network::start({.shards = 2}, options_, folder()));
    WEFT_ASSIGN(const auto one, Network::start({.shards = 1}, options_, folder()));
    struct Row {
      std::uint32_t requests;
      double least;  // The ratio that must be reached.
    };
    for (const Row row : {Row{1, 0.85}, Row{16, 0.9}, Row{256, 1.5}}) {
      std::vector<double> ours, theirs;
      for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
        WEFT_ASSIGN(const double apart, two->rate(row.requests, options_.tokens));
        WEFT_ASSIGN(const double whole, one->rate(row.requests, options_.tokens));
        if (round == 0) continue;
        ours.push_back(apart);
        theirs.push_back(whole);
        say(weft::format("cards/{}, round {}: {:.1f} tokens/s of two workers, {:.1f} of one",
                         row.requests, round, apart, whole));
      }
      const double ratio = spread(ours).median / std::max(spread(theirs).median, 1e-9);
      add(weft::format("cards/{}", row.requests), ours, "one worker", theirs,
          weft::format(">= {}", row.least), ratio >= row.least,
          weft::format("token/s, {} request{}", row.requests, row.requests == 1 ? "" : "s"),
          "2 shards over " + two->transport());
    }
    return {};
  }

  // Compares a client whose answer follows a grammar with a client without a grammar, and measures
  // how much a client with a grammar slows seven others.
  Result<> grammar() {
    std::vector<double> held, plain, beside, among, changing, beside_changing;
    WEFT_ASSIGN(const auto network, Network::start({.shards = 1}, options_, folder()));
    constexpr std::uint32_t clients = 8;
    for (std::uint32_t round = 0; round < options_.rounds + 1; ++round) {
      WEFT_ASSIGN(const double bare, network->rate(1, options_.tokens));
      WEFT_ASSIGN(const double one, network->rate(1, options_.tokens, 1));
      WEFT_ASSIGN(const double all, network->rate(clients, options_.tokens));
      WEFT_ASSIGN(const double others, network->rate(clients, options_.tokens, 1));
      WEFT_ASSIGN(const double turns, network->rate(1, options_.tokens, 1, by_turns));
      WEFT_ASSIGN(const double beside_turns, network->rate(clients, options_.tokens, 1, by_turns));
      if (round == 0) continue;
      plain.push_back(bare);
      held.push_back(one);
      among.push_back(all / clients);
      beside.push_back(others / (clients - 1));
      changing.push_back(turns);
      beside_changing.push_back(beside_turns / (clients - 1));
      say(weft::format(
          "grammar, round {}: {:.1f} tokens/s with one, {:.1f} without; others {:.1f} "
          "beside it, {:.1f} among themselves; {:.1f} and {:.1f} with one that changes "
          "what is allowed with each token",
          round, one, bare, beside.back(), among.back(), turns, beside_changing.back()));
    }
    constexpr double held_min = 0.75, others_min = 0.97;
    add("grammar", held, "without one", plain, ">= 0.75",
        spread(held).median >= held_min * spread(plain).median, "token/s, 1 request", "");
    add("grammar/others", beside, "8 without", among, ">= 0.97",
        spread(beside).median >= others_min * spread(among).median, "token/s each, 7 requests",
        "one of 8 requests is held to a grammar");
    add("grammar/changing", changing, "without one", plain, ">= 0.75",
        spread(changing).median >= held_min * spread(plain).median, "token/s, 1 request",
        "what is allowed changes with each token");
    add("grammar/changing others", beside_changing, "8 without", among, ">= 0.97",
        spread(beside_changing).median >= others_min * spread(among).median,
        "token/s each, 7 requests", "what is allowed to one of 8 requests changes with each token");
    return {};
  }

  const BenchServingOptions options_;
  const ScratchFolder scratch_{"weft-bench-serving"};
  std::vector<BenchServingRow> rows_;
  std::uint32_t next_folder_ = 0;
};

void print_table(const std::vector<BenchServingRow>& rows) {
  std::printf("%-14s %10s %-26s %20s  %-22s %10s %20s %7s  %s\n", "what", "value", "unit", "range",
              "beside", "", "range", "ratio", "goal");
  for (const auto& row : rows) {
    std::printf(
        "%-14s %10.1f %-26s %20s  %-22s %10.1f %20s %7.2f  %s\n", row.name.c_str(), row.value,
        row.unit.c_str(), weft::format("{:.1f}-{:.1f}", row.min, row.max).c_str(), row.peer.c_str(),
        row.peer_value, weft::format("{:.1f}-{:.1f}", row.peer_min, row.peer_max).c_str(),
        row.ratio,
        row.goal.empty() ? "-"
                         : weft::format("{}: {}", row.goal, row.reached ? "yes" : "no").c_str());
    if (!row.note.empty()) std::printf("    %s\n", row.note.c_str());
  }
}

}  // namespace

int bench_serving_command(const BenchServingOptions& given) {
  BenchServingOptions options = given;
  if (options.model.empty())
    options.model = installation_folder() / "tests/data/tiny/tiny-llama-chat-q8_0.gguf";
  note_interruptions();
  const auto rows = unless_interrupted(Bench(options).run());
  return report_rows("bench serving", rows, options.json, print_table);
}

}  // namespace weft::cli
