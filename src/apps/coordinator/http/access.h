// The client that asks, and whether what it asks for is its own: docs/http.md, "Who may use which
// route".
//
// What belongs to an owner is shown to the owner's devices (not to revoked and recovery ones) and
// to the operator; a job is also shown to each viewer that has its link (job_links.h).
//
// Threading: any.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

struct Viewer {
  std::optional<PublicKey> key;  // None: the request is not signed.
  bool is_operator = false;
  std::string link;  // A job's, as it came: maybe none, maybe a wrong one.
};

// A request without the headers of a signature is read without one; unauthenticated if it has some
// of them and they do not hold (Signatures::refusal() answers that).
[[nodiscard]] Result<Viewer> viewer_of(const HttpParts& parts, const net::IncomingRequest& request);

// Whether the viewer is the operator, or a device of the owner of this key or account.
[[nodiscard]] bool owns(const jobs::Book& book, const Viewer& viewer, const PublicKey& key);
[[nodiscard]] bool owns(const jobs::Book& book, const Viewer& viewer, const OwnerId& owner);

// 401 to a viewer without a signature, 403 to others: "`what` is shown to its owner and the
// operator".
[[nodiscard]] net::Reply hidden(const HttpParts& parts, const Viewer& viewer,
                                std::string_view what);

// Calls `use` with the viewer, if it is the operator; answers 401 or 403 otherwise.
void if_operator(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::string_view what,
                 const std::function<void()>& use);

// Calls `use` with the job's stored row, on one of parts.readers, if the asker may see the job;
// answers otherwise.
using UseJob = std::function<void(const Viewer& viewer, const store::Job& job)>;
void with_job(const HttpParts& parts, const net::IncomingRequest& request, std::string_view id,
              const net::Respond& respond, UseJob use);

}  // namespace weft::coordinator
