// The coordinator's HTTP interface, as routes of a net::Server. docs/http.md names them, protocol::api gives their documents.
//
// Threading: handlers run on the server's threads and post; nothing blocks there.
#pragma once

#include <functional>

#include "apps/coordinator/book.h"
#include "apps/coordinator/loop.h"
#include "apps/coordinator/model_service.h"
#include "apps/coordinator/pool.h"
#include "apps/coordinator/serving/guests.h"
#include "apps/coordinator/submission.h"
#include "common/protocol/api.h"
#include "service/net/server.h"
#include "service/store/blob_parts.h"
#include "service/store/blobs.h"
#include "service/store/group_commit.h"
#include "service/store/store.h"

namespace weft::coordinator {

// What handlers work with; all outlive the server.
struct HttpParts {
  net::Server& server;
  Loop& loop;
  Pool& readers;     // Reads of the store.
  Pool& submitters;  // Submissions: seconds each, with the shader checker.
  store::Store& store;
  store::Blobs& blobs;
  store::BlobParts& blob_parts;
  Book& book;
  ModelService& models;
  Guests& guests;
  bool require_keys = false;
  ShaderChecker checker;
  SubmissionBounds bounds;
  std::uint64_t blob_bytes_max = 0;
  protocol::api::Info info;
};

void add_job_routes(const HttpParts& parts);     // http_jobs.cpp: /v1/jobs, /v1/tasks
void add_blob_routes(const HttpParts& parts);    // http_blobs.cpp: /v1/blobs/{}
void add_ledger_routes(const HttpParts& parts);  // http_ledger.cpp: /v1/ledger
void add_proof_routes(const HttpParts& parts);   // http_proofs.cpp: /v1/jobs/{}/tasks/{}/proof
void add_view_routes(const HttpParts& parts);    // http_views.cpp: /v1/workers, /v1/info, /metrics, /healthz, /readyz
void add_model_routes(const HttpParts& parts);   // http_models.cpp: /v1/models, /v1/chat/completions, /v1/completions, /v1/serving

void add_key_routes(const HttpParts& parts);     // http_keys.cpp: /v1/keys, /v1/guest
void add_client_routes(const HttpParts& parts);  // http_clients.cpp: /v1/clients
void add_stake_routes(const HttpParts& parts);   // http_stakes.cpp: /v1/stakes

// Helpers of these files.
[[nodiscard]] net::Reply busy();
// Runs `work` on a pool, or answers 503 where it is full.
void post_or_refuse(Pool& pool, const net::Respond& respond, std::function<void()> work);
void post_or_refuse(Loop& loop, const net::Respond& respond, Loop::Event event);

}  // namespace weft::coordinator
