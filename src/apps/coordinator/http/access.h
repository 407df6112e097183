// Finds the client of a request and decides what it may read: docs/http.md, "Who may use which
// route".
//
// The data of an owner is shown to the owner's devices (except revoked and recovery devices) and to
// the operator. A job is also shown to each viewer that has its link (job_links.h).
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
  std::optional<PublicKey> key;  // Empty if the request is not signed.
  bool is_operator = false;
  std::string link;  // A job's link, unchecked; may be empty or wrong.
};

// The viewer that sent the request. A request without signature headers has a viewer without a key.
// Fails with unauthenticated if some of the headers are missing or the signature is not valid
// (Signatures::refusal() makes the reply).
[[nodiscard]] Result<Viewer> viewer_of(const HttpParts& parts, const net::IncomingRequest& request);

// True if the viewer is the operator or a device of the owner that `key` or `owner` belongs to.
[[nodiscard]] bool owns(const jobs::Book& book, const Viewer& viewer, const PublicKey& key);
[[nodiscard]] bool owns(const jobs::Book& book, const Viewer& viewer, const OwnerId& owner);

// The reply to a viewer that may not see `what`: 401 without a signature, otherwise 403 with the
// message "`what` is shown to its owner and the operator only".
[[nodiscard]] net::Reply hidden(const HttpParts& parts, const Viewer& viewer,
                                std::string_view what);

// Calls `use` if the operator signed the request; otherwise responds with 401 or 403.
void if_operator(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::string_view what,
                 const std::function<void()>& use);

// Calls `use` with the viewer and the job's stored row, on one of parts.readers, if the viewer may
// see the job; otherwise responds with an error.
using UseJob = std::function<void(const Viewer& viewer, const store::Job& job)>;
void with_job(const HttpParts& parts, const net::IncomingRequest& request, std::string_view id,
              const net::Respond& respond, UseJob use);

}  // namespace weft::coordinator
