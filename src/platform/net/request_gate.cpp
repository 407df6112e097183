#include "platform/net/request_gate.h"

#include <algorithm>

#include "common/base/format.h"

namespace weft::net {
namespace {

// The cost of a request without a route: a file of the page, or a path that does not exist.
constexpr double cost_of_a_file = 0.1;
// The bytes that an upload reserves: its body is written to the disk as it arrives.
constexpr std::uint64_t upload_bytes_held = std::uint64_t{1} << 20;
constexpr Duration look_at_disk_every = std::chrono::milliseconds(250);

HeadRefusal refusal(int status, ErrorCode code, std::string sentence) {
  return {.status = status, .error = {code, std::move(sentence)}};
}

bool is_read(const RequestHead& head) { return head.method == "GET" || head.method == "HEAD"; }

bool all_of_form(std::string_view text, std::size_t least, std::size_t most, bool hex) {
  return text.size() >= least && text.size() <= most && std::ranges::all_of(text, [&](char c) {
           const bool digit = c >= '0' && c <= '9';
           const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           const bool hex_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           return digit || (hex ? hex_letter : letter);
         });
}

// Expects base58 of 32 and of 64 bytes, 16 bytes as hex, and a number.
bool has_form_of_signature(const RequestHead& head) {
  return all_of_form(head.client, 32, 44, false) && all_of_form(head.nonce, 32, 32, true) &&
         head.time.size() <= 16 && !head.time.empty() &&
         head.time.find_first_not_of("0123456789") == std::string::npos &&
         all_of_form(head.signature, 64, 88, false);
}

// Returns the content type without its parameters, in lower case.
std::string plain_type(std::string_view type) {
  std::string word(type.substr(0, type.find(';')));
  while (word.ends_with(' ')) word.pop_back();
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return word;
}

bool is_taken(std::string_view type, const RouteRule& rule) {
  const std::string word = plain_type(type);
  return word == "application/json" ||
         (rule.takes_bytes && (word.empty() || word == "application/octet-stream"));
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    if (pattern.starts_with("{}")) {
      pattern.remove_prefix(2);
      // The fixed text after the variable part of its segment: ":predict".
      const std::string_view suffix = pattern.substr(0, pattern.find('/'));
      const std::string_view segment = path.substr(0, path.find('/'));
      if (!segment.ends_with(suffix)) return false;
      pattern.remove_prefix(suffix.size());
      path.remove_prefix(segment.size());
    } else if (pattern.front() == path.front()) {
      pattern.remove_prefix(1);
      path.remove_prefix(1);
    } else {
      return false;
    }
  }
  return path.empty() && (pattern.empty() || pattern == "{}");
}

class RequestGate::Hold final : public BodyHold {
 public:
  Hold(std::shared_ptr<Guarded<Held>> held, std::string group, std::uint64_t bytes)
      : held_(std::move(held)), group_(std::move(group)), bytes_(bytes) {}
  ~Hold() override {
    held_->with([&](Held& held) {
      held.all -= bytes_;
      const auto found = held.of.find(group_);
      found->second -= bytes_;
      if (found->second == 0) held.of.erase(found);
    });
  }

 private:
  const std::shared_ptr<Guarded<Held>> held_;
  const std::string group_;
  const std::uint64_t bytes_;
};

RequestGate::RequestGate(Options options)
    : options_(std::move(options)),
      refusals_(Refusals({.at_once = options_.limits.refusals_at_once,
                          .wait_max = options_.limits.refusal_wait_max})),
      clients_(ClientAddresses({.per_client = options_.limits.addresses_per_client})) {
  if (!options_.rate) return;
  const Limits& limits = options_.limits;
  RateLimit::Options requests = *options_.rate;
  requests.strangers_per_second = limits.strangers_rates * requests.per_second;
  requests.newcomers_per_second = limits.newcomers_rates * requests.per_second;
  requests.newcomer_burst = limits.newcomer_burst;
  requests.network_share = limits.newcomers_network_share;
  rate_.with([&](auto& rate) { rate.emplace(requests); });
  if (limits.strangers_connections <= 0) return;
  // The rate of new connections of all strangers, which one address alone may use.
  const double all = limits.strangers_connections * requests.per_second;
  connections_.with([&](auto& rate) {
    rate.emplace(RateLimit::Options{.per_second = all,
                                    .burst = std::max(all, requests.burst),
                                    .strangers_per_second = all,
                                    .newcomers_per_second = all,
                                    .network_share = limits.newcomers_network_share,
                                    .newcomer_burst = limits.newcomer_burst});
  });
}

const RouteRule* RequestGate::rule_of(const RequestHead& head) const {
  const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  const auto found = std::ranges::find_if(rules_, [&](const RouteRule& rule) {
    return rule.method == method && matches_pattern(rule.pattern, head.path());
  });
  return found == rules_.end() ? nullptr : &*found;
}

RequestGate::Refused RequestGate::check_host(const RequestHead& head) const {
  if (!options_.limits.check_host) return std::nullopt;
  // The target must be a path: the authority of a whole URL would be a second Host.
  if (!head.target.starts_with('/'))
    return refusal(400, ErrorCode::invalid_argument, "The request's target does not begin with /.");
  if (head.hosts == 1 && is_accepted_host(host_of(head.host), options_.hosts)) return std::nullopt;
  return refusal(421, ErrorCode::invalid_argument,
                 weft::format("This coordinator does not answer for the host \"{}\" (weft serve "
                              "--host NAME adds one).",
                              head.host.substr(0, 255)));
}

// Refuses requests of pages of other sites, so that they cannot act or read with a visitor's
// browser. Any site may link to the page itself.
RequestGate::Refused RequestGate::check_site(const RequestHead& head, const RouteRule* rule) const {
  if (!options_.limits.check_origin) return std::nullopt;
  const bool is_page = rule == nullptr && is_read(head);
  const std::string& site = head.fetch_site;
  const bool foreign_site = !site.empty() && site != "same-origin" && site != "none";
  const auto separator = head.origin.find("://");
  const bool foreign_origin =
      !head.origin.empty() &&
      (separator == std::string::npos || head.origin.substr(separator + 3) != head.host);
  if ((foreign_site && !is_page) || foreign_origin)
    return refusal(403, ErrorCode::permission_denied,
                   "Pages of other origins may not send requests to this coordinator.");
  return std::nullopt;
}

RequestGate::Refused RequestGate::check_body(const RequestHead& head, const RouteRule* rule) const {
  const Limits& limits = options_.limits;
  if (head.chunked)
    return refusal(411, ErrorCode::invalid_argument,
                   "The request does not say how long it is (Content-Length).");
  const std::uint64_t length = head.length.value_or(0);
  const std::uint64_t most = rule == nullptr ? 0 : rule->body_bytes_max;
  if (limits.bodies_by_route && length > most) {
    if (rule == nullptr && !is_read(head))
      return refusal(404, ErrorCode::not_found,
                     weft::format("A {} request with a body is not possible at {}.",
                                  head.method.substr(0, 32), head.path().substr(0, 255)));
    return refusal(413, ErrorCode::resource_exhausted,
                   weft::format("The body has {} bytes; at most {} are taken here.", length, most));
  }
  if (length == 0 || rule == nullptr) return std::nullopt;
  if (limits.json_only && !rule->is_upload && !is_taken(head.content_type, *rule))
    return refusal(415, ErrorCode::invalid_argument,
                   "The body is JSON here: send it with the header \"Content-Type: "
                   "application/json\".");
  if (limits.signatures_first && rule->is_signed && !has_form_of_signature(head))
    return refusal(401, ErrorCode::unauthenticated,
                   "The request is not signed: it needs the headers Weft-Client, Weft-Nonce, "
                   "Weft-Time and Weft-Signature.");
  return std::nullopt;
}

RequestGate::Refused RequestGate::check_rate(const RouteRule* rule, const std::string& group,
                                             Instant at) {
  const double cost = rule == nullptr ? cost_of_a_file : rule->cost;
  if (cost <= 0) return std::nullopt;
  const bool taken = rate_.with([&](auto& rate) { return !rate || rate->take(group, cost, at); });
  if (taken) return std::nullopt;
  return refusal(429, ErrorCode::resource_exhausted,
                 "Too many requests from this address; try again in a second (--rate-limit on "
                 "the coordinator raises the bound).");
}

std::optional<RateLimit::Left> RequestGate::rate_left(std::string_view address, Instant at) const {
  return rate_.with([&](const auto& rate) -> std::optional<RateLimit::Left> {
    if (!rate) return std::nullopt;
    return rate->left(address, at);
  });
}

bool RequestGate::disk_is_full(Instant at) {
  const std::uint64_t kept = options_.limits.disk_bytes_kept;
  if (kept == 0 || !options_.disk_bytes_free) return false;
  return disk_.with([&](Disk& disk) {
    if (!disk.known || at - disk.looked >= look_at_disk_every)
      disk = {.looked = at, .known = true, .full = options_.disk_bytes_free() < kept};
    return disk.full;
  });
}

std::expected<RequestGate::Passed, HeadRefusal> RequestGate::judge(const RequestHead& head,
                                                                   std::string_view peer,
                                                                   Instant at) {
  const RouteRule* const rule = rule_of(head);
  const std::string group = address_group(address_of(peer, head.forwarded_for));
  if (auto refused = check_host(head)) return std::unexpected(*refused);
  if (auto refused = check_site(head, rule)) return std::unexpected(*refused);
  if (auto refused = check_rate(rule, group, at)) return std::unexpected(*refused);
  if (auto refused = check_body(head, rule)) return std::unexpected(*refused);
  if (rule != nullptr && rule->is_new_work && disk_is_full(at))
    return std::unexpected(
        refusal(503, ErrorCode::unavailable,
                "The coordinator's disk is almost full, so it takes no new work; what runs goes "
                "on. Try again later."));
  const std::uint64_t length = head.length.value_or(0);
  if (length == 0) return Passed{};
  const std::uint64_t counted =
      rule != nullptr && rule->is_upload ? std::min(length, upload_bytes_held) : length;
  const Limits& limits = options_.limits;
  const auto fits = [](std::uint64_t held, std::uint64_t more, std::uint64_t most) {
    return most == 0 || (held <= most && more <= most - held);
  };
  const bool taken = held_->with([&](Held& held) {
    const auto known = held.of.find(group);
    const std::uint64_t own = known == held.of.end() ? 0 : known->second;
    if (!fits(held.all, counted, limits.bodies_bytes_max) ||
        !fits(own, counted, limits.bodies_bytes_per_address))
      return false;
    held.all += counted;
    held.of[group] += counted;
    return true;
  });
  if (!taken)
    return std::unexpected(refusal(503, ErrorCode::unavailable,
                                   "Too many bytes of requests are under way; try again in a "
                                   "moment."));
  return Passed{.hold = std::make_shared<Hold>(held_, group, counted)};
}

std::shared_ptr<BodyHold> RequestGate::hold(std::string_view address, std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  const std::string group = address_group(address);
  held_->with([&](Held& held) {
    held.all += bytes;
    held.of[group] += bytes;
  });
  return std::make_shared<Hold>(held_, group, bytes);
}

bool RequestGate::is_trusted_proxy(std::string_view peer) const {
  const auto address = Address::parse(peer);
  return address && std::ranges::any_of(options_.trusted_proxies, [&](const std::string& one) {
           return Address::parse(one) == address;
         });
}

bool RequestGate::may_connect(std::string_view peer, Instant at) {
  if (is_trusted_proxy(peer)) return true;
  return connections_.with(
      [&](auto& rate) { return !rate || rate->take(peer, options_.connection_cost, at); });
}

void RequestGate::recognise(std::string_view address, Instant at) {
  const auto note = [&](auto& rate) {
    if (rate) rate->recognise(address, at);
  };
  rate_.with(note);
  connections_.with(note);
}

void RequestGate::recognise_client(std::string_view client, std::string_view address, Instant at) {
  if (clients_.with([&](auto& clients) { return clients.take(client, address, at); }))
    recognise(address, at);
}

// A proxy is never delayed, because its connections are those of many clients.
Duration RequestGate::refused(std::string_view peer, Instant at) {
  if (is_trusted_proxy(peer)) return Duration::zero();
  const bool is_known =
      rate_.with([&](const auto& rate) { return !rate || rate->is_known(peer, at); });
  if (is_known) return Duration::zero();
  return refusals_.with([&](auto& refusals) { return refusals.count(peer, at); });
}

std::uint64_t RequestGate::bytes_held() const {
  return held_->with([](const Held& held) { return held.all; });
}

}  // namespace weft::net
