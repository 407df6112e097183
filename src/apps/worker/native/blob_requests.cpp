#include "apps/worker/native/blob_requests.h"

#include <utility>

namespace weft::worker {

void send_for_blob(net::Client& client, net::Request request,
                   std::function<void(Result<net::Response>)> done) {
  client.send(std::move(request), [&client, done = std::move(done)](Result<net::Response> answer) {
    const auto wait = answer ? net::retry_after(*answer) : std::nullopt;
    if (!wait) return done(std::move(answer));
    client.after(*wait, [done, why = net::error_of(*answer).message] {
      done(fail(ErrorCode::unavailable, "{}", why));
    });
  });
}

}  // namespace weft::worker
