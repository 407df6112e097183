#include "apps/coordinator/coordinator.h"

#include <algorithm>
#include <optional>

#include "apps/coordinator/core_effects.h"
#include "apps/coordinator/disk_reserve.h"
#include "apps/coordinator/folder_lock.h"
#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/meetings.h"
#include "apps/coordinator/http/owner_quotas.h"
#include "apps/coordinator/http/watch_feed.h"
#include "apps/coordinator/ice_servers.h"
#include "apps/coordinator/ingest/earlier_receipts.h"
#include "apps/coordinator/ingest/output_room.h"
#include "apps/coordinator/ingest/restoring.h"
#include "apps/coordinator/ingest/verifier.h"
#include "apps/coordinator/invite_file.h"
#include "apps/coordinator/key_rotation.h"
#include "apps/coordinator/private_folder.h"
#include "apps/coordinator/start_options.h"
#include "apps/coordinator/work_pools.h"
#include "apps/coordinator/worker_sockets.h"
#include "common/crypto/wallet.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/verification_leases.h"
#include "platform/net/address.h"
#include "platform/net/static_files.h"

namespace weft::coordinator {

namespace {

constexpr MicroCredits default_grant =
    100'000'000'000;  // 100,000 credits pay for a hundred examples.

constexpr std::string_view no_web_page =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Weft</title>
<style>body{font:16px/1.5 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>This Weft coordinator is running.</h1>
<p>Its web page has not been built here. Build it with <code>./weft build</code>, or name its folder with <code>weft serve --web DIR</code>.</p>
<p>Native workers join with <code>weft work --coordinator URL</code>. See <a href="/v1/info">/v1/info</a>, <a href="/v1/jobs">/v1/jobs</a>, <a href="/v1/workers">/v1/workers</a>.</p>)";

// Builds the parts of a coordinator, connects them, and ends them in order.
class LiveCoordinator final : public Coordinator {
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
    WEFT_ASSIGN(auto ice, IceServers::read(options_.ice_servers));
    meetings_.emplace(
        Meetings::Options{.ice_servers =
                              [ice = std::move(ice)] {
                                return protocol::serving::encode(
                                    ice.issue("meeting", unix_now(), IceServers::For::stranger));
                              },
                          .relay = {.bytes_per_second = options_.camera_relay_bytes_per_second}});
    WEFT_ASSIGN(rotations_, read_rotations(options_.data));
    WEFT_ASSIGN(blob_parts_, store::BlobParts::open(*blobs_, options_.data / "parts",
                                                    {.bytes_max = options_.blobs_bytes_max}));
    WEFT_OK(take_models_file(options_.data / "models.jsonl", *store_));
    book_.when_ended([this](const JobId& job, const manifest::Manifest& ended) {
      intake_.forget(ended);
      blobs_->room().end(job);
    });
    if (!options_.uploads_by_lease) book_.worker_blobs().allow_all_uploads();
    WEFT_ASSIGN(auto loaded, store_->load());
    WEFT_ASSIGN(options_.core.secret, secret_of(loaded, *store_));
    WEFT_ASSIGN(models_, ModelService::open(*commits_, std::move(loaded.models), book_,
                                            std::move(desk), options_.core.answers));
    WEFT_ASSIGN(auto earlier, EarlierReceipts::read(loaded, *store_, *blobs_, unix_now()));
    earlier_.emplace(std::move(earlier));
    pools_.emplace(WorkPools::Settings{.joins_apart = options_.joins_apart});
    if (runner_) verifier_ = make_verifier();
    WEFT_ASSIGN(invite_file_, write_invite(options_.data, identity_, unix_now()));
    workers_.emplace(WorkerSockets::Parts{
        .identity = identity_,
        .book = book_,
        .intake = intake_,
        .secret = options_.core.secret,
        .loop = loop_,
        .work =
            [this](jobs::SessionId id, std::function<void()> work) {
              return pools_->checks().post(id.number(), std::move(work));
            },
        .invite_file = invite_file_,
        .genesis = options_.settlement ? options_.settlement->genesis : Hash(),
        .program = options_.settlement && options_.settlement->genesis != Hash()
                       ? options_.settlement->program
                       : PublicKey(),
        .earlier = &*earlier_});
    effects_.emplace(CoreEffects::Parts{.workers = *workers_,
                                        .models = *models_,
                                        .loop = loop_,
                                        .commits = *commits_,
                                        .store = *store_,
                                        .blobs = *blobs_,
                                        .intake = intake_,
                                        .joins = pools_->joins(),
                                        .readers = pools_->readers(),
                                        .verifier = verifier_.get()});
    core_ = std::make_unique<jobs::Core>(jobs::Core::Parts{.world = *effects_, .book = book_},
                                         options_.core);
    if (options_.submission.room_set_aside)
      restore_room(loaded, blobs_->room(), options_.submission.room);
    WEFT_ASSIGN(auto restored, look_up(std::move(loaded), *store_, *blobs_, unix_now()));
    WEFT_OK(core_->restore(std::move(restored), {.at = now(), .unix = unix_now()}));
    if (options_.fallback) {
      WEFT_ASSIGN(fallback_, Fallback::create(*options_.fallback));
    }
    guests_ = std::make_unique<Guests>(options_.guest_requests);
    texts_ = std::make_unique<ModelTexts>(*blobs_, text_readers_);
    models_->set_texts(*texts_);
    models_->set_operator(key().text());
    listen_to_models();
    loop_.start(*core_);
    feed_.start();
    meetings_->start();
    models_->start();
    add_routes();
    shared_.start();
    lists_.start();
    sweep_.start();
    return server_->start();
  }

  std::string url() const override {
    return reachable_url(options_.listen, server_->url(), server_->port());
  }
  const PublicKey& key() const override { return identity_.public_key(); }

  void stop() override {
    if (!core_) return;
    models_->stop();
    texts_.reset();
    server_->stop();
    fallback_.reset();
    feed_.stop();
    meetings_->stop();
    shared_.stop();
    lists_.stop();
    sweep_.stop();
    // The parts end in the order of their data flow: each one passes work to those ended after it.
    effects_->stop();
    pools_->end_before_loop();
    loop_.stop();
    verifier_.reset();
    pools_->end_after_loop();
    commits_.reset();
    core_.reset();
  }

 private:
  std::unique_ptr<Verifier> make_verifier() {
    return std::make_unique<Verifier>(
        *blobs_, runner_,
        [this](const jobs::VerifyOrder& order, const jobs::Checked& checked) {
          loop_.post_always([task = order.task, root = order.root, paid = order.paid, checked](
                                jobs::Core& core, jobs::Moment moment) {
            paid ? core.corrections().rechecked(task, root, checked, moment)
                 : core.checks().verified(task, root, checked, moment);
          });
        },
        [this](const JobId& job, const Result<scheduler::Measurement>& measurement) {
          loop_.post_always([job, measurement](jobs::Core& core, jobs::Moment moment) {
            core.checks().measured(job, measurement, moment);
          });
        });
  }
  void listen_to_models() {
    models_->listen({.ended =
                         [this](billing::AnswerReport report) {
                           loop_.post_always(
                               [report = std::move(report)](jobs::Core& core, jobs::Moment moment) {
                                 core.completions().answered(report, moment);
                               });
                         },
                     .audited =
                         [this](billing::AnswerAudited audited) {
                           loop_.post_always([audited = std::move(audited)](jobs::Core& core,
                                                                            jobs::Moment moment) {
                             core.completions().audited(audited, moment);
                           });
                         },
                     .traced =
                         [this](billing::AnswerTraced traced) {
                           loop_.post_always(
                               [traced = std::move(traced)](jobs::Core& core, jobs::Moment moment) {
                                 core.completions().traced(traced, moment);
                               });
                         }});
  }

  void add_routes() {
    const HttpParts parts{
        .server = *server_,
        .loop = loop_,
        .readers = pools_->readers(),
        .submitters = pools_->submitters(),
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
        .reads_by_lease = options_.reads_by_lease,
        .owner_data_bytes_max = options_.owner_data_bytes_max,
        .signs_parts = options_.signs_parts,
        .roots_when_decided = options_.roots_when_decided,
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
        .verification_permille = options_.core.verification_permille,
        .settlement = options_.settlement,
        .epochs = options_.data / "epochs"};
    server_->quotas([quotas = QuotaParts{.book = book_,
                                         .uploads = uploads_,
                                         .models = models_->catalog(),
                                         .jobs_max = options_.core.jobs_per_client_max,
                                         .tasks_max = options_.core.tasks_per_client_max,
                                         .coordinator = key()}](const std::string& client) {
      const auto asks = PublicKey::parse(client);
      return asks ? quotas_of(quotas, *asks, now()) : std::vector<net::Quota>();
    });
    server_->known_clients([&book = book_, coordinator = key().text()](const std::string& client) {
      const auto asks = PublicKey::parse(client);
      return asks && (client == coordinator || book.is_funded(*asks));
    });
    add_identity_route(parts);
    add_job_routes(parts);
    add_blob_routes(parts);
    add_ledger_routes(parts);
    add_settlement_routes(parts);
    add_proof_routes(parts);
    add_evidence_routes(parts);
    add_verdict_routes(parts);
    add_quote_routes(parts);
    add_view_routes(parts);
    server_->socket(feed_.route());
    server_->socket(meetings_->route());
    add_model_routes(parts);
    add_answer_routes(parts);
    add_infer_routes(parts);
    add_key_routes(parts);
    add_client_routes(parts);
    add_stake_routes(parts);
    add_standing_routes(parts);
    add_owner_routes(parts);
    add_owner_data_routes(parts);
    server_->socket(workers_->route());
  }

  // Members are declared in the order in which they need each other, and are destroyed in reverse.
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
  std::optional<EarlierReceipts> earlier_;
  std::optional<WorkerSockets> workers_;
  std::unique_ptr<jobs::Core> core_;
  Loop loop_;
  WatchFeed feed_{loop_};
  std::optional<Meetings> meetings_;
  SharedViews shared_;
  SharedLists lists_;
  Signatures signatures_{identity_.public_key(), options_.signatures};
  std::vector<protocol::api::KeyRotation> rotations_;
  DiskReserve reserve_{options_.data / "reserve", options_.disk_reserve_bytes};
  std::unique_ptr<store::GroupCommit> commits_;
  std::optional<WorkPools> pools_;
  BlobSweep sweep_{*store_, *blobs_, options_.blob_ends};
  std::unique_ptr<Verifier> verifier_;
  std::optional<CoreEffects> effects_;
};

}  // namespace

bool others_reach(const Options& options) {
  return !net::is_loopback(options.listen) || !options.trusted_proxies.empty();
}

Result<std::unique_ptr<Coordinator>> Coordinator::start(Options options, ShaderChecker checker,
                                                        PartRunnerFactory runner,
                                                        TextReaderFactory texts) {
  if (options.folder_is_private) {
    WEFT_OK(make_private(options.data));
  } else {
    std::error_code ignored;
    std::filesystem::create_directories(options.data, ignored);
  }
  WEFT_ASSIGN(auto lock, FolderLock::take(options.data));
  WEFT_ASSIGN(auto tls, tls_of(options));
  options.core.grant = options.grant.value_or(default_grant);
  options.submission.anyone = options.allow_anyone || !others_reach(options);
  WEFT_ASSIGN(auto identity, crypto::load_or_create_wallet(options.data / "coordinator.json"));
  WEFT_ASSIGN(auto store, open_store(options));
  WEFT_ASSIGN(auto blobs,
              store::Blobs::open(options.data / "blobs", {.bytes_max = options.blobs_bytes_max,
                                                          .shares = options.stranger_room}));
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
  if (options.settlement) serving.page_connects = net::origin_of(options.settlement->rpc);
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
