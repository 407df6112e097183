// The coordinator's HTTP interface as routes of a net::Server. docs/http.md describes the routes,
// protocol::api their documents.
//
// Threading: handlers run on the server's threads and post their work to other threads; they never
// block.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "apps/coordinator/http/fallback.h"
#include "apps/coordinator/http/guests.h"
#include "apps/coordinator/http/job_links.h"
#include "apps/coordinator/http/model_service.h"
#include "apps/coordinator/http/paged_list.h"
#include "apps/coordinator/http/response_store.h"
#include "apps/coordinator/http/settlement_network.h"
#include "apps/coordinator/http/shared_views.h"
#include "apps/coordinator/http/signatures.h"
#include "apps/coordinator/http/upload_quota.h"
#include "apps/coordinator/ingest/loop.h"
#include "apps/coordinator/ingest/output_room.h"
#include "apps/coordinator/ingest/submission.h"
#include "common/protocol/api.h"
#include "decisions/jobs/book.h"
#include "platform/net/server.h"
#include "platform/runtime/pool.h"
#include "platform/store/blob_parts.h"
#include "platform/store/blobs.h"
#include "platform/store/group_commit.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// The parts of the coordinator that handlers use; all outlive the server.
struct HttpParts {
  net::Server& server;
  Loop& loop;
  runtime::Pool& readers;     // Threads for reads of the store.
  runtime::Pool& submitters;  // Threads for submissions, which take seconds in the shader checker.
  store::Store& store;
  store::Blobs& blobs;
  store::BlobParts& blob_parts;
  jobs::Book& book;
  ModelService& models;
  Guests& guests;
  ResponseStore& responses;
  Fallback* fallback = nullptr;  // Null if there is no fallback.
  SharedViews& shared;
  SharedLists& lists;
  Signatures& signatures;
  bool require_keys = false;
  ShaderChecker checker;
  SubmissionBounds bounds;
  std::uint64_t blob_bytes_max = 0;
  UploadQuota& uploads;                  // Upload quotas of clients.
  bool reads_by_lease = true;            // Workers read only blobs of their leases and models.
  std::size_t owner_data_bytes_max = 0;  // Bytes of one part of an export; 0: no bound.
  bool signs_parts = true;               // Signatures of upload parts cover bytes and place.
  bool roots_when_decided = true;        // Result roots are shown only for accepted tasks.
  bool grants_to_strangers = false;      // Tests: strangers count as holders of credits.
  std::string invite_file;               // File with the invitation for clients on this machine.
  protocol::api::Info info;
  std::function<Signature(ByteSpan digest)> sign;  // Signs with the coordinator's key.
  std::vector<protocol::api::KeyRotation> rotations;
  JobLinks links;
  bool verifies = false;                     // The coordinator has a verifier of its own.
  std::uint32_t verification_permille = 20;  // Part of the pay that verifiers get, per mille.
  std::optional<SettlementNetwork> settlement = std::nullopt;
  std::filesystem::path epochs = {};  // Folder of the settlement rows of each epoch.
};

void add_job_routes(const HttpParts& parts);     // In http_jobs.cpp: /v1/jobs, /v1/tasks
void add_blob_routes(const HttpParts& parts);    // In http_blobs.cpp: /v1/blobs/{}
void add_ledger_routes(const HttpParts& parts);  // In http_ledger.cpp: /v1/ledger
// In http_settlement.cpp: /v1/settlement/network, /v1/settlement/rows/{}, /v1/settlement/stakes
void add_settlement_routes(const HttpParts& parts);
// In http_proofs.cpp: /v1/jobs/{}/tasks/{}/proof, /v1/jobs/{}/blobs/{}
void add_proof_routes(const HttpParts& parts);
// In http_evidence.cpp: /v1/evidence
void add_evidence_routes(const HttpParts& parts);
void add_verdict_routes(const HttpParts& parts);
void add_quote_routes(const HttpParts& parts);  // In http_quotes.cpp: /v1/jobs/quote
void add_view_routes(
    // In http_views.cpp: /v1/workers, /v1/info, /metrics, /healthz, /readyz
    const HttpParts& parts);
void add_model_routes(const HttpParts& parts);  // In http_models.cpp: /v1/models, /v1/serve
// In http_answers.cpp: /v1/chat/completions, /v1/completions, /v1/responses, /tokenize...
void add_answer_routes(const HttpParts& parts);
// In http_infer.cpp: /v2 with all routes below it, /v1/models/{}:predict and related routes
void add_infer_routes(const HttpParts& parts);
void add_key_routes(const HttpParts& parts);       // In http_keys.cpp: /v1/keys, /v1/guest
void add_client_routes(const HttpParts& parts);    // In http_clients.cpp: /v1/clients
void add_stake_routes(const HttpParts& parts);     // In http_stakes.cpp: /v1/stakes
void add_standing_routes(const HttpParts& parts);  // In http_standing.cpp: /v1/workers/KEY/pardon
void add_owner_routes(const HttpParts& parts);     // In http_owners.cpp: /v1/owner

void add_owner_data_routes(const HttpParts& parts);  // In http_owner_data.cpp: /v1/owner/data

void add_identity_route(const HttpParts& parts);  // In http_identity.cpp: /v1/identity

// Helpers of the route files.
//
// The handler of a route whose signed requests are carried out once: calls `handle(parts, request,
// who, respond)`.
template <class Handle>
auto once(Handle handle) {
  return [handle](const HttpParts& parts, const net::IncomingRequest& request,
                  const net::Respond& respond) {
    parts.signatures.once(request, respond, [&](const Signed& who, const net::Respond& answer) {
      handle(parts, request, who, answer);
    });
  };
}
// Responds with one page of an account's history (from= and count= of the query) as
// api::LedgerAccount. The caller has checked that the viewer may see the account. Balances of other
// accounts are shown only if `all` is set. In http_ledger.cpp.
void show_account(const HttpParts& parts, const net::IncomingRequest& request,
                  const net::Respond& respond, const ledger::Account& account, bool all);
// The history of a group of accounts as entries of one ledger. The balance before the page is taken
// from each account's first movement in it. Balances of other accounts are shown only if `all` is
// set. In http_ledger.cpp.
[[nodiscard]] std::vector<protocol::api::LedgerEntry> entries_of(
    const store::History& history, std::span<const ledger::Account> accounts, bool all);
// The stored data of a job; the core adds its live data. In http_jobs.cpp.
[[nodiscard]] protocol::api::Job view_of(const store::Job& row);
[[nodiscard]] protocol::api::Correction view_of(const store::Correction& row);
// An owner as a document. In http_owners.cpp.
[[nodiscard]] protocol::api::Owner view_of(const jobs::OwnerView& view);
// Handlers of GET routes that read all tasks of a job. add_task_routes() gives each route a cost of
// 1. In http_proofs.cpp.
using ShowTasks = void (*)(const HttpParts& parts, const net::IncomingRequest& request,
                           const net::Respond& respond);
void add_task_routes(const HttpParts& parts,
                     std::initializer_list<std::pair<std::string, ShowTasks>> routes);
// The reply with a blob's bytes, or with the requested ranges. The caller has checked that the
// client may read the blob. In http_blobs.cpp.
[[nodiscard]] net::Reply blob_reply(store::Blobs& blobs, const net::IncomingRequest& request,
                                    const Hash& hash);
// The reply with the bytes of a blob that a row of `job` names; not_found with the reason if the
// blob was removed.
[[nodiscard]] net::Reply blob_of_job(store::Blobs& blobs, const net::IncomingRequest& request,
                                     const store::Job& job, const Hash& hash);
// Checks that the client can pay for the job, before its shader is compiled. Waits for the core. In
// http_jobs.cpp.
[[nodiscard]] Result<> look_at_funds(const HttpParts& parts, const Signed& who,
                                     const manifest::Manifest& manifest);
// Reserves room for the results of a job that is submitted next under RoomAside::job(). Null if the
// coordinator reserves no room. In http_jobs.cpp.
[[nodiscard]] Result<std::shared_ptr<RoomAside>> set_room_aside(const HttpParts& parts,
                                                                const manifest::Manifest& manifest);
[[nodiscard]] net::Reply busy();
// Runs `work` on the pool; responds with 503 if the pool is full.
void post_or_refuse(runtime::Pool& pool, const net::Respond& respond, std::function<void()> work);
void post_or_refuse(Loop& loop, const net::Respond& respond, Loop::Event event);

}  // namespace weft::coordinator
