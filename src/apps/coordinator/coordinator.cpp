#include "apps/coordinator/coordinator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <thread>
#include <unistd.h>

#include <sys/file.h>

#include "apps/coordinator/checkpoint_blobs.h"
#include "apps/coordinator/http.h"
#include "apps/coordinator/intake.h"
#include "apps/coordinator/serving/ice_servers.h"
#include "apps/coordinator/serving/placement.h"
#include "apps/coordinator/session.h"
#include "apps/coordinator/watch_feed.h"
#include "common/base/log.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/wallet.h"
#include "service/net/tls.h"
#include "service/store/memory/memory_store.h"
#include "service/store/sqlite/sqlite_store.h"

namespace weft::coordinator {

namespace {

constexpr MicroCredits loopback_grant = 100'000'000'000;  // 100,000 credits: a hundred of the examples.

constexpr std::string_view no_web_page = R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Weft</title>
<style>body{font:16px/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>This Weft coordinator is running.</h1>
<p>Its web page has not been built here. Build it with <code>./weft build</code>, or name its folder with <code>weft serve --web DIR</code>.</p>
<p>Native workers join with <code>weft work --coordinator URL</code>. See <a href="/v1/info">/v1/info</a>, <a href="/v1/jobs">/v1/jobs</a>, <a href="/v1/workers">/v1/workers</a>.</p>)";

// Holds the data folder for one coordinator; the kernel lets go of it when the process ends, however it ends.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::filesystem::path& folder) {
    const auto path = folder / "lock";
    const int descriptor = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0)
      return fail(ErrorCode::invalid_argument, "The data folder {} (--data) cannot be written: {}.", folder.string(), std::strerror(errno));
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      close(descriptor);
      return fail(ErrorCode::unavailable, "Another coordinator is running on the data folder {}; stop it, or choose another folder with --data.",
                  folder.string());
    }
    return FolderLock(descriptor);
  }
  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

class PeerLine final : public Line {
 public:
  explicit PeerLine(std::shared_ptr<net::Peer> peer) : peer_(std::move(peer)) {}
  void send_text(std::string text) override { peer_->send_text(std::move(text)); }
  void close(std::string reason) override { peer_->close(std::move(reason)); }
  std::optional<Duration> round_trip() const override { return peer_->round_trip(); }

 private:
  const std::shared_ptr<net::Peer> peer_;
};

Result<std::unique_ptr<store::Store>> open_store(const Options& options) {
  if (options.store == "memory:") return store::memory::create();
  constexpr std::string_view sqlite = "sqlite:";
  if (options.store.starts_with(sqlite)) {
    const auto path = options.store.substr(sqlite.size());
    return store::sqlite::open(path.empty() ? options.data / "weft.db" : std::filesystem::path(path));
  }
  return fail(ErrorCode::invalid_argument, "--store {} is none that this build knows: it takes sqlite:, sqlite:PATH or memory:.", options.store);
}

Result<std::optional<net::TlsFiles>> tls_of(const Options& options) {
  if (options.tls_self_signed && !options.tls_cert.empty())
    return fail(ErrorCode::invalid_argument, "Either --tls-self-signed or --tls-cert, not both.");
  if (options.tls_cert.empty() != options.tls_key.empty()) return fail(ErrorCode::invalid_argument, "--tls-cert and --tls-key go together.");
  if (!options.tls_cert.empty()) return net::TlsFiles{.certificate = options.tls_cert, .key = options.tls_key};
  if (options.tls_self_signed) {
    auto names = net::local_names();
    if (options.listen != "0.0.0.0" && options.listen != "::" && !std::ranges::contains(names, options.listen)) names.push_back(options.listen);
    WEFT_ASSIGN(auto files, net::self_signed(options.data / "tls", names, unix_now()));
    return files;
  }
  if (!options.insecure && !net::is_loopback(options.listen)) {
    return fail(ErrorCode::invalid_argument,
                "{} is reached by other machines, so the connection must be encrypted: add --tls-self-signed (or --tls-cert FILE --tls-key FILE), or "
                "--insecure to do "
                "without. Over plain http:// browsers on other machines have no WebGPU and cannot work.",
                options.listen);
  }
  return std::nullopt;
}

// How language models are served. Tokens of direct lines live as long as a chain's epoch, and so may the secret as long as this process.
Result<DeskSettings> desk_settings(const Options& options) {
  DeskSettings out{.wire = options.wire};
  WEFT_ASSIGN(out.strategy, parse_strategy(options.partition));
  WEFT_ASSIGN(auto ice, IceServers::read(options.ice_servers));
  if (!ice.empty()) out.ice = [ice = std::move(ice)](const PublicKey& worker) { return ice.issue(worker.text(), unix_now()); };
  constexpr std::size_t secret_bytes = 32;
  out.secret.resize(secret_bytes);
  crypto::random_bytes(out.secret);
  return out;
}

class LiveCoordinator final : public Coordinator, private World {
 public:
  LiveCoordinator(Options options, ShaderChecker checker, FolderLock lock, crypto::KeyPair identity, std::unique_ptr<store::Store> store,
                  std::unique_ptr<store::Blobs> blobs, std::unique_ptr<net::Server> server)
      : options_(std::move(options)),
        checker_(std::move(checker)),
        lock_(std::move(lock)),
        identity_(std::move(identity)),
        store_(std::move(store)),
        blobs_(std::move(blobs)),
        intake_(*blobs_),
        server_(std::move(server)),
        commits_(std::make_unique<store::GroupCommit>(
            *store_, store::GroupCommit::Options{.wait_max = std::chrono::milliseconds(1), .before_commit = [this] { return blobs_->sync(); }})) {}
  ~LiveCoordinator() override { stop(); }

  Result<> run() {
    WEFT_ASSIGN(DeskSettings desk, desk_settings(options_));
    WEFT_ASSIGN(models_, ModelService::open(options_.data, book_, std::move(desk)));
    WEFT_ASSIGN(blob_parts_, store::BlobParts::open(*blobs_, options_.data / "parts", {.bytes_max = options_.blobs_bytes_max}));
    WEFT_ASSIGN(auto loaded, store_->load());
    WEFT_ASSIGN(options_.core.secret, secret_of(loaded));
    core_ = std::make_unique<Core>(Core::Parts{.world = *this, .store = *store_, .blobs = *blobs_, .book = book_}, options_.core);
    WEFT_OK(core_->restore(std::move(loaded), {.at = now(), .unix = unix_now()}));
    const auto cores = std::max(2U, std::thread::hardware_concurrency());
    checks_ = std::make_unique<Pool>(Pool::Options{.threads = cores});
    readers_ = std::make_unique<Pool>(Pool::Options{.threads = 2});
    submitters_ = std::make_unique<Pool>(Pool::Options{.threads = 2, .queue_max = 1024});
    guests_ = std::make_unique<Guests>(options_.guest_requests);
    models_->listen({.ended =
                         [this](AnswerReport report) {
                           loop_.post_always([report = std::move(report)](Core& core, Moment moment) { core.answered(report, moment); });
                         },
                     .audited =
                         [this](AnswerAudited audited) {
                           loop_.post_always([audited = std::move(audited)](Core& core, Moment moment) { core.answer_audited(audited, moment); });
                         }});
    look_for_strays();
    loop_.start(*core_);
    feed_.start();
    models_->start();
    add_routes();
    return server_->start();
  }

  // As other machines reach it, where it listens on all addresses.
  std::string url() const override {
    if (options_.listen != "0.0.0.0" && options_.listen != "::") return server_->url();
    std::string host = "127.0.0.1";
    for (const auto& name : net::local_names()) {
      const bool is_v4 = name.find_first_not_of("0123456789.") == std::string::npos;
      if (is_v4 && !net::is_loopback(name)) host = name;
    }
    return std::format("{}://{}:{}", server_->url().starts_with("https") ? "https" : "http", host, server_->port());
  }
  const PublicKey& key() const override { return identity_.public_key(); }

  void stop() override {
    if (!core_) return;
    models_->stop();
    server_->stop();
    feed_.stop();
    strays_ = {};  // Which ends it and waits.
    // Each hands on to those below it.
    submitters_.reset();
    checks_.reset();
    loop_.stop();
    readers_.reset();
    commits_.reset();
    core_.reset();
  }

 private:
  // On a thread of its own: a cold disk with many blobs takes minutes.
  void look_for_strays() {
    strays_ = std::jthread([this, candidates = blobs_->files(), named = core_->checkpoints()](const std::stop_token& stop) {
      each_stray_checkpoint(*blobs_, candidates, named, stop,
                            [&](const Hash& blob) { loop_.post_always([blob](Core& core, Moment) { core.forget_stray(blob); }); });
    });
  }

  // Of the referee's draws: made at the first start and kept.
  Result<trust::Secret> secret_of(const store::Loaded& loaded) {
    constexpr std::string_view name = "trust-secret";
    trust::Secret secret;
    const auto stored = std::ranges::find(loaded.settings, name, &store::Setting::name);
    if (stored != loaded.settings.end()) {
      if (stored->value.size() != secret.bytes.size()) return fail(ErrorCode::data_loss, "The stored secret has {} bytes.", stored->value.size());
      std::ranges::copy(stored->value, secret.bytes.begin());
      return secret;
    }
    crypto::random_bytes(secret.bytes);
    store::Batch batch;
    batch.settings.push_back({.name = std::string(name), .value = {secret.bytes.begin(), secret.bytes.end()}});
    WEFT_OK(store_->commit(batch));
    return secret;
  }

  void add_routes() {
    const HttpParts parts{.server = *server_,
                          .loop = loop_,
                          .readers = *readers_,
                          .submitters = *submitters_,
                          .store = *store_,
                          .blobs = *blobs_,
                          .blob_parts = *blob_parts_,
                          .book = book_,
                          .models = *models_,
                          .guests = *guests_,
                          .require_keys = options_.require_keys.value_or(!net::is_loopback(options_.listen)),
                          .checker = checker_,
                          .bounds = options_.submission,
                          .blob_bytes_max = options_.blob_bytes_max,
                          .info = {.software = "weft/" WEFT_VERSION,
                                   .protocol = protocol::version,
                                   .coordinator = key().text(),
                                   .tls = server_->url().starts_with("https"),
                                   .grant = options_.core.grant,
                                   .blob_bytes_max = options_.blob_bytes_max}};
    add_job_routes(parts);
    add_blob_routes(parts);
    add_ledger_routes(parts);
    add_proof_routes(parts);
    add_view_routes(parts);
    server_->socket(feed_.route());
    add_model_routes(parts);
    add_key_routes(parts);
    add_client_routes(parts);
    add_stake_routes(parts);
    server_->socket({.path = "/v1/worker",
                     .message_bytes_max = protocol::frame_bytes_max,
                     .opened = [this](std::shared_ptr<net::Peer> peer) { open(std::move(peer)); },
                     .text =
                         [this](const std::shared_ptr<net::Peer>& peer, std::string text) {
                           if (auto session = find(peer->id())) session->on_text(std::move(text));
                         },
                     .binary =
                         [this](const std::shared_ptr<net::Peer>& peer, std::string bytes) {
                           if (auto session = find(peer->id())) session->on_binary(std::move(bytes));
                         },
                     .oversized =
                         [this](const std::shared_ptr<net::Peer>& peer, std::size_t bytes) {
                           if (auto session = find(peer->id())) session->on_oversized(bytes);
                         },
                     .closed =
                         [this](const std::shared_ptr<net::Peer>& peer) {
                           auto session = sessions_.with([&](auto& sessions) {
                             auto node = sessions.extract(peer->id());
                             return node.empty() ? nullptr : node.mapped();
                           });
                           if (session) session->on_closed();
                         },
                     .cost = 1});
  }

  void open(std::shared_ptr<net::Peer> peer) {
    const SessionId id = peer->id();
    auto session =
        std::make_shared<Session>(Session::Parts{.id = id,
                                                 .coordinator = key(),
                                                 .book = book_,
                                                 .intake = intake_,
                                                 .line = std::make_shared<PeerLine>(std::move(peer)),
                                                 .secret = options_.core.secret,
                                                 .core = [this](Loop::Event event) { return loop_.post(std::move(event)); },
                                                 .work = [this, id](std::function<void()> work) { return checks_->post(id, std::move(work)); }});
    sessions_.with([&](auto& sessions) { sessions.emplace(id, std::move(session)); });
  }

  std::shared_ptr<Session> find(SessionId id) const {
    return sessions_.with([&](const auto& sessions) {
      const auto found = sessions.find(id);
      return found == sessions.end() ? nullptr : found->second;
    });
  }

  // --- World, called on the loop's thread.
  void send(SessionId id, protocol::CoordinatorMessage message) override {
    if (auto session = find(id)) session->send(message);
  }
  void close(SessionId id, protocol::ErrorMessage why) override {
    if (auto session = find(id)) session->end(why);
  }
  void commit(store::Batch batch, std::function<void(Result<>)> done) override {
    const auto back = [this, done](Result<> result) { loop_.post_always([done, result](Core&, Moment) { done(result); }); };
    // The core keeps few commits in flight, so the queue never fills.
    if (auto queued = commits_->submit(std::move(batch), back); !queued) back(queued);
  }
  void join(JoinOrder order) override {
    auto shared = std::make_shared<const JoinOrder>(std::move(order));
    const auto work = [this, shared] {
      auto outputs = intake_.join(*shared->manifest, shared->parts);
      loop_.post_always([id = shared->job, outputs = std::move(outputs)](Core& core, Moment moment) { core.joined(id, outputs, moment); });
    };
    if (!readers_->post(std::hash<JobId>()(shared->job), work)) {
      // Too busy now; the job waits, and its tasks are safe.
      loop_.post_always([this, shared](Core&, Moment) { join(*shared); });
    }
  }
  void inspect(AuditOrder order) override {
    auto shared = std::make_shared<const AuditOrder>(std::move(order));
    const auto work = [this, shared] {
      const auto outcome = intake_.inspect(*shared);
      loop_.post_always([shared, outcome](Core& core, Moment moment) { core.inspected(shared->task, shared->auditor, outcome, moment); });
    };
    if (!readers_->post(std::hash<TaskId>()(shared->task), work)) {
      loop_.post_always([this, shared](Core&, Moment) { inspect(*shared); });
    }
  }
  void audit_answer(const AnswerAuditOrder& order) override { models_->audit(order); }
  void answer_settled(const AnswerId& answer) override { models_->settled(answer); }
  void bar_server(const PublicKey& worker) override { models_->bar(worker); }
  void compare(CompareOrder order) override {
    auto shared = std::make_shared<const CompareOrder>(std::move(order));
    const auto work = [this, shared] {
      loop_.post_always([result = intake_.compare(*shared)](Core& core, Moment moment) { core.compared(result, moment); });
    };
    if (!readers_->post(std::hash<TaskId>()(shared->task), work)) {
      loop_.post_always([this, shared](Core&, Moment) { compare(*shared); });
    }
  }
  void forget(std::vector<Hash> blobs) override {
    const std::size_t turn = blobs.empty() ? 0 : std::hash<Hash>()(blobs.front());
    const auto work = [this, blobs = std::move(blobs)] {
      for (const Hash& blob : blobs) {
        if (const auto removed = blobs_->remove(blob); !removed) log_debug("The blob {} stays: {}", blob.text(), removed.error().message);
      }
    };
    if (!readers_->post(turn, work)) log_debug("Some blobs stay: too much is being read.");
  }
  std::optional<Duration> round_trip(SessionId id) const override {
    const auto session = find(id);
    return session ? session->round_trip() : std::nullopt;
  }
  void fatal(const Error& error) override {
    log_error(
        "The store refuses a commit, so what is in memory is not what is stored: {} Start the coordinator again; it goes on from what is stored.",
        error.message);
    std::_Exit(1);
  }
  JobId new_job_id() override { return JobId{{crypto::ordered_id()}}; }

  // In the order in which they are needed; destroyed the other way round.
  Options options_;
  ShaderChecker checker_;
  FolderLock lock_;
  crypto::KeyPair identity_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<store::BlobParts> blob_parts_;
  Book book_;
  Intake intake_;
  std::unique_ptr<ModelService> models_;
  std::unique_ptr<Guests> guests_;
  std::unique_ptr<net::Server> server_;
  Guarded<std::map<SessionId, std::shared_ptr<Session>>> sessions_;
  std::unique_ptr<Core> core_;
  Loop loop_;
  WatchFeed feed_{loop_};
  std::unique_ptr<store::GroupCommit> commits_;
  std::unique_ptr<Pool> checks_;
  std::unique_ptr<Pool> readers_;
  std::unique_ptr<Pool> submitters_;
  std::jthread strays_;
};

}  // namespace

Result<std::unique_ptr<Coordinator>> Coordinator::start(Options options, ShaderChecker checker) {
  std::error_code error;
  std::filesystem::create_directories(options.data, error);
  if (error) return fail(ErrorCode::invalid_argument, "The data folder {} (--data) cannot be made: {}.", options.data.string(), error.message());
  WEFT_ASSIGN(auto lock, FolderLock::take(options.data));
  WEFT_ASSIGN(auto tls, tls_of(options));
  options.core.grant = options.grant.value_or(net::is_loopback(options.listen) ? loopback_grant : 0);
  WEFT_ASSIGN(auto identity, crypto::load_or_create_wallet(options.data / "coordinator.json"));
  WEFT_ASSIGN(auto store, open_store(options));
  WEFT_ASSIGN(auto blobs, store::Blobs::open(options.data / "blobs", {.bytes_max = options.blobs_bytes_max}));
  net::Server::Options serving{.address = options.listen,
                               .port = options.port,
                               .tls = std::move(tls),
                               .scratch = options.data / "incoming",
                               .web = options.web,
                               .no_web_page = std::string(no_web_page)};
  serving.upload_bytes_max = options.blob_bytes_max;
  if (options.rate_limit <= 0) {
    serving.rate_limit.reset();
  } else {
    serving.rate_limit = net::RateLimit::Options{.per_second = options.rate_limit, .burst = 4 * options.rate_limit};
  }
  WEFT_ASSIGN(auto server, net::Server::create(std::move(serving)));
  auto coordinator = std::make_unique<LiveCoordinator>(std::move(options), std::move(checker), std::move(lock), std::move(identity), std::move(store),
                                                       std::move(blobs), std::move(server));
  WEFT_OK(coordinator->run());
  return coordinator;
}

}  // namespace weft::coordinator
