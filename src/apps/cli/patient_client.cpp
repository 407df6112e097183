#include "apps/cli/patient_client.h"

#include <algorithm>
#include <future>
#include <thread>

#include "apps/cli/interruption.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "platform/net/reach.h"

namespace weft::cli {
namespace {

constexpr auto look_every = std::chrono::milliseconds(20);
constexpr auto silence_max = std::chrono::milliseconds(1'500);
constexpr auto reach_max = std::chrono::seconds(3);

// Prints the reason of a longer wait once on standard error.
class Notice {
 public:
  explicit Notice(Instant begun) : begun_(begun) {}
  template <class... Args>
  void show(FormatString<Args...> text, Args&&... args) {
    if (shown_ || now() - begun_ < silence_max) return;
    shown_ = true;
    say_beside_progress(weft::format(text, std::forward<Args>(args)...));
  }

 private:
  const Instant begun_;
  bool shown_ = false;
};

}  // namespace

bool in_json(const net::Response& answer) {
  const auto type = answer.headers.find("content-type");
  return type != answer.headers.end() && type->second.contains("json");
}

Result<net::Response> PatientClient::ask(const net::Request& request,
                                         const std::function<void()>& waiting) {
  const auto promise =
      // Shared, because an interrupted caller returns before the answer.
      std::make_shared<std::promise<Result<net::Response>>>();
  auto future = promise->get_future();
  client_->send(request,
                [promise](Result<net::Response> answer) { promise->set_value(std::move(answer)); });
  while (future.wait_for(look_every) != std::future_status::ready) {
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    waiting();
  }
  return future.get();
}

Result<net::Response> PatientClient::send(const net::Request& request) {
  const Instant begun = now();
  const Instant give_up = begun + patience_;
  Notice notice(begun);
  // False for transfers, which take long in any case.
  const bool quick = request.timeout <= net::Request().timeout;
  for (auto wait = std::chrono::milliseconds(100);;
       wait = std::min(wait * 2, std::chrono::milliseconds(2'000))) {
    Result<net::Response> answer = ask(request, [&] {
      if (quick)
        notice.show("{} does not answer yet; waiting {:.0f} s for it (Ctrl-C ends that).", url_,
                    seconds(request.timeout));
    });
    if (answer) reached_ = true;
    if (!answer && !reached_ && answer.error().code == ErrorCode::unavailable) {
      WEFT_OK(net::try_to_reach(client_->url(), reach_max));
      if (client_->url().tls) return answer;
      return fail(ErrorCode::unavailable,
                  "{} closes the connection without an answer; if the server uses TLS, its address "
                  "begins with https://.",
                  url_);
    }
    const bool again = answer ? answer->status == 429 || answer->status == 503
                              : answer.error().code == ErrorCode::unavailable;
    if (!again || now() + wait > give_up) {
      if (!answer) return answer;
      // A coordinator states the reason in JSON; 404 and 501 without JSON come from other servers.
      if ((answer->status == 404 || answer->status == 501) && !in_json(*answer))
        return fail(ErrorCode::not_found, "{} is not a Weft coordinator (it answers {}).", url_,
                    answer->status);
      if (!answer->ok()) return std::unexpected(net::error_of(*answer));
      return answer;
    }
    const std::string why = answer ? net::error_of(*answer).message : answer.error().message;
    const Instant next = now() + wait;
    while (now() < next) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      notice.show("{} Trying again for {:.0f} s (Ctrl-C ends that).", why, seconds(patience_));
      std::this_thread::sleep_for(std::min<Duration>(look_every, next - now()));
    }
  }
}

}  // namespace weft::cli
