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

Result<Reader> reader_of(const HttpParts& parts, const net::IncomingRequest& request) {
  Reader reader;
  if (const auto link = request.query.find("link"); link != request.query.end())
    reader.link = link->second;
  if (!has_signature(request)) return reader;
  WEFT_ASSIGN(const Signed who, parts.signatures.signer(request));
  reader.key = who.client;
  reader.is_operator = is_operator(parts, who.client);
  return reader;
}

bool owns(const jobs::Book& book, const Reader& reader, const PublicKey& key) {
  return reader.is_operator || (reader.key && book.sees(*reader.key, key));
}

bool owns(const jobs::Book& book, const Reader& reader, const OwnerId& owner) {
  // The key that names the owner is one of its devices.
  return owns(book, reader, PublicKey{{owner.bytes}});
}

net::Reply hidden(const HttpParts& parts, const Reader& reader, std::string_view what) {
  if (!reader.key)
    return parts.signatures.refusal(
        {ErrorCode::unauthenticated,
         weft::format("{} is shown to its owner and the operator only: sign the request.", what)});
  return net::problem({ErrorCode::permission_denied,
                       weft::format("{} is shown to its owner and the operator only, and {} is "
                                    "neither.",
                                    what, reader.key->text())});
}

void if_operator(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::string_view what,
                 const std::function<void()>& use) {
  const auto reader = reader_of(parts, request);
  if (!reader) return respond(parts.signatures.refusal(reader.error()));
  if (reader->is_operator) return use();
  if (reader->key) return respond(only_operator(weft::format("sees {}", what)));
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
  auto reader = reader_of(parts, request);
  if (!reader) return respond(parts.signatures.refusal(reader.error()));
  const std::string name = weft::format("Job {}", job->text());
  const bool has_link = parts.links.opens(*job, reader->link);
  net::Reply refusal = hidden(parts, *reader, name);
  if (!reader->link.empty() && !has_link)
    refusal = net::problem({ErrorCode::permission_denied,
                            weft::format("The link is not one of job {}: ask its owner for it.",
                                         job->text())});
  // Without a key nothing is looked up: no answer says which jobs there are.
  if (!reader->key && !has_link) return respond(std::move(refusal));
  post_or_refuse(parts.readers, respond,
                 [&store = parts.store, &book = parts.book, id = *job, reader = std::move(*reader),
                  has_link, refusal = std::move(refusal), respond, use = std::move(use)] {
                   const auto row = store.job(id);
                   if (!row) return respond(net::problem(row.error()));
                   if (!has_link && !owns(book, reader, row->client)) return respond(refusal);
                   use(reader, *row);
                 });
}

}  // namespace weft::coordinator
