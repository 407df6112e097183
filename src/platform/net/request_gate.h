// Decides on each request by its head alone, before a byte of its body is taken: who asks for which
// host, from which page, for which route, with how long a body, and how often. Holds the bytes of
// bodies under way, in all and by address.
//
// Threading: any. Registered routes do not change once requests are judged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/guarded.h"
#include "platform/net/address.h"
#include "platform/net/client_addresses.h"
#include "platform/net/limits.h"
#include "platform/net/rate_limit.h"
#include "platform/net/refusals.h"
#include "platform/net/request_head.h"

namespace weft::net {

// What a route takes. A path without one takes no body.
struct RouteRule {
  std::string method;   // "GET" stands for HEAD too.
  std::string pattern;  // "/v1/jobs/{}".
  double cost = 0;      // Tokens of the address's bucket.
  std::uint64_t body_bytes_max = 0;
  bool is_upload = false;  // Its handler sees the head and streams the body: any content type.
  bool is_socket = false;
  bool is_signed = false;    // Wants the form of a signature before the body.
  bool is_new_work = false;  // Refused while the disk is almost full.
  // Beside JSON: application/octet-stream, which a page of another origin cannot send unasked, and
  // no type at all, for which the check of the origin stands alone.
  bool takes_bytes = false;
};

[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view path);

// Bytes of bodies under way. Released when the last owner goes.
class BodyHold {
 public:
  virtual ~BodyHold() = default;
};

class RequestGate {
 public:
  struct Options {
    Limits limits;
    std::optional<RateLimit::Options> rate = RateLimit::Options{};
    double connection_cost = 1;                     // Tokens of a new connection.
    std::vector<std::string> hosts = {};            // Beside those of loopback.
    std::vector<std::string> trusted_proxies = {};  // Addresses whose X-Forwarded-For is believed.
    // Bytes that are free on the disk; asked four times a second at most.
    std::function<std::uint64_t()> disk_bytes_free = {};
  };
  // What a request that is taken holds until its body has come.
  struct Passed {
    std::shared_ptr<BodyHold> hold;
  };

  explicit RequestGate(Options options);
  void add(RouteRule rule) { rules_.push_back(std::move(rule)); }

  // `peer` is the connection's address. A refusal names its status: 400, 403, 404, 411, 413, 415,
  // 421, 429 or 503.
  [[nodiscard]] std::expected<Passed, HeadRefusal> judge(const RequestHead& head,
                                                         std::string_view peer, Instant at);
  // Counts a body that is here whole, for as long as its request is being answered. Never refused:
  // its bytes were let in by judge().
  [[nodiscard]] std::shared_ptr<BodyHold> hold(std::string_view address, std::uint64_t bytes);
  // What the address may ask yet; nothing if requests are not counted.
  [[nodiscard]] std::optional<RateLimit::Left> rate_left(std::string_view address,
                                                         Instant at) const;
  // Whether the peer is a proxy, for which bounds by address do not count.
  [[nodiscard]] bool is_trusted_proxy(std::string_view peer) const;
  [[nodiscard]] std::string address_of(std::string_view peer, std::string_view forwarded) const {
    return forwarded_address(peer, forwarded, options_.trusted_proxies);
  }
  [[nodiscard]] std::uint64_t bytes_held() const;

  // Whether a new connection of the peer is taken: those of strangers have a rate together.
  [[nodiscard]] bool may_connect(std::string_view peer, Instant at);
  // The address is a known peer's: it keeps its own rates for some time.
  void recognise(std::string_view address, Instant at);
  // The address is a known client's, if it is one of the client's few.
  void recognise_client(std::string_view client, std::string_view address, Instant at);
  // A request of the peer was refused by its head: how long its answer waits.
  [[nodiscard]] Duration refused(std::string_view peer, Instant at);

 private:
  struct Held {
    std::uint64_t all = 0;
    std::map<std::string, std::uint64_t, std::less<>> of;  // By address group.
  };
  struct Disk {
    Instant looked{};
    bool known = false;
    bool full = false;
  };
  class Hold;
  using Refused = std::optional<HeadRefusal>;

  [[nodiscard]] const RouteRule* rule_of(const RequestHead& head) const;
  [[nodiscard]] Refused check_host(const RequestHead& head) const;
  [[nodiscard]] Refused check_site(const RequestHead& head, const RouteRule* rule) const;
  [[nodiscard]] Refused check_body(const RequestHead& head, const RouteRule* rule) const;
  [[nodiscard]] Refused check_rate(const RouteRule* rule, const std::string& group, Instant at);
  [[nodiscard]] bool disk_is_full(Instant at);

  const Options options_;
  std::vector<RouteRule> rules_;
  Guarded<std::optional<RateLimit>> rate_;
  Guarded<std::optional<RateLimit>> connections_;  // New ones.
  Guarded<Refusals> refusals_;
  Guarded<ClientAddresses> clients_;
  Guarded<Disk> disk_;
  std::shared_ptr<Guarded<Held>> held_ = std::make_shared<Guarded<Held>>();
};

}  // namespace weft::net
