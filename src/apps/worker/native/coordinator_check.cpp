#include "apps/worker/native/coordinator_check.h"

#include "common/protocol/api.h"

namespace weft::worker {

Result<> check_coordinator(std::string_view url, const Result<net::Response>& info) {
  if (!info) {
    const ErrorCode code = info.error().code;
    if (code == ErrorCode::unsupported || code == ErrorCode::unauthenticated)
      return std::unexpected(info.error());
    return {};
  }
  const int status = info->status;
  if (status >= 500 || status == 429 || status == 408)
    return {};  // The server or its proxy has an error that may pass.
  if (status >= 300 && status < 400) {
    const auto place = info->headers.find("location");
    return fail(ErrorCode::not_found,
                "{} is not a Weft coordinator (it redirects the request: {}).", url,
                place == info->headers.end() ? std::to_string(status) : place->second);
  }
  if (!info->ok())
    return fail(ErrorCode::not_found, "{} is not a Weft coordinator (it answers {}).", url, status);
  const auto said = protocol::api::from_json<protocol::api::Info>(info->body);
  if (!said || said->coordinator.empty())
    return fail(ErrorCode::not_found,
                "{} is not a Weft coordinator (its /v1/info does not describe one).", url);
  return {};
}

}  // namespace weft::worker
