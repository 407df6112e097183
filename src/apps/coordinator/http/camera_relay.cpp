#include "apps/coordinator/http/camera_relay.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"

namespace weft::coordinator {
namespace {

// The most credit of one grant, so that networks take turns often.
constexpr std::size_t grant_bytes_max = std::size_t{64} << 10;
// A grant is due when this part of a window has no credit: fewer messages than one for each record.
constexpr std::size_t grant_part = 4;
constexpr double burst_seconds = 0.25;  // The rate's burst, as a time of the rate.

std::size_t cost_of(std::size_t bytes) { return std::max(bytes, CameraRelay::record_cost_least); }

std::unexpected<Error> no_pair() {
  return fail(ErrorCode::not_found, "The relay has no such pair, or the pair has ended.");
}

}  // namespace

std::size_t CameraRelay::pairs_of_network(const std::string& network) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      pairs_, [&](const auto& one) { return one.second.pair.network == network; }));
}

std::optional<CameraRelay::PairId> CameraRelay::yielding(const std::string& network) const {
  struct Network {
    std::size_t pairs = 0;
    const Open* oldest = nullptr;
  };
  std::map<std::string_view, Network> networks;
  for (const auto& [id, open] : pairs_) {
    Network& its = networks[open.pair.network];
    ++its.pairs;
    if (its.oldest == nullptr || open.since < its.oldest->since) its.oldest = &open;
  }
  if (networks.empty()) return std::nullopt;
  const Network& largest = std::ranges::max_element(networks, {}, [](const auto& one) {
                             return one.second.pairs;
                           })->second;
  const bool yields = largest.pairs >= pairs_of_network(network) + 2;
  return yields ? std::optional(largest.oldest->pair.id) : std::nullopt;
}

Result<std::optional<CameraRelay::Ended>> CameraRelay::open(Pair pair, Instant now) {
  const Bounds& bounds = options_.bounds;
  if (options_.bytes_per_second && *options_.bytes_per_second <= 0 && !pair.is_local)
    return fail(ErrorCode::resource_exhausted,
                "This coordinator relays no pictures (weft serve --camera-relay 0), so the two "
                "devices need a direct connection.");
  const auto of_meeting = static_cast<std::size_t>(std::ranges::count_if(
      pairs_, [&](const auto& one) { return one.second.pair.meeting == pair.meeting; }));
  if (bounds.pairs_per_meeting != 0 && of_meeting >= bounds.pairs_per_meeting)
    return fail(ErrorCode::resource_exhausted,
                "The coordinator relays for {} devices of this camera already.",
                bounds.pairs_per_meeting);
  if (bounds.pairs_per_network != 0 && pairs_of_network(pair.network) >= bounds.pairs_per_network)
    return fail(ErrorCode::resource_exhausted,
                "The coordinator relays for {} devices of this network already.",
                bounds.pairs_per_network);
  std::optional<Ended> ended;
  if (bounds.pairs_max != 0 && pairs_.size() >= bounds.pairs_max) {
    const auto oldest = yielding(pair.network);
    if (!oldest)
      return fail(ErrorCode::resource_exhausted,
                  "The coordinator relays for too many devices already; try again later.");
    close(*oldest);
    ended = Ended{.id = *oldest,
                  .why =
                      "The coordinator relays for too many devices, and a device of another "
                      "network took the place of this one."};
  }
  const PairId id = pair.id;
  Open& open = pairs_[id];
  open = {.pair = std::move(pair),
          .from_host = {.window = window_to_guest, .moved = now},
          .from_guest = {.window = window_to_host, .moved = now},
          .since = now,
          .last_record = now};
  owe(open, Side::host, window_to_guest);
  owe(open, Side::guest, window_to_host);
  return ended;
}

void CameraRelay::close(PairId id) {
  const auto found = pairs_.find(id);
  if (found == pairs_.end()) return;
  const auto is_its = [id](const Wish& wish) { return wish.id == id; };
  std::erase_if(local_, is_its);
  const std::string network = queue_of(found->second);
  if (const auto wishes = waiting_.find(network); wishes != waiting_.end()) {
    std::erase_if(wishes->second, is_its);
    if (wishes->second.empty()) {
      waiting_.erase(wishes);
      std::erase(turns_, network);
    }
  }
  pairs_.erase(found);
}

std::string CameraRelay::queue_of(const Open& open) const {
  return options_.bounds.networks_take_turns ? open.pair.network : std::string();
}

void CameraRelay::owe(Open& open, Side sender, std::size_t bytes) {
  Way& its = way(open, sender);
  its.owed += bytes;
  if (its.waits || its.owed < its.window / grant_part) return;
  its.waits = true;
  const Wish wish{.id = open.pair.id, .sender = sender};
  if (open.pair.is_local || !options_.bytes_per_second) return local_.push_back(wish);
  const std::string network = queue_of(open);
  std::deque<Wish>& wishes = waiting_[network];
  if (wishes.empty()) turns_.push_back(network);
  wishes.push_back(wish);
}

Result<> CameraRelay::sent(PairId id, Side sender, std::size_t bytes, Instant now) {
  const auto found = pairs_.find(id);
  if (found == pairs_.end()) return no_pair();
  if (bytes == 0 || bytes > record_bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "A record of the relay has 1 to {} bytes; this one has {}.", record_bytes_max,
                bytes);
  Way& its = way(found->second, sender);
  const std::size_t cost = cost_of(bytes);
  if (cost > its.credit && options_.bounds.credit_is_needed)
    return fail(ErrorCode::resource_exhausted,
                "A record of {} bytes was sent to the relay with credit for {} bytes only.", bytes,
                its.credit);
  its.credit -= std::min(its.credit, cost);
  if (its.under_way.empty()) its.moved = now;
  its.under_way.push_back(static_cast<std::uint32_t>(cost));
  found->second.last_record = now;
  return {};
}

Result<> CameraRelay::taken(PairId id, Side receiver, std::size_t records, Instant now) {
  const auto found = pairs_.find(id);
  if (found == pairs_.end()) return no_pair();
  const Side sender = receiver == Side::host ? Side::guest : Side::host;
  Way& its = way(found->second, sender);
  if (records == 0 || records > its.under_way.size())
    return fail(ErrorCode::invalid_argument,
                "{} records are reported as taken from the relay, and {} are under way.", records,
                its.under_way.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < records; ++i) {
    bytes += its.under_way.front();
    its.under_way.pop_front();
  }
  its.moved = now;
  owe(found->second, sender, bytes);
  return {};
}

CameraRelay::Grant CameraRelay::grant(Open& open, const Wish& wish, std::size_t bytes_max) {
  Way& its = way(open, wish.sender);
  const std::size_t bytes = std::min(its.owed, bytes_max);
  its.owed -= bytes;
  its.credit += bytes;
  return {.id = wish.id, .sender = wish.sender, .bytes = bytes};
}

std::vector<CameraRelay::Grant> CameraRelay::grants(Instant now) {
  std::vector<Grant> out;
  for (const Wish& wish : std::exchange(local_, {})) {
    Open& open = pairs_.at(wish.id);
    way(open, wish.sender).waits = false;
    out.push_back(grant(open, wish, window_to_guest));
  }
  if (!options_.bytes_per_second) return out;
  const double rate = *options_.bytes_per_second;
  bucket_.refill({.per_second = rate,
                  .burst = std::max(rate * burst_seconds, static_cast<double>(grant_bytes_max))},
                 now);
  while (!turns_.empty()) {
    std::deque<Wish>& wishes = waiting_.at(turns_.front());
    const Wish wish = wishes.front();
    Open& open = pairs_.at(wish.id);
    Way& its = way(open, wish.sender);
    if (!bucket_.take(static_cast<double>(std::min(its.owed, grant_bytes_max)))) return out;
    out.push_back(grant(open, wish, grant_bytes_max));
    wishes.pop_front();
    its.waits = its.owed > 0;
    if (its.waits) wishes.push_back(wish);
    std::string network = std::move(turns_.front());
    turns_.pop_front();
    if (wishes.empty())
      waiting_.erase(network);
    else
      turns_.push_back(std::move(network));
  }
  return out;
}

std::vector<CameraRelay::Ended> CameraRelay::expired(Instant now) {
  std::vector<Ended> out;
  const Bounds& bounds = options_.bounds;
  const auto is_stuck = [&](const Way& its) {
    return bounds.stuck_max != Duration::zero() && !its.under_way.empty() &&
           now - its.moved >= bounds.stuck_max;
  };
  for (const auto& [id, open] : pairs_) {
    if (is_stuck(open.from_host) || is_stuck(open.from_guest))
      out.push_back({.id = id,
                     .why = weft::format("One side took nothing from the relay for {:.0f} s.",
                                         seconds(bounds.stuck_max))});
    else if (bounds.idle_max != Duration::zero() && now - open.last_record >= bounds.idle_max)
      out.push_back({.id = id,
                     .why = weft::format("Nothing went over the relay for {:.0f} s.",
                                         seconds(bounds.idle_max))});
  }
  for (const Ended& one : out) close(one.id);
  return out;
}

}  // namespace weft::coordinator
