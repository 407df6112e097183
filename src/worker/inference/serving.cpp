#include "worker/inference/serving.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/log.h"
#include "worker/inference/chain_memberships.h"
#include "worker/inference/direct_links.h"
#include "worker/inference/serve_connection.h"
#include "worker/inference/shard_cache.h"

namespace weft::worker {

namespace wire = protocol::serving;

// Fulfils the coordinator's orders with its parts: the connection, the shards, the places in chains
// and their direct links. A running callback keeps it alive, so that Serving may be destroyed at
// any time.
class Serving::Worker : public std::enable_shared_from_this<Worker> {
 public:
  [[nodiscard]] static std::shared_ptr<Worker> create(ServingHost& host, Options options) {
    auto worker = std::make_shared<Worker>(host, std::move(options));
    worker->begin();
    return worker;
  }
  Worker(ServingHost& host, Options options) : host_(host), options_(std::move(options)) {}

  void join(std::string token) {
    leave();
    connection_->join(std::move(token));
  }
  void leave() {
    connection_->leave();
    drop_all();
  }
  [[nodiscard]] Stats stats() const {
    Stats out = stats_;
    out.connected = connection_->is_open();
    out.shards = static_cast<std::uint32_t>(shards_.all().size());
    out.running = chains_.running();
    return out;
  }

 private:
  // Wraps a callback that may come after the end of this object; it then does nothing.
  template <class Function>
  auto while_here(Function function) {
    return [weak = weak_from_this(), function = std::move(function)](auto&&... arguments) {
      if (const auto self = weak.lock())
        function(*self, std::forward<decltype(arguments)>(arguments)...);
    };
  }
  // Wraps a callback that also does nothing after the connection has changed.
  template <class Function>
  auto while_joined(Function function) {
    return while_here([number = connection_->number(), function = std::move(function)](
                          Worker& self, auto&&... arguments) {
      if (self.connection_->number() == number)
        function(self, std::forward<decltype(arguments)>(arguments)...);
    });
  }

  void begin() {
    connection_->listen(
        {.opened = while_here([](Worker& self) {
           wire::Offer offer{.token = self.connection_->token(),
                             .memory_bytes = self.options_.memory_bytes,
                             .gb_per_s = self.options_.gb_per_s,
                             .lines = self.options_.lines,
                             .weighs = true};
           if (self.options_.signer != nullptr) offer.key = self.options_.signer->public_key();
           self.tell(offer);
         }),
         .message = while_here([](Worker& self, const wire::ServingCoordinatorMessage& message) {
           std::visit([&](const auto& what) { self.on(what); }, message);
         }),
         .frame = while_here([](Worker& self, const ByteVector& frame) { self.on_frame(frame); }),
         .closed = while_here([](Worker& self) { self.drop_all(); })});
    direct_ = std::make_shared<DirectLinks>(
        host_,
        DirectLinks::Options{
            .lines = options_.lines, .peers = options_.peers, .patience = options_.line_patience},
        DirectLinks::Outputs{
            .tell = while_here([](Worker& self, const wire::ServingWorkerMessage& message) {
              self.tell(message);
            }),
            .frame =
                while_here([](Worker& self, const ByteVector& frame) { self.on_frame(frame); })});
  }
  void tell(const wire::ServingWorkerMessage& message) { connection_->tell(message); }

  // Ends the chains. Their shards are kept for the next order, once their engines are free.
  void drop_all() {
    auto shards = shards_.take_all();
    const ChainMemberships::Members members = chains_.all();
    for (const auto& [chain, member] : members) {
      auto node = shards.extract(member->link().members[member->link().index].shard);
      end_chain(chain, while_here([shard = node.empty() ? nullptr : node.mapped()](Worker& self) {
                  if (shard) self.shards_.retire(shard);
                }));
    }
    for (auto& [id, shard] : shards) shards_.retire(std::move(shard));
  }
  void end_chain(std::uint32_t chain, std::function<void()> done) {
    if (chains_.all().contains(chain)) direct_->close(chain);
    chains_.end(chain, std::move(done));
  }

  // --- Messages about heartbeats.

  void on(const wire::Serving& serving) {
    pulse(std::chrono::milliseconds(std::clamp(serving.pulse_ms, 50u, 60'000u)));
  }
  void pulse(Duration every) {
    wire::Pulse pulse{.running = chains_.running(),
                      .memory_free = options_.memory_bytes,
                      .direct_hops = stats_.direct_hops,
                      .direct_bytes = stats_.direct_bytes};
    Duration busy{};
    for (const auto& [id, shard] : shards_.all()) {
      pulse.memory_free -= std::min(pulse.memory_free, shard->memory_bytes());
      busy += shard->meter().take_busy(host_.now());
      if (const auto pace = shard->meter().pace(host_.now()))
        pulse.paces.push_back({.shard = id, .ms = seconds(*pace) * 1e3});
    }
    pulse.load = std::clamp(seconds(busy) / seconds(every), 0.0, 1.0);
    for (const auto& [worker, quickest] : direct_->take_latencies())
      pulse.peers.push_back({.worker = worker, .ms = seconds(quickest) * 1e3});
    tell(pulse);
    direct_->ping();
    host_.after(every, while_joined([every](Worker& self) {
                  if (self.connection_->is_open()) self.pulse(every);
                }));
  }

  // --- Messages about shards.

  void on(const wire::Load& order) {
    if (auto shard = shards_.take_idle(order)) return loaded(order.shard, std::move(shard), 0);
    shards_.begin_loading(order.shard);
    const Instant begun = host_.now();
    start<Result<std::shared_ptr<Shard>>>(
        Shard::load(host_, order, connection_->token()),
        while_joined([id = order.shard, begun](Worker& self, Result<std::shared_ptr<Shard>> shard) {
          if (!self.shards_.end_loading(id)) return;
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
    shards_.put(id, std::move(shard));
    tell(message);
  }
  void on(const wire::Unload& order) {
    const auto shard = shards_.take(order.shard);
    if (!shard) return;
    const auto retire = while_here([shard](Worker& self) { self.shards_.retire(shard); });
    const auto chain = chains_.chain_of(order.shard);
    chain ? end_chain(*chain, retire) : retire();
  }

  // --- Messages about chains.

  void on(const wire::Link& link) {
    const auto refuse = [&](std::string message) {
      tell(wire::Broken{.chain = link.chain,
                        .epoch = link.epoch,
                        .member = link.index,
                        .message = std::move(message)});
    };
    if (link.index >= link.members.size() || link.members.size() > 64)
      return refuse("The coordinator's link message names no valid member of a chain.");
    const auto shard = shards_.find(link.members[link.index].shard);
    if (!shard) return refuse("The shard is not loaded.");
    chains_.want(link.chain, link.epoch);
    // A new place begins after the end of the earlier one, because the engine must be free.
    end_chain(link.chain, while_here([link, shard](Worker& self) {
                if (self.connection_->is_open() && self.chains_.wants(link.chain, link.epoch))
                  self.begin_chain(link, shard);
              }));
  }
  void begin_chain(const wire::Link& link, const std::shared_ptr<Shard>& shard) {
    const std::uint32_t chain = link.chain;
    chains_.put(
        chain, ChainMember::create(
                   host_, link, shard,
                   {.send = while_here(
                        [chain, epoch = link.epoch, index = static_cast<std::uint16_t>(link.index)](
                            Worker& self, std::uint16_t to, const ByteVector& message) {
                          self.send_hop(chain, epoch, index, to, message);
                        }),
                    .tell = while_here([](Worker& self, const wire::ServingWorkerMessage& message) {
                      if (const auto* tokens = std::get_if<wire::Tokens>(&message))
                        self.stats_.tokens += tokens->tokens.size();
                      self.tell(message);
                    }),
                    .frames = &frames_,
                    .signer = options_.signer}));
    if (link.members.size() == 1)
      return tell(wire::Linked{.chain = chain, .epoch = link.epoch, .line = "self"});
    direct_->open(link);
  }
  void on(const wire::Unlink& order) {
    chains_.unwant(order.chain);
    end_chain(order.chain, {});
  }
  void on(const wire::Signal& signal) { direct_->signal(signal); }

  // --- Messages about requests, and hops.

  // A request for an earlier epoch is dropped, because the coordinator has begun a new one.
  void on(const wire::Ask& ask) {
    if (const auto member = chains_.find(ask.chain, ask.epoch)) member->ask(ask);
  }
  void on(const wire::Drop& order) {
    for (const auto& [chain, member] : chains_.all()) member->drop(order.request);
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
                         [this](ByteVector frame) { connection_->send_frame(std::move(frame)); });
        });
    tell(wire::Reopened{.chain = order.chain, .epoch = order.epoch, .line = order.line});
  }

  void send_hop(std::uint32_t chain, std::uint32_t epoch, std::uint16_t from, std::uint16_t to,
                const ByteVector& message) {
    wire::cut_hops(chain, epoch, from, to, message, [&](ByteVector frame) {
      switch (direct_->send(chain, to, frame)) {
        case DirectLinks::Sent::lost:
          return;
        case DirectLinks::Sent::directly:
          stats_.direct_bytes += frame.size();
          ++stats_.direct_hops;
          return;
        case DirectLinks::Sent::no_link:
          stats_.relayed_bytes += frame.size();
          connection_->send_frame(std::move(frame));
      }
    });
  }
  void on_frame(const ByteVector& bytes) {
    const auto frame = wire::decode_hop(bytes);
    if (!frame) {
      log_warning("A hop cannot be read: {}", frame.error().message);
      return;
    }
    const auto member = chains_.find(frame->chain, frame->epoch);
    if (member && frame->to == member->link().index) member->receive(*frame);
  }

  ServingHost& host_;
  const Options options_;
  const std::shared_ptr<ServeConnection> connection_ =
      std::make_shared<ServeConnection>(host_, options_.retry);
  FrameLogs frames_;  // Declared before the members, which write to it.
  ShardCache shards_;
  ChainMemberships chains_;
  std::shared_ptr<DirectLinks> direct_;
  Stats stats_;
};

Serving::Serving(ServingHost& host, Options options)
    : worker_(Worker::create(host, std::move(options))) {}
Serving::~Serving() { worker_->leave(); }
void Serving::join(std::string token) { worker_->join(std::move(token)); }
void Serving::leave() { worker_->leave(); }
Serving::Stats Serving::stats() const { return worker_->stats(); }

}  // namespace weft::worker
