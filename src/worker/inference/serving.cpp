#include "worker/inference/serving.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/protocol/peer_line.h"
#include "worker/inference/chain_member.h"

namespace weft::worker {

namespace wire = protocol::serving;

namespace {

// "tcp" of "tcp://192.168.1.5:4711#...".
std::string_view kind_of(std::string_view line) { return line.substr(0, line.find(':')); }

}  // namespace

// Kept by what is under way, so that it may be let go of at any time.
class Serving::Line : public std::enable_shared_from_this<Line> {
 public:
  Line(ServingHost& host, Options options) : host_(host), options_(std::move(options)) {}

  void join(std::string token) {
    leave();
    token_ = std::move(token);
    connect();
  }
  void leave() {
    ++epoch_;
    connected_ = false;
    token_.clear();
    host_.close();
    drop_all();
  }
  [[nodiscard]] Stats stats() const {
    Stats out = stats_;
    out.connected = connected_;
    out.shards = static_cast<std::uint32_t>(shards_.size());
    for (const auto& [id, member] : members_)
      out.running += static_cast<std::uint32_t>(member->running());
    return out;
  }

 private:
  // Lines of its own, of one chain in one epoch.
  struct Direct {
    struct Sent {
      std::uint32_t number = 0;
      Instant sent{};
    };
    std::uint32_t epoch = 0;
    std::uint32_t index = 0;
    bool all = false;  // To all members to which it sends.
    std::set<std::uint32_t> waiting{}, open{};
    std::vector<std::uint32_t> unreached{};
    bool settled = false;
    std::string word{};
    std::vector<PublicKey> workers{};
    std::map<std::uint32_t, Sent> pings{};
  };

  template <class Function>
  auto while_joined(Function function) {
    return [weak = weak_from_this(), epoch = epoch_,
            function = std::move(function)](auto&&... arguments) {
      if (const auto self = weak.lock(); self && self->epoch_ == epoch)
        function(*self, std::forward<decltype(arguments)>(arguments)...);
    };
  }

  void connect() {
    host_.connect(
        {.open = while_joined([](Line& self) {
           self.connected_ = true;
           wire::Offer offer{.token = self.token_,
                             .memory_bytes = self.options_.memory_bytes,
                             .gb_per_s = self.options_.gb_per_s,
                             .lines = self.options_.lines};
           if (self.options_.signer != nullptr) offer.key = self.options_.signer->public_key();
           self.tell(offer);
         }),
         .text = while_joined([](Line& self, const std::string& text) { self.on_text(text); }),
         .binary = while_joined([](Line& self, const ByteVector& bytes) { self.on_frame(bytes); }),
         .closed = while_joined([](Line& self, const std::string&) { self.on_closed(); })});
  }
  void on_closed() {
    connected_ = false;
    drop_all();
    ++epoch_;
    host_.after(options_.retry, while_joined([](Line& self) {
                  if (!self.token_.empty()) self.connect();
                }));
  }
  // Ends the chains; shards wait for the next order, when their engines are free.
  void drop_all() {
    auto shards = std::exchange(shards_, {});
    loading_.clear();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> chains;  // And the shard of each.
    for (const auto& [chain, member] : members_)
      chains.emplace_back(chain, member->link().members[member->link().index].shard);
    for (const auto& [chain, id] : chains) {
      auto node = shards.extract(id);
      end_chain(chain, [weak = weak_from_this(), shard = node.empty() ? nullptr : node.mapped()] {
        if (const auto self = weak.lock(); self && shard) self->retire(shard);
      });
    }
    for (auto& [id, shard] : shards) retire(std::move(shard));
  }
  void retire(std::shared_ptr<Shard> shard) {
    constexpr std::size_t idle_max = 4;
    idle_.push_back(std::move(shard));
    if (idle_.size() > idle_max) idle_.erase(idle_.begin());
  }

  void tell(const wire::ServingWorkerMessage& message) {
    if (connected_) host_.send_text(wire::encode(message));
  }

  void on_text(const std::string& text) {
    const auto message = wire::decode_coordinator(text);
    if (!message) {
      log_warning("The coordinator sends what is not a message of /v1/serve: {}",
                  message.error().message);
      return;
    }
    std::visit([this](const auto& what) { on(what); }, *message);
  }

  void on(const wire::Serving& serving) {
    pulse(std::chrono::milliseconds(std::clamp(serving.pulse_ms, 50u, 60'000u)));
  }
  void pulse(Duration every) {
    wire::Pulse pulse{.memory_free = options_.memory_bytes,
                      .direct_hops = stats_.direct_hops,
                      .direct_bytes = stats_.direct_bytes};
    for (const auto& [id, member] : members_)
      pulse.running += static_cast<std::uint32_t>(member->running());
    Duration busy{};
    for (const auto& [id, shard] : shards_) {
      pulse.memory_free -= std::min(pulse.memory_free, shard->memory_bytes());
      busy += shard->meter().take_busy(host_.now());
      if (const auto pace = shard->meter().pace(host_.now()))
        pulse.paces.push_back({.shard = id, .ms = seconds(*pace) * 1e3});
    }
    pulse.load = std::clamp(seconds(busy) / seconds(every), 0.0, 1.0);
    for (const auto& [worker, quickest] : latencies_)
      pulse.peers.push_back({.worker = worker, .ms = seconds(quickest) * 1e3});
    latencies_.clear();
    tell(pulse);
    ping();
    host_.after(every, while_joined([every](Line& self) {
                  if (self.connected_) self.pulse(every);
                }));
  }
  // On every line of its own; what comes back is told with the next pulse.
  void ping() {
    if (options_.peers == nullptr) return;
    for (auto& [chain, lines] : direct_) {
      for (const std::uint32_t member : lines.open) {
        lines.pings[member] = {.number = ++pings_, .sent = host_.now()};
        (void)options_.peers->send(
            chain, member,
            wire::encode(wire::PingFrame{.chain = chain,
                                         .epoch = lines.epoch,
                                         .from = static_cast<std::uint16_t>(lines.index),
                                         .to = static_cast<std::uint16_t>(member),
                                         .number = pings_}));
      }
    }
  }

  void on(const wire::Load& order) {
    const auto kept =
        std::ranges::find_if(idle_, [&](const auto& shard) { return shard->serves(order); });
    if (kept != idle_.end()) {
      auto shard = std::move(*kept);
      idle_.erase(kept);
      return loaded(order.shard, std::move(shard), 0);
    }
    // Room first: what was not asked for goes.
    idle_.clear();
    loading_.insert(order.shard);
    const Instant begun = host_.now();
    start<Result<std::shared_ptr<Shard>>>(
        Shard::load(host_, order, token_),
        while_joined([id = order.shard, begun](Line& self, Result<std::shared_ptr<Shard>> shard) {
          if (self.loading_.erase(id) == 0) return;
          if (shard) return self.loaded(id, std::move(*shard), seconds(self.host_.now() - begun));
          log_warning("A shard cannot be loaded: {}", shard.error().message);
          self.tell(wire::Unloaded{.shard = id,
                                   .code = std::string(to_string(shard.error().code)),
                                   .message = shard.error().message});
        }));
  }
  void loaded(std::uint32_t id, std::shared_ptr<Shard> shard, double time) {
    const wire::Loaded message{.shard = id,
                               .seconds = time,
                               .memory_bytes = shard->memory_bytes(),
                               .device = shard->device(),
                               .sequences = shard->sequences()};
    shards_[id] = std::move(shard);
    tell(message);
  }
  void on(const wire::Unload& order) {
    loading_.erase(order.shard);
    const auto found = shards_.find(order.shard);
    if (found == shards_.end()) return;
    const auto shard = std::move(found->second);
    shards_.erase(found);
    const auto user = std::ranges::find_if(members_, [&](const auto& entry) {
      const wire::Link& link = entry.second->link();
      return link.members[link.index].shard == order.shard;
    });
    if (user == members_.end()) return retire(shard);
    end_chain(user->first, [weak = weak_from_this(), shard] {
      if (const auto self = weak.lock()) self->retire(shard);
    });
  }

  void on(const wire::Link& link) {
    const auto refuse = [&](std::string message) {
      tell(wire::Broken{.chain = link.chain,
                        .epoch = link.epoch,
                        .member = link.index,
                        .message = std::move(message)});
    };
    if (link.index >= link.members.size() || link.members.size() > 64)
      return refuse("A link names no member.");
    const auto shard = shards_.find(link.members[link.index].shard);
    if (shard == shards_.end()) return refuse("The shard is not loaded.");
    wanted_[link.chain] = link.epoch;
    // The engine is free when the earlier member has ended.
    end_chain(link.chain, [weak = weak_from_this(), link, shard = shard->second] {
      if (const auto self = weak.lock();
          self && self->connected_ && self->wanted_[link.chain] == link.epoch)
        self->begin_chain(link, shard);
    });
  }
  void begin_chain(const wire::Link& link, const std::shared_ptr<Shard>& shard) {
    const std::uint32_t chain = link.chain;
    members_[chain] = ChainMember::create(
        host_, link, shard,
        {.send =
             [weak = weak_from_this(), chain, epoch = link.epoch, index = link.index](
                 std::uint16_t to, const ByteVector& message) {
               if (const auto self = weak.lock())
                 self->send_hop(chain, epoch, static_cast<std::uint16_t>(index), to, message);
             },
         .tell =
             [weak = weak_from_this()](const wire::ServingWorkerMessage& message) {
               const auto self = weak.lock();
               if (!self) return;
               if (const auto* tokens = std::get_if<wire::Tokens>(&message))
                 self->stats_.tokens += tokens->tokens.size();
               self->tell(message);
             },
         .frames = &frames_,
         .signer = options_.signer});
    if (link.members.size() == 1)
      return tell(wire::Linked{.chain = chain, .epoch = link.epoch, .line = "self"});
    open_lines(link);
  }
  // Says that it is linked when its lines are open, or when they take too long: the coordinator
  // relays then.
  void open_lines(const wire::Link& link) {
    const auto count = static_cast<std::uint32_t>(link.members.size());
    std::set<std::uint32_t> others;
    others.insert((link.index + 1) % count);          // Onwards; from the last one to the first.
    others.insert((link.index + count - 1) % count);  // From whom.
    if (link.index == 0) {
      for (std::uint32_t other = 1; other < count; ++other) others.insert(other);  // Faults.
    } else {
      others.insert(0);
    }
    others.erase(link.index);
    PeerLines::Chain wanted{.chain = link.chain,
                            .epoch = link.epoch,
                            .index = link.index,
                            .others = {},
                            .ice = link.ice};
    bool all = true;
    for (const std::uint32_t other : others) {
      const wire::Member& member = link.members[other];
      const auto line = std::ranges::find_if(member.lines, [&](const std::string& theirs) {
        return std::ranges::any_of(options_.lines, [&](const std::string& ours) {
          return kind_of(ours) == kind_of(theirs);
        });
      });
      if (line == member.lines.end() || member.token.empty()) {
        all = false;
      } else {
        wanted.others.push_back({.member = other, .line = *line, .token = member.token});
      }
    }
    if (options_.peers == nullptr || wanted.others.empty())
      return tell(wire::Linked{.chain = link.chain, .epoch = link.epoch, .line = "relay"});

    Direct& lines = direct_[link.chain];
    lines = {.epoch = link.epoch, .index = link.index, .all = all};
    for (const auto& other : wanted.others) lines.waiting.insert(other.member);
    for (const wire::Member& member : link.members) lines.workers.push_back(member.worker);
    const auto of_this = [this, chain = link.chain, epoch = link.epoch](auto function) {
      return while_joined([chain, epoch, function](Line& self, auto&&... arguments) {
        const auto found = self.direct_.find(chain);
        if (found != self.direct_.end() && found->second.epoch == epoch)
          function(self, found->second, std::forward<decltype(arguments)>(arguments)...);
      });
    };
    options_.peers->open(
        std::move(wanted),
        {.signal = of_this([chain = link.chain](Line& self, const Direct& direct, std::uint32_t to,
                                                std::string text) {
           self.tell(wire::Signal{.chain = chain,
                                  .epoch = direct.epoch,
                                  .from = direct.index,
                                  .to = to,
                                  .text = std::move(text)});
         }),
         .frame = of_this([chain = link.chain](Line& self, Direct& direct, std::uint32_t from,
                                               const ByteVector& frame) {
           self.on_direct(chain, direct, from, frame);
         }),
         .open = of_this([chain = link.chain](Line& self, Direct& direct, std::uint32_t member,
                                              std::string_view word) {
           // One that comes late is not used: what goes over the coordinator already must not be
           // overtaken.
           if (direct.settled || direct.waiting.erase(member) == 0) return;
           direct.open.insert(member);
           direct.word = word;
           if (direct.waiting.empty()) self.settle(chain, direct);
         }),
         .closed = of_this([chain = link.chain](Line& self, Direct& direct, std::uint32_t member) {
           if (direct.open.contains(member)) return self.part(chain, direct, member);
           if (direct.waiting.erase(member) == 0) return;
           direct.unreached.push_back(member);
           if (direct.waiting.empty()) self.settle(chain, direct);
         })});
    host_.after(options_.line_patience, of_this([chain = link.chain](Line& self, Direct& direct) {
                  self.settle(chain, direct);
                }));
  }
  void settle(std::uint32_t chain, Direct& direct) {
    if (std::exchange(direct.settled, true)) return;
    direct.unreached.insert(direct.unreached.end(), direct.waiting.begin(), direct.waiting.end());
    direct.waiting.clear();
    const bool all = direct.all && direct.unreached.empty();
    tell(wire::Linked{.chain = chain,
                      .epoch = direct.epoch,
                      .line = all ? direct.word : "relay",
                      .unreached = direct.unreached});
  }
  // What was on the line may be lost: all members are to be linked again.
  void part(std::uint32_t chain, Direct& direct, std::uint32_t member) {
    direct.open.erase(member);
    tell(wire::Parted{.chain = chain, .epoch = direct.epoch, .member = member});
  }
  // Every frame on a line is of the two at its ends, in the epoch for which it was opened.
  void on_direct(std::uint32_t chain, Direct& direct, std::uint32_t from, const ByteVector& frame) {
    const auto index = static_cast<std::uint16_t>(direct.index);
    if (!wire::belongs(frame, chain, direct.epoch, static_cast<std::uint16_t>(from), index)) {
      log_warning(
          "A direct line of a chain carried a frame of another worker or epoch; the coordinator "
          "links the chain again.");
      return part(chain, direct, from);
    }
    if (!wire::is_ping(frame)) return on_frame(frame);
    const auto ping = wire::decode_ping(frame);
    if (!ping) return;
    if (!ping->answer) {
      wire::PingFrame answer = *ping;
      std::swap(answer.from, answer.to);
      answer.answer = true;
      (void)options_.peers->send(chain, from, wire::encode(answer));
      return;
    }
    const auto sent = direct.pings.find(from);
    if (sent == direct.pings.end() || sent->second.number != ping->number ||
        from >= direct.workers.size())
      return;
    const Duration way = (host_.now() - sent->second.sent) / 2;
    const auto known = latencies_.emplace(direct.workers[from], way).first;
    known->second = std::min(known->second, way);
  }
  void end_chain(std::uint32_t chain, std::function<void()> done) {
    const auto found = members_.find(chain);
    if (found == members_.end()) {
      // It may still be coming to its end.
      if (const auto ending = ending_.find(chain); ending != ending_.end()) {
        ending->second = std::move(done);
        return;
      }
      if (done) done();
      return;
    }
    const auto member = std::move(found->second);
    members_.erase(found);
    direct_.erase(chain);
    if (options_.peers != nullptr) options_.peers->close(chain);
    ending_[chain] = std::move(done);
    member->end([weak = weak_from_this(), chain] {
      const auto self = weak.lock();
      if (!self) return;
      auto node = self->ending_.extract(chain);
      if (!node.empty() && node.mapped()) node.mapped()();
    });
  }

  void on(const wire::Unlink& order) {
    wanted_.erase(order.chain);
    end_chain(order.chain, {});
  }
  void on(const wire::Ask& ask) {
    const auto member = members_.find(ask.chain);
    if (member == members_.end() || member->second->link().epoch != ask.epoch)
      return;  // The coordinator knows by now.
    member->second->ask(ask);
  }
  void on(const wire::Drop& order) {
    for (const auto& [chain, member] : members_) member->drop(order.request);
  }
  void on(const wire::Signal& signal) {
    if (options_.peers != nullptr)
      options_.peers->signal(signal.chain, signal.epoch, signal.from, signal.text);
  }

  void on(const wire::Reopen& order) {
    const std::set<std::uint32_t> numbers(order.numbers.begin(), order.numbers.end());
    frames_.show(
        {.chain = order.chain, .epoch = order.epoch, .line = order.line},
        [&](std::uint32_t number, std::uint32_t sequence) {
          if (order.by_sequence) return sequence == order.sequence;
          return numbers.empty() || numbers.contains(number);
        },
        [&](const proof::FrameOpening& opening) {
          wire::cut_hops(order.chain, order.epoch, static_cast<std::uint16_t>(order.line),
                         wire::hop_to_coordinator, proof::encode(opening),
                         [this](ByteVector frame) {
                           if (connected_) host_.send_binary(std::move(frame));
                         });
        });
    tell(wire::Reopened{.chain = order.chain, .epoch = order.epoch, .line = order.line});
  }

  void send_hop(std::uint32_t chain, std::uint32_t epoch, std::uint16_t from, std::uint16_t to,
                const ByteVector& message) {
    wire::cut_hops(chain, epoch, from, to, message, [&](ByteVector frame) {
      if (const auto direct = direct_.find(chain);
          direct != direct_.end() && direct->second.open.contains(to)) {
        if (!options_.peers->send(chain, to, frame)) return part(chain, direct->second, to);
        stats_.direct_bytes += frame.size();
        ++stats_.direct_hops;
        return;
      }
      stats_.relayed_bytes += frame.size();
      if (connected_) host_.send_binary(std::move(frame));
    });
  }
  void on_frame(const ByteVector& bytes) {
    const auto frame = wire::decode_hop(bytes);
    if (!frame) {
      log_warning("A hop cannot be read: {}", frame.error().message);
      return;
    }
    const auto member = members_.find(frame->chain);
    if (member == members_.end() || member->second->link().epoch != frame->epoch ||
        frame->to != member->second->link().index)
      return;
    const auto kept = member->second;
    kept->receive(*frame);
  }

  ServingHost& host_;
  const Options options_;
  std::string token_;
  std::uint64_t epoch_ = 0;  // The socket's number.
  bool connected_ = false;
  std::map<std::uint32_t, std::shared_ptr<Shard>> shards_;
  std::set<std::uint32_t> loading_;
  std::vector<std::shared_ptr<Shard>> idle_;
  std::map<std::uint32_t, std::shared_ptr<ChainMember>> members_;  // By chain.
  std::map<std::uint32_t, std::function<void()>> ending_;          // And what follows.
  std::map<std::uint32_t, std::uint32_t> wanted_;  // The epoch that each chain was linked for last.
  std::map<std::uint32_t, Direct> direct_;         // By chain.
  std::map<PublicKey, Duration> latencies_;        // Since the last pulse.
  std::uint32_t pings_ = 0;
  FrameLogs frames_;
  Stats stats_;
};

Serving::Serving(ServingHost& host, Options options)
    : line_(std::make_shared<Line>(host, std::move(options))) {}
Serving::~Serving() { line_->leave(); }
void Serving::join(std::string token) { line_->join(std::move(token)); }
void Serving::leave() { line_->leave(); }
Serving::Stats Serving::stats() const { return line_->stats(); }

}  // namespace weft::worker
