#include "apps/coordinator/coordinator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <thread>
#include <unistd.h>

#include "apps/coordinator/disk_reserve.h"
#include "apps/coordinator/folder_lock.h"
#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/owner_quotas.h"
#include "apps/coordinator/http/watch_feed.h"
#include "apps/coordinator/ice_servers.h"
#include "apps/coordinator/ingest/corrections.h"
#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/restoring.h"
#include "apps/coordinator/ingest/retries.h"
#include "apps/coordinator/ingest/session.h"
#include "apps/coordinator/key_rotation.h"
#include "apps/coordinator/private_folder.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/invitation.h"
#include "common/crypto/wallet.h"
#include "common/protocol/digests.h"
#include "decisions/inference/placement.h"
#include "platform/net/address.h"
#include "platform/net/tls.h"
#include "platform/store/memory/memory_store.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator {

namespace {

constexpr MicroCredits default_grant =
    100'000'000'000;  // 100,000 credits: a hundred of the examples.

constexpr std::string_view no_web_page =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Weft</title>
<style>body{font:16px/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>This Weft coordinator is running.</h1>
<p>Its web page has not been built here. Build it with <code>./weft build</code>, or name its folder with <code>weft serve --web DIR</code>.</p>
<p>Native workers join with <code>weft work --coordinator URL</code>. See <a href="/v1/info">/v1/info</a>, <a href="/v1/jobs">/v1/jobs</a>, <a href="/v1/workers">/v1/workers</a>.</p>)";

class PeerLine final : public Line {
 public:
  explicit PeerLine(std::shared_ptr<net::Peer> peer) : peer_(std::move(peer)) {}
  void send_text(std::string text) override { peer_->send_text(std::move(text)); }
  void close(std::string reason) override { peer_->close(std::move(reason)); }
  void admit() override { peer_->admit(); }
  void recognise() override { peer_->recognise(); }
  std::optional<Duration> round_trip() const override { return peer_->round_trip(); }

 private:
  const std::shared_ptr<net::Peer> peer_;
};

Result<std::unique_ptr<store::Store>> open_store(const Options& options) {
  if (options.store == "memory:") return store::memory::create();
  constexpr std::string_view sqlite = "sqlite:";
  if (options.store.starts_with(sqlite)) {
    const auto path = options.store.substr(sqlite.size());
    return store::sqlite::open(path.empty() ? options.data / "weft.db"
                                            : std::filesystem::path(path));
  }
  return fail(
      ErrorCode::invalid_argument,
      "--store {} is not a store that this build knows: it takes sqlite:, sqlite:PATH or memory:.",
      options.store);
}

Result<std::optional<net::TlsFiles>> tls_of(const Options& options) {
  if (options.tls_self_signed && !options.tls_cert.empty())
    return fail(ErrorCode::invalid_argument, "Either --tls-self-signed or --tls-cert, not both.");
  if (options.tls_cert.empty() != options.tls_key.empty())
    return fail(ErrorCode::invalid_argument, "--tls-cert and --tls-key go together.");
  if (!options.tls_cert.empty())
    return net::TlsFiles{.certificate = options.tls_cert, .key = options.tls_key};
  if (options.tls_self_signed) {
    auto names = net::local_names();
    if (options.listen != "0.0.0.0" && options.listen != "::" &&
        !std::ranges::contains(names, options.listen))
      names.push_back(options.listen);
    WEFT_ASSIGN(auto files, net::self_signed(options.data / "tls", names, unix_now()));
    return files;
  }
  if (!options.insecure && !net::is_loopback(options.listen)) {
    return fail(
        ErrorCode::invalid_argument,
        "{} is reached by other machines, so the connection must be encrypted: add "
        "--tls-self-signed (or --tls-cert FILE --tls-key FILE), or "
        "--insecure to do "
        "without. Over plain http:// browsers on other machines have no WebGPU and cannot work.",
        options.listen);
  }
  return std::nullopt;
}

// How language models are served; `book` outlives the settings. Tokens of direct lines live as long
// as a chain's epoch, and so may the secret as long as this process.
Result<inference::DeskSettings> desk_settings(const Options& options, const jobs::Book& book) {
  inference::DeskSettings out{.activations = options.activations, .wire = options.wire};
  out.newcomers_answer = options.submission.anyone;
  WEFT_ASSIGN(out.strategy, inference::parse_strategy(options.partition));
  WEFT_ASSIGN(auto ice, IceServers::read(options.ice_servers));
  if (!ice.empty())
    out.ice = [ice = std::move(ice), &book,
               known_only = options.relays_for_known_only](const PublicKey& worker) {
      const bool may = !known_only || book.is_known(worker);
      return ice.issue(worker.text(), unix_now(),
                       may ? IceServers::For::known : IceServers::For::stranger);
    };
  constexpr std::size_t secret_bytes = 32;
  out.secret.resize(secret_bytes);
  crypto::random_bytes(out.secret);
  return out;
}

class LiveCoordinator final : public Coordinator, private jobs::World {
 public:
  LiveCoordinator(Options options, ShaderChecker checker, PartRunnerFactory runner,
                  TextReaderFactory texts, FolderLock lock, crypto::KeyPair identity,
                  std::unique_ptr<store::Store> store, std::unique_ptr<store::Blobs> blobs,
                  std::unique_ptr<net::Server> server)
      : options_(std::move(options)),
        checker_(std::move(checker)),
        runner_(std::move(runner)),
        lock_(std::move(lock)),
        identity_(std::move(identity)),
        store_(std::move(store)),
        blobs_(std::move(blobs)),
        intake_(*blobs_),
        text_readers_(std::move(texts)),
        server_(std::move(server)),
        commits_(std::make_unique<store::GroupCommit>(
            *store_, store::GroupCommit::Options{
                         .wait_max = std::chrono::milliseconds(1),
                         .before_commit = [this] { return blobs_->sync(); },
                         .disk_full = [this](bool full) { reserve_.disk_full(full); }})) {}
  ~LiveCoordinator() override { stop(); }

  Result<> run() {
    WEFT_ASSIGN(inference::DeskSettings desk, desk_settings(options_, book_));
    WEFT_ASSIGN(rotations_, read_rotations(options_.data));
    WEFT_ASSIGN(blob_parts_, store::BlobParts::open(*blobs_, options_.data / "parts",
                                                    {.bytes_max = options_.blobs_bytes_max}));
    WEFT_OK(take_models_file(options_.data / "models.jsonl", *store_));
    book_.when_ended([this](const manifest::Manifest& ended) { intake_.forget(ended); });
    WEFT_ASSIGN(auto loaded, store_->load());
    WEFT_ASSIGN(options_.core.secret, secret_of(loaded));
    WEFT_ASSIGN(models_, ModelService::open(*commits_, std::move(loaded.models), book_,
                                            std::move(desk), options_.core.answers));
    core_ = std::make_unique<jobs::Core>(jobs::Core::Parts{.world = *this, .book = book_},
                                         options_.core);
    WEFT_ASSIGN(auto restored, look_up(std::move(loaded), *store_, *blobs_, unix_now()));
    WEFT_OK(core_->restore(std::move(restored), {.at = now(), .unix = unix_now()}));
    const auto cores = std::max(2U, std::thread::hardware_concurrency());
    checks_ = std::make_unique<runtime::Pool>(runtime::Pool::Options{.threads = cores});
    readers_ = std::make_unique<runtime::Pool>(runtime::Pool::Options{.threads = 2});
    // Jobs end however many clients read.
    joins_ = std::make_unique<runtime::Pool>(runtime::Pool::Options{.threads = 2});
    submitters_ =
        std::make_unique<runtime::Pool>(runtime::Pool::Options{.threads = 4, .queue_max = 1024});
    if (options_.fallback) {
      WEFT_ASSIGN(fallback_, Fallback::create(*options_.fallback));
    }
    guests_ = std::make_unique<Guests>(options_.guest_requests);
    texts_ = std::make_unique<ModelTexts>(*blobs_, text_readers_);
    models_->set_texts(*texts_);
    models_->set_operator(key().text());
    models_->listen({.ended =
                         [this](billing::AnswerReport report) {
                           loop_.post_always(
                               [report = std::move(report)](jobs::Core& core, jobs::Moment moment) {
                                 core.answered(report, moment);
                               });
                         },
                     .audited =
                         [this](billing::AnswerAudited audited) {
                           loop_.post_always([audited = std::move(audited)](jobs::Core& core,
                                                                            jobs::Moment moment) {
                             core.answer_audited(audited, moment);
                           });
                         }});
    WEFT_OK(write_invite());
    if (runner_) {
      verifier_ = std::make_unique<Verifier>(
          *blobs_, runner_,
          [this](const jobs::VerifyOrder& order, const jobs::Checked& checked) {
            loop_.post_always([task = order.task, root = order.root, paid = order.paid, checked](
                                  jobs::Core& core, jobs::Moment moment) {
              paid ? core.rechecked(task, root, checked, moment)
                   : core.verified(task, root, checked, moment);
            });
          },
          [this](const JobId& job, std::optional<scheduler::Measurement> measurement) {
            loop_.post_always([job, measurement](jobs::Core& core, jobs::Moment moment) {
              core.measured(job, measurement, moment);
            });
          });
    }
    loop_.start(*core_);
    feed_.start();
    models_->start();
    add_routes();
    shared_.start();
    lists_.start();
    sweep_.start();
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
    return weft::format("{}://{}:{}", server_->url().starts_with("https") ? "https" : "http", host,
                        server_->port());
  }
  const PublicKey& key() const override { return identity_.public_key(); }

  void stop() override {
    if (!core_) return;
    models_->stop();
    texts_.reset();
    server_->stop();
    fallback_.reset();
    feed_.stop();
    shared_.stop();
    lists_.stop();
    sweep_.stop();
    // Each hands on to those below it.
    retries_.stop();
    submitters_.reset();
    checks_.reset();
    loop_.stop();
    verifier_.reset();
    joins_.reset();
    readers_.reset();
    commits_.reset();
    core_.reset();
  }

 private:
  // The secret of the referee's draws: made at the first start and kept.
  Result<trust::Secret> secret_of(const store::Loaded& loaded) {
    constexpr std::string_view name = "trust-secret";
    trust::Secret secret;
    const auto stored = std::ranges::find(loaded.secrets, name, &store::Secret::name);
    if (stored != loaded.secrets.end()) {
      secret.bytes = stored->value.bytes;
      return secret;
    }
    crypto::random_bytes(secret.bytes);
    store::Batch batch;
    batch.secrets.push_back({.name = std::string(name), .value = {secret.bytes}});
    WEFT_OK(store_->commit(batch));
    return secret;
  }

  void add_routes() {
    const HttpParts parts{
        .server = *server_,
        .loop = loop_,
        .readers = *readers_,
        .submitters = *submitters_,
        .store = *store_,
        .blobs = *blobs_,
        .blob_parts = *blob_parts_,
        .book = book_,
        .models = *models_,
        .guests = *guests_,
        .responses = responses_,
        .fallback = fallback_.get(),
        .shared = shared_,
        .lists = lists_,
        .signatures = signatures_,
        .require_keys = options_.require_keys.value_or(others_reach(options_)),
        .checker = checker_,
        .bounds = options_.submission,
        .blob_bytes_max = options_.blob_bytes_max,
        .uploads = uploads_,
        .uploads_by_lease = options_.uploads_by_lease,
        .reads_by_lease = options_.reads_by_lease,
        .owner_data_bytes_max = options_.owner_data_bytes_max,
        .signs_parts = options_.signs_parts,
        .grants_to_strangers = !options_.core.grants_need_invitation && options_.core.grant > 0,
        .invite_file = invite_file_,
        .info = {.software = "weft/" WEFT_VERSION,
                 .protocol = protocol::version,
                 .coordinator = key().text(),
                 .tls = server_->url().starts_with("https"),
                 .grant = options_.core.grant,
                 .blob_bytes_max = options_.blob_bytes_max},
        .sign = [this](ByteSpan digest) { return identity_.sign_now(digest); },
        .rotations = rotations_,
        .links = JobLinks(options_.core.secret.bytes),
        .verifies = runner_ != nullptr,
        .verification_permille = options_.core.verification_permille};
    server_->quotas([quotas = QuotaParts{.book = book_,
                                         .uploads = uploads_,
                                         .models = *models_,
                                         .jobs_max = options_.core.jobs_per_client_max,
                                         .tasks_max = options_.core.tasks_per_client_max,
                                         .coordinator = key()}](const std::string& client) {
      const auto asks = PublicKey::parse(client);
      return asks ? quotas_of(quotas, *asks, now()) : std::vector<net::Quota>();
    });
    add_identity_route(parts);
    add_job_routes(parts);
    add_blob_routes(parts);
    add_ledger_routes(parts);
    add_proof_routes(parts);
    add_verdict_routes(parts);
    add_quote_routes(parts);
    add_view_routes(parts);
    server_->socket(feed_.route());
    add_model_routes(parts);
    add_answer_routes(parts);
    add_key_routes(parts);
    add_client_routes(parts);
    add_stake_routes(parts);
    add_standing_routes(parts);
    add_owner_routes(parts);
    add_owner_data_routes(parts);
    server_->socket({.path = "/v1/worker",
                     .greets = true,
                     .message_bytes_max = protocol::frame_bytes_max,
                     .opened = [this](std::shared_ptr<net::Peer> peer) { open(std::move(peer)); },
                     .text =
                         [this](const std::shared_ptr<net::Peer>& peer, std::string text) {
                           if (auto session = find(jobs::SessionId(peer->id())))
                             session->on_text(std::move(text));
                         },
                     .binary =
                         [this](const std::shared_ptr<net::Peer>& peer, std::string bytes) {
                           if (auto session = find(jobs::SessionId(peer->id())))
                             session->on_binary(std::move(bytes));
                         },
                     .oversized =
                         [this](const std::shared_ptr<net::Peer>& peer, std::size_t bytes) {
                           if (auto session = find(jobs::SessionId(peer->id())))
                             session->on_oversized(bytes);
                         },
                     .closed =
                         [this](const std::shared_ptr<net::Peer>& peer) {
                           auto session = sessions_.with([&](auto& sessions) {
                             auto node = sessions.extract(jobs::SessionId(peer->id()));
                             return node.empty() ? nullptr : node.mapped();
                           });
                           if (session) session->on_closed();
                         },
                     .cost = 1});
  }

  // Workers and clients of the operator's on this machine take it from here and need be given none.
  Result<> write_invite() {
    constexpr UnixMillis ten_years = 10LL * 365 * 24 * 3600 * 1000;
    const auto path = std::filesystem::absolute(options_.data / "invite");
    const std::string text = crypto::write_invitation(
        identity_, {.kind = crypto::InvitationKind::own, .until = unix_now() + ten_years});
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
    if (descriptor >= 0) ::close(descriptor);
    if (!written)
      return fail(ErrorCode::unavailable, "The invitation {} cannot be written: {}.", path.string(),
                  std::strerror(errno));
    invite_file_ = path.string();
    return {};
  }

  void open(std::shared_ptr<net::Peer> peer) {
    const jobs::SessionId id(peer->id());
    const bool here = net::is_loopback(peer->address());
    const std::string prefix = net::address_prefix(peer->address());
    auto session = std::make_shared<Session>(
        Session::Parts{.id = id,
                       .coordinator = key(),
                       .sign = [this](ByteSpan digest) { return identity_.sign_now(digest); },
                       .host = protocol::canonical_host(peer->host()),
                       .book = book_,
                       .intake = intake_,
                       .line = std::make_shared<PeerLine>(std::move(peer)),
                       .secret = options_.core.secret,
                       .core = [this](Loop::Event event) { return loop_.post(std::move(event)); },
                       .work =
                           [this, id](std::function<void()> work) {
                             return checks_->post(id.number(), std::move(work));
                           },
                       .invite_file = here ? invite_file_ : std::string(),
                       .prefix = prefix});
    sessions_.with([&](auto& sessions) { sessions.emplace(id, std::move(session)); });
  }

  // On the loop's thread, a little later.
  void retry(std::function<void()> work) {
    retries_.post([this, work = std::move(work)] {
      loop_.post_always([work](jobs::Core&, jobs::Moment) { work(); });
    });
  }

  std::shared_ptr<Session> find(jobs::SessionId id) const {
    return sessions_.with([&](const auto& sessions) {
      const auto found = sessions.find(id);
      return found == sessions.end() ? nullptr : found->second;
    });
  }

  // --- World, called on the loop's thread.
  void send(jobs::SessionId id, protocol::CoordinatorMessage message) override {
    if (auto session = find(id)) session->send(message);
  }
  void close(jobs::SessionId id, protocol::ErrorMessage why) override {
    if (auto session = find(id)) session->end(why);
  }
  void keep(ByteVector bytes) override {
    if (const auto added = blobs_->add(bytes); !added)
      log_error("The statement of a receipt cannot be kept: {}", added.error().message);
  }
  void commit(store::Batch batch, std::function<void(Result<>)> done) override {
    const auto back = [this, done](Result<> result) {
      loop_.post_always([done, result](jobs::Core&, jobs::Moment) { done(result); });
    };
    // The core keeps few commits in flight, so the queue never fills.
    if (auto queued = commits_->submit(std::move(batch), back); !queued) back(queued);
  }
  void join(jobs::JoinOrder order) override {
    auto shared = std::make_shared<const jobs::JoinOrder>(std::move(order));
    const auto work = [this, shared] {
      auto outputs = intake_.join(*shared->manifest, shared->parts);
      loop_.post_always(
          [id = shared->job, outputs = std::move(outputs)](jobs::Core& core, jobs::Moment moment) {
            core.joined(id, outputs, moment);
          });
    };
    if (!joins_->post(std::hash<JobId>()(shared->job), work)) {
      // Too busy now; the job waits, and its tasks are safe.
      retry([this, shared] { join(*shared); });
    }
  }
  void inspect(jobs::AuditOrder order) override {
    auto shared = std::make_shared<const jobs::AuditOrder>(std::move(order));
    const auto work = [this, shared] {
      const auto outcome = intake_.inspect(*shared);
      loop_.post_always([shared, outcome](jobs::Core& core, jobs::Moment moment) {
        core.inspected(shared->task, shared->auditor, outcome, moment);
      });
    };
    if (!joins_->post(std::hash<TaskId>()(shared->task), work)) {
      retry([this, shared] { inspect(*shared); });
    }
  }
  bool verifies() const override { return runner_ != nullptr; }
  void verify(jobs::VerifyOrder order) override {
    if (verifier_) verifier_->verify(std::move(order));
  }
  void measure(jobs::MeasureOrder order) override {
    if (verifier_) verifier_->measure(std::move(order));
  }
  void find_paid(jobs::FindPaid order) override {
    const auto work = [this, order] {
      loop_.post_always(
          [found = coordinator::find_paid(order, *store_)](jobs::Core& core, jobs::Moment moment) {
            core.paid_found(found, moment);
          });
    };
    if (!readers_->post(std::hash<PublicKey>()(order.worker), work))
      retry([this, order] { find_paid(order); });
  }
  void join_again(const JobId& job) override {
    const auto work = [this, job] {
      loop_.post_always(
          [job, joined = coordinator::join_again(job, *store_, intake_)](
              jobs::Core& core, jobs::Moment moment) { core.joined_again(job, joined, moment); });
    };
    if (!readers_->post(std::hash<JobId>()(job), work)) retry([this, job] { join_again(job); });
  }
  void audit_answer(const billing::AnswerAuditOrder& order) override { models_->audit(order); }
  void answer_settled(const billing::AnswerId& answer, billing::AnswerFate fate) override {
    models_->settled(answer, fate);
  }
  void bar_server(const PublicKey& worker) override { models_->bar(worker); }
  void compare(jobs::CompareOrder order) override {
    auto shared = std::make_shared<const jobs::CompareOrder>(std::move(order));
    const auto work = [this, shared] {
      loop_.post_always([result = intake_.compare(*shared)](jobs::Core& core, jobs::Moment moment) {
        core.compared(result, moment);
      });
    };
    if (!joins_->post(std::hash<TaskId>()(shared->task), work)) {
      retry([this, shared] { compare(*shared); });
    }
  }
  void forget(const std::vector<Hash>& blobs) override {
    const std::size_t turn = blobs.empty() ? 0 : std::hash<Hash>()(blobs.front());
    const auto work = [this, blobs] {
      for (const Hash& blob : blobs) {
        if (const auto removed = blobs_->remove(blob); !removed)
          log_debug("The blob {} stays: {}", blob.text(), removed.error().message);
      }
    };
    if (!joins_->post(turn, work)) log_debug("Some blobs stay: too much is being joined.");
  }
  std::optional<Duration> round_trip(jobs::SessionId id) const override {
    const auto session = find(id);
    return session ? session->round_trip() : std::nullopt;
  }
  void fatal(const Error& error) override {
    log_error(
        "The store refuses a commit, so what is in memory is not what is stored: {} Start the "
        "coordinator again; it continues from what is stored.",
        error.message);
    std::_Exit(1);
  }

  // In the order in which they are needed; destroyed the other way round.
  Options options_;
  ShaderChecker checker_;
  PartRunnerFactory runner_;
  FolderLock lock_;
  crypto::KeyPair identity_;
  std::string invite_file_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<store::BlobParts> blob_parts_;
  jobs::Book book_;
  Intake intake_;
  ResponseStore responses_{{}};
  UploadQuota uploads_{options_.blobs_bytes_max, options_.upload_share};
  TextReaderFactory text_readers_;
  std::unique_ptr<ModelService> models_;
  std::unique_ptr<Fallback> fallback_;
  std::unique_ptr<ModelTexts> texts_;
  std::unique_ptr<Guests> guests_;
  std::unique_ptr<net::Server> server_;
  Guarded<std::map<jobs::SessionId, std::shared_ptr<Session>>> sessions_;
  std::unique_ptr<jobs::Core> core_;
  Loop loop_;
  WatchFeed feed_{loop_};
  SharedViews shared_;
  SharedLists lists_;
  Signatures signatures_{identity_.public_key(), options_.signatures};
  std::vector<protocol::api::KeyRotation> rotations_;
  Retries retries_;
  DiskReserve reserve_{options_.data / "reserve", options_.disk_reserve_bytes};
  std::unique_ptr<store::GroupCommit> commits_;
  std::unique_ptr<runtime::Pool> checks_;
  std::unique_ptr<runtime::Pool> readers_;  // What clients ask for.
  std::unique_ptr<runtime::Pool> joins_;    // Joins and compares results.
  std::unique_ptr<runtime::Pool> submitters_;
  BlobSweep sweep_{*store_, *blobs_, options_.blob_ends};
  std::unique_ptr<Verifier> verifier_;
};

}  // namespace

bool others_reach(const Options& options) {
  return !net::is_loopback(options.listen) || !options.trusted_proxies.empty();
}

Result<std::unique_ptr<Coordinator>> Coordinator::start(Options options, ShaderChecker checker,
                                                        PartRunnerFactory runner,
                                                        TextReaderFactory texts) {
  WEFT_OK(make_private(options.data));
  WEFT_ASSIGN(auto lock, FolderLock::take(options.data));
  WEFT_ASSIGN(auto tls, tls_of(options));
  options.core.grant = options.grant.value_or(default_grant);
  options.submission.anyone = options.allow_anyone || !others_reach(options);
  WEFT_ASSIGN(auto identity, crypto::load_or_create_wallet(options.data / "coordinator.json"));
  WEFT_ASSIGN(auto store, open_store(options));
  WEFT_ASSIGN(auto blobs,
              store::Blobs::open(options.data / "blobs", {.bytes_max = options.blobs_bytes_max}));
  net::Server::Options serving{.address = options.listen,
                               .port = options.port,
                               .tls = std::move(tls),
                               .scratch = options.data / "incoming",
                               .web = options.web,
                               .no_web_page = std::string(no_web_page),
                               .limits = options.limits,
                               .hosts = options.hosts,
                               .trusted_proxies = options.trusted_proxies};
  serving.upload_bytes_max = options.blob_bytes_max;
  if (options.rate_limit <= 0) {
    serving.rate_limit.reset();
  } else {
    serving.rate_limit =
        net::RateLimit::Options{.per_second = options.rate_limit, .burst = 4 * options.rate_limit};
  }
  WEFT_ASSIGN(auto server, net::Server::create(std::move(serving)));
  auto coordinator = std::make_unique<LiveCoordinator>(
      std::move(options), std::move(checker), std::move(runner), std::move(texts), std::move(lock),
      std::move(identity), std::move(store), std::move(blobs), std::move(server));
  WEFT_OK(coordinator->run());
  return coordinator;
}

}  // namespace weft::coordinator
