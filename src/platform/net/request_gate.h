// Decides on each request by its head, before a byte of its body is taken. It checks the host, the
// origin, the route, the length of the body and the rate of the address. It also reserves memory
// for the bytes of bodies that are being received, in all and by address.
//
// Threading: any thread. The registered routes do not change once requests are judged.
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

// The bounds of a route. A path without a rule takes no body.
struct RouteRule {
  std::string method;   // "GET" also covers HEAD.
  std::string pattern;  // "/v1/jobs/{}".
  double cost = 0;      // Tokens that a request takes of its address's bucket.
  std::uint64_t body_bytes_max = 0;
  bool is_upload = false;  // The handler sees the head and streams a body of any content type.
  bool is_socket = false;
  bool is_signed = false;    // The signature headers are checked for their form before the body.
  bool is_new_work = false;  // Refused while the disk is almost full.
  // Besides JSON, accepts application/octet-stream, which a page of another origin cannot send
  // without a preflight request, and bodies without a type, which only the check of the origin
  // stops.
  bool takes_bytes = false;
};

[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view path);

// Reserved bytes of a body that is being received. The last owner's release frees them.
class BodyHold {
 public:
  virtual ~BodyHold() = default;
};

class RequestGate {
 public:
  struct Options {
    Limits limits;
    std::optional<RateLimit::Options> rate = RateLimit::Options{};
    double connection_cost = 1;                     // The tokens that a new connection costs.
    std::vector<std::string> hosts = {};            // The accepted host names besides loopback.
    std::vector<std::string> trusted_proxies = {};  // Proxies whose X-Forwarded-For is trusted.
    // Returns the free bytes of the disk; called at most four times a second.
    std::function<std::uint64_t()> disk_bytes_free = {};
  };
  // The reservation that an accepted request holds until its body has come.
  struct Passed {
    std::shared_ptr<BodyHold> hold;
  };

  explicit RequestGate(Options options);
  void add(RouteRule rule) { rules_.push_back(std::move(rule)); }

  // Accepts or refuses a request. `peer` is the connection's address. A refusal has the status 400,
  // 401, 403, 404, 411, 413, 415, 421, 429 or 503.
  [[nodiscard]] std::expected<Passed, HeadRefusal> judge(const RequestHead& head,
                                                         std::string_view peer, Instant at);
  // Reserves the bytes of a complete body while its request is answered. Never refuses, because
  // judge() has accepted the bytes.
  [[nodiscard]] std::shared_ptr<BodyHold> hold(std::string_view address, std::uint64_t bytes);
  // The tokens that the address has left; nullopt if requests are not counted.
  [[nodiscard]] std::optional<RateLimit::Left> rate_left(std::string_view address,
                                                         Instant at) const;
  // True if the peer is a trusted proxy, to which bounds by address do not apply.
  [[nodiscard]] bool is_trusted_proxy(std::string_view peer) const;
  [[nodiscard]] std::string address_of(std::string_view peer, std::string_view forwarded) const {
    return forwarded_address(peer, forwarded, options_.trusted_proxies);
  }
  [[nodiscard]] std::uint64_t bytes_held() const;

  // True if a new connection of the peer is accepted. The connections of strangers share one rate.
  [[nodiscard]] bool may_connect(std::string_view peer, Instant at);
  // Makes the address known, so that it keeps its own rates for some time.
  void recognise(std::string_view address, Instant at);
  // Makes the address known if it is one of the at most Limits::addresses_per_client addresses of
  // the client.
  void recognise_client(std::string_view client, std::string_view address, Instant at);
  // Counts a request of the peer that was refused by its head. Returns how long the answer waits.
  [[nodiscard]] Duration refused(std::string_view peer, Instant at);

 private:
  struct Held {
    std::uint64_t all = 0;
    // The number of reserved bytes by address group.
    std::map<std::string, std::uint64_t, std::less<>> of;
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
  Guarded<std::optional<RateLimit>> connections_;  // The rate of new connections.
  Guarded<Refusals> refusals_;
  Guarded<ClientAddresses> clients_;
  Guarded<Disk> disk_;
  std::shared_ptr<Guarded<Held>> held_ = std::make_shared<Guarded<Held>>();
};

}  // namespace weft::net
