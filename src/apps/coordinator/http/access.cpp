#include "apps/coordinator/http/access.h"

#include <algorithm>
#include <array>
#include <memory>

#include "apps/coordinator/http/operator.h"
#include "common/base/format.h"

namespace weft::coordinator {

namespace {

bool has_signature(const net::IncomingRequest& request) {
  constexpr std::array<const char*, 4> headers{"weft-client", "weft-nonce", "weft-time",
                                               "weft-signature"};
  return std::ranges::any_of(headers,
                             [&](const char* name) { return !request.header(name).empty(); });
}

}  // namespace

Result<Viewer> viewer_of(const HttpParts& parts, const net::IncomingRequest& request) {
  Viewer viewer;
  if (const auto link = request.query.find("link"); link != request.query.end())
    viewer.link = link->second;
  if (!has_signature(request)) return viewer;
  WEFT_ASSIGN(const Signed who, parts.signatures.signer(request));
  viewer.key = who.client;
  viewer.is_operator = is_operator(parts, who.client);
  return viewer;
}

bool owns(const jobs::Book& book, const Viewer& viewer, const PublicKey& key) {
  return viewer.is_operator || (viewer.key && book.sees(*viewer.key, key));
}

bool owns(const jobs::Book& book, const Viewer& viewer, const OwnerId& owner) {
  // An owner's id is the key of one of its devices.
  return owns(book, viewer, PublicKey{{owner.bytes}});
}

net::Reply hidden(const HttpParts& parts, const Viewer& viewer, std::string_view what) {
  if (!viewer.key)
    return parts.signatures.refusal(
        {ErrorCode::unauthenticated,
         weft::format("{} is shown to its owner and the operator only: sign the request.", what)});
  return net::problem({ErrorCode::permission_denied,
                       weft::format("{} is shown to its owner and the operator only, and {} is "
                                    "neither.",
                                    what, viewer.key->text())});
}

void if_operator(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::string_view what,
                 const std::function<void()>& use) {
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  if (viewer->is_operator) return use();
  if (viewer->key) return respond(only_operator(weft::format("sees {}", what)));
  respond(parts.signatures.refusal(
      {ErrorCode::unauthenticated,
       weft::format("Only the operator sees {}: sign the request with the coordinator's own "
                    "wallet.",
                    what)}));
}

void with_job(const HttpParts& parts, const net::IncomingRequest& request, std::string_view id,
              const net::Respond& respond, UseJob use) {
  const auto job = JobId::parse(id);
  if (!job)
    return respond(net::problem({ErrorCode::not_found, weft::format("\"{}\" is not a job's id: {}",
                                                                    id, job.error().message)}));
  auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  const std::string name = weft::format("Job {}", job->text());
  const bool has_link = parts.links.opens(*job, viewer->link);
  net::Reply refusal = hidden(parts, *viewer, name);
  if (!viewer->link.empty() && !has_link)
    refusal =
        net::problem({ErrorCode::permission_denied,
                      weft::format("The link does not open job {}: ask the job's owner for a link.",
                                   job->text())});
  // A viewer without a key or a valid link is refused before the job is looked up, so that the
  // reply does not reveal which jobs exist.
  if (!viewer->key && !has_link) return respond(std::move(refusal));
  post_or_refuse(parts.readers, respond,
                 [&store = parts.store, &book = parts.book, id = *job, viewer = std::move(*viewer),
                  has_link, refusal = std::move(refusal), respond, use = std::move(use)] {
                   const auto row = store.job(id);
                   if (!row) return respond(net::problem(row.error()));
                   if (!has_link && !owns(book, viewer, row->client)) return respond(refusal);
                   use(viewer, *row);
                 });
}

}  // namespace weft::coordinator
