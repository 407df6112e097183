// The serving of language models as decisions: which workers hold which layers, how they form
// chains, which request is answered where, and how an answer goes on when a worker is lost in the
// middle of it.
//
//   desk.join(session, key, offer, now)   desk.hear(session, message, now)   desk.left(session,
//   now) desk.ask(request, now)                desk.drop(id, now) desk.tick(now) at next_deadline()
//
// A chain of one worker is a whole model. Each request that a chain answers is known with all its
// tokens so far, so that after a loss the chain is mended (the lost layers on another worker,
// everything linked again) and continues after them. Pure: no socket, clock or thread; effects go
// through DeskWorld at once and must not call back. Bounds: Settings. Every request ends with
// exactly one ended().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/number_id.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/frame_roots.h"
#include "decisions/inference/model_card.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/plan_backoff.h"
#include "decisions/inference/separations.h"
#include "decisions/inference/stage_trace.h"
#include "decisions/mesh/topology.h"

namespace weft::inference {

using ServingId = std::uint64_t;  // One connection of one worker to /v1/serve.
using RequestId = std::uint32_t;

struct AnswerRequest {
  RequestId id = 0;
  std::string model;
  std::uint64_t conversation = 0;  // Equal for turns of one conversation: they are best answered
                                   // where the earlier ones were.
  std::uint64_t asker = 0;         // Equal for requests of one API key, or of one address without.
  protocol::serving::Ask ask;      // request, chain, epoch and answered are the desk's.
  // From now on, until when the answer is wanted; nothing: whenever it comes.
  std::optional<Duration> patience{};
  bool for_newcomers = true;  // They may answer it as well.
  bool shadow = false;        // For newcomers alone: its tokens reach no client.
};

// An answer that another worker is to read: prompt and tokens, nothing of what was claimed about
// them.
struct AuditRequest {
  RequestId id = 0;  // One of the numbers of requests, used once.
  std::string model;
  protocol::serving::Ask ask;     // With all of `answered`, and `redraw`.
  std::vector<PublicKey> except;  // Workers that answered it or have audited it.
  std::uint64_t draw = 0;         // Chooses among those who could.
};

class DeskWorld {
 public:
  virtual ~DeskWorld() = default;
  virtual void send(ServingId session,
                    const protocol::serving::ServingCoordinatorMessage& message) = 0;
  virtual void send_hop(ServingId session, ByteVector frame) = 0;
  virtual void close(ServingId session,
                     const std::string& reason) = 0;  // left() is not called for it.
  virtual void tokens(RequestId request, const std::vector<protocol::serving::Token>& tokens) = 0;
  virtual void ended(RequestId request, const AnswerEnd& end) = 0;
  virtual void audited(RequestId, const AuditEnd&) {}
  virtual void traced(RequestId, const TraceEnd&) {}
  // Whether a worker's answers may reach clients that ask for trusted ones: invited and established
  // workers'. A question, without an effect.
  [[nodiscard]] virtual bool is_trusted(const PublicKey&) { return true; }
  // Whether the tokens that were told of end as a worker says that they do: "eos" or "stop". A
  // question, without an effect.
  [[nodiscard]] virtual bool ends_so(RequestId, std::string_view) { return true; }
};

struct DeskSettings {
  Duration pulse = std::chrono::milliseconds(500);
  Duration silent_max = std::chrono::milliseconds(1600);  // Three pulses and a little.
  Duration silent_busy_max =
      std::chrono::seconds(20);  // While it loads: putting weights on a device takes the thread.
  Duration load_max = std::chrono::minutes(10);
  Duration link_max = std::chrono::seconds(10);
  Duration stall_max = std::chrono::seconds(30);  // A chain with requests that draws nothing.
  Duration patience = std::chrono::seconds(60);   // A request for which there is no chain.
  PlanBackoff::Times plan_again{};                // After no chain could be planned.
  // Another chain of a model once a request has waited so long while all are full; one chain less
  // once there was so long no more to do than such a part of what one less could.
  Duration grow_after = std::chrono::seconds(1);
  Duration shrink_after = std::chrono::minutes(1);
  double shrink_share = 0.5;
  std::uint32_t sequences = 4;  // Requests at a time, for a chain of several workers, or one that
                                // takes them one after the other.
  std::uint32_t batch = 256;    // For one worker that draws them together: as many of these as the
                                // cache has room for.
  double cache_share = 0.5;     // Share of the memory that such a worker has left for its cache.
  std::uint32_t context_max = 4096;
  std::size_t waiting_max = 1024;   // Requests of one model.
  std::string activations = "f32";  // "f32", "int8" or "auto" (arithmetic.h).
  std::uint32_t resumes_max = 16;
  // Chains are formed of newcomers and others alike; without, of trusted workers for clients, and
  // of newcomers for shadow requests.
  bool newcomers_answer = true;
  std::uint32_t shadow_chains_max = 4;            // Chains of newcomers, for each model.
  Duration audit_max = std::chrono::seconds(60);  // Until an audit has ended.
  std::size_t audits_max = 64;                    // At a time;
  std::size_t audits_waiting_max = 4096;          // with those that wait for their turn.
  // Searches for a guilty stage at a time, and auditors that search one after the other.
  std::size_t traces_max = 4;
  std::size_t trace_auditors = 2;
  Duration trace_step_max = std::chrono::seconds(60);  // For opening, and for each stage.
  // Frames that a search looks at.
  std::uint64_t trace_bytes_max = std::uint64_t{256} << 20;
  std::string wire = "f32";  // Type of hidden states between workers, where a model does not say:
                             // "f32", "f16", "i8".
  mesh::Strategy strategy =
      mesh::Strategy::hybrid;  // How prompts and layers are cut between workers.
  ByteVector secret{};         // Tokens of direct lines are made from it.
  std::function<std::vector<protocol::serving::IceServer>(const PublicKey& worker)>
      ice{};  // For a tab's connections.
  Duration relayed_for = std::chrono::minutes(
      1);  // Two workers that have no line between them are not told to try again before.
  Duration apart_for = std::chrono::minutes(
      10);  // Two workers of which one blamed the other are not placed side by side.
  Duration look_every = std::chrono::seconds(2);  // Whether a chain should be another one,
  std::uint32_t looks_min = 3;                    // which so many looks in a row must find.
  double gain_min = 0.4;                          // By how much a token must come sooner,
  Duration quiet = std::chrono::seconds(30);      // and how long the last change must be ago.
};

struct ServedModel {
  std::string name;
  std::string state;  // "ready", "loading", "no worker".
  std::uint32_t chains = 0, shards = 0, waiting = 0, running = 0;
  std::uint32_t trusted = 0;  // Chains of trusted workers alone, that are ready.
  std::uint32_t covered = 0;  // Shards whose layers a standby worker has ready.
  std::string wire;           // Type of hidden states between its workers.
  bool exact = false;         // All of its chains are of processors: see protocol::serving::Link.
  bool auditable = false;     // Whichever trusted workers answer, others can audit that.
};
struct ServedPeer {
  std::string key;
  double ms = 0;  // One way.
};
struct ServedWorker {
  std::string key;
  std::uint64_t memory_bytes = 0, memory_free = 0;
  std::uint32_t shards = 0, running = 0;
  double load = 0;
  double gb_per_s = 0;        // As its layers go; as it offered, before any went.
  double coordinator_ms = 0;  // One way; 0: not known.
  std::uint64_t direct_hops = 0;
  std::vector<std::string> lines{};
  std::vector<ServedPeer> peers{};
};
struct ServedMember {
  std::string key;
  std::uint32_t begin = 0, end = 0;  // Layers.
  double ms = 0;                     // A token's way through them; 0: not known.
};
struct ServedChain {
  std::string model;
  std::string state;  // "ready", "linking", "loading".
  std::string transport;
  std::string wire;
  std::uint32_t epoch = 0, running = 0;
  std::vector<ServedMember> members{};
};
struct ServingCounters {
  std::uint64_t requests = 0, tokens = 0, resumed = 0, failed = 0, refused = 0, relayed_hops = 0,
                relayed_bytes = 0, direct_hops = 0, direct_bytes = 0, replanned = 0, audits = 0,
                traces = 0, disputes = 0,
                plans = 0;  // Attempts to form a chain, those that failed too.
};

class Desk {
 public:
  Desk(DeskWorld& world, DeskSettings settings) : world_(world), settings_(std::move(settings)) {}
  Desk(const Desk&) = delete;

  void put_model(const ModelCard& card, Instant now);
  void remove_model(const std::string& name, Instant now);

  void join(ServingId session, const PublicKey& key, const protocol::serving::Offer& offer,
            Instant now);
  void hear(ServingId session, const protocol::serving::ServingWorkerMessage& message, Instant now);
  void hop(ServingId session, ByteVector frame, Instant now);
  void left(ServingId session, Instant now);
  // How long a ping to it and back took.
  void measured(ServingId session, Duration round_trip, Instant now);

  // not_found for an unknown model; resource_exhausted if too many wait (the caller says
  // when to come back); deadline_exceeded if its turn would come too late by the pace of the
  // answers before it.
  [[nodiscard]] Result<> ask(AnswerRequest request, Instant now);
  void drop(RequestId request, Instant now);
  // Whether a shadow request of this model would be answered at once.
  [[nodiscard]] bool has_room_for_shadow(const std::string& model) const;

  // Has other workers audit an answer: a chain that serves the model, else a worker that stands by
  // with all of its layers, else an idle worker that has room for them. Ends with one
  // DeskWorld::audited().
  void audit(AuditRequest request, Instant now);
  // Searches for the stage of its chain that an answer's refutation is to be blamed on
  // (stage_trace.h). Ends with one traced().
  void trace(TraceRequest request, Instant now);
  // Serves no more on this connection.
  void expel(const PublicKey& worker, const std::string& why, Instant now);

  void tick(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // Positions that a request of this model has.
  [[nodiscard]] std::uint32_t context_of(const ModelCard& card) const;
  [[nodiscard]] std::vector<ServedModel> models() const;
  [[nodiscard]] std::vector<ServedWorker> workers() const;
  [[nodiscard]] std::vector<ServedChain> chains() const;
  [[nodiscard]] const ServingCounters& counters() const { return counters_; }

 private:
  using ChainId = NumberId<struct ChainTag, std::uint32_t>;
  struct Worker {
    PublicKey key;
    protocol::serving::Offer offer;
    Instant heard{};
    std::set<std::uint32_t> shards{};
    protocol::serving::Pulse pulse{};     // The last.
    double gb_per_s = 0;                  // Measured by its layers; 0: not yet.
    std::map<ServingId, double> peers{};  // To whom it measured the way, ms.
    double coordinator_ms = 0;
  };
  struct Shard {
    ServingId worker = 0;
    ChainId chain{};  // None: stands by.
    std::uint64_t bytes = 0;
    bool loaded = false;
    bool exact = false;           // On a processor: see Link.
    std::uint32_t sequences = 0;  // Requests that it said it answers at a time; 0: nothing.
    std::string model{};
    std::uint32_t begin = 0, end = 0;
  };
  struct Member {
    ServingId worker = 0;
    std::uint32_t shard = 0;
    std::uint32_t begin = 0, end = 0;
    bool linked = false;
    double ms = 0;  // As its last pulses say.
  };
  enum class ChainState : std::uint8_t { loading, linking, ready };
  struct Chain {
    std::string model;
    ChainState state = ChainState::loading;
    std::uint32_t epoch = 0;
    std::vector<Member> members{};
    std::set<RequestId> requests{};
    Instant since{};     // When the state began.
    Instant progress{};  // A token or an answer, or a request that was handed to it.
    std::string transport{};
    bool trusted = false;     // Made for clients that ask for trusted workers.
    bool retiring = false;    // Gets no more requests and goes when it is done.
    Instant changed{};        // Its members, last.
    std::uint32_t looks = 0;  // In a row that found a better chain.
  };
  struct Request {
    AnswerRequest what;
    ChainId chain{};  // None: waits.
    std::vector<std::int32_t> answered{};
    std::uint32_t prompt_tokens = 0;
    std::uint32_t cached_tokens = 0;
    bool prompt_counted = false;
    std::map<PublicKey, std::uint64_t> work{};
    Prints prints{};
    std::vector<float> vector{};
    std::uint32_t sequence = 0;  // As its chain's frames name it; known when it has ended.
    std::uint32_t shards = 0;
    std::uint32_t resumed = 0;
    Instant since{};  // That it waits.
    Instant begun{};  // Its first turn; 0: not yet.
    std::optional<Instant> deadline{};
  };
  struct Audit {
    AuditRequest what;
    ChainId chain{};  // One that answers, or a number for this audit alone.
    std::uint32_t epoch = 0;
    ServingId worker = 0;     // The worker that is asked.
    std::uint32_t shard = 0;  // Where it is linked for this audit alone.
    bool waiting = false;     // For a worker that audits another answer now.
    Instant since{};
    std::vector<PublicKey> auditors{};
    Prints prints{};
    std::uint32_t redrawn = 0;
    std::vector<std::uint32_t> doubtful{};
  };
  struct Model {
    ModelCard card;
    std::deque<RequestId> waiting{};
    std::string trouble{};   // Why the last chain could not be formed.
    Instant retry{};         // No new chain before.
    Instant shadow_retry{};  // None of newcomers before.
    PlanBackoff backoff{};   // When its first chain is planned again.
    Instant busy{};          // When its chains were last needed, all of them.
    Duration pace{};         // How long an answer takes from its turn to its end; 0: not known.
  };

  // desk_chains.cpp
  enum class Whom : std::uint8_t { all, trusted, newcomers };
  [[nodiscard]] bool form(Model& model, Whom whom, Instant now);
  [[nodiscard]] bool is_trusted(ServingId session) const;
  // All of its members are.
  [[nodiscard]] bool is_trusted(const Chain& chain) const;
  // Its members are processors, with nothing rounded on the way between them.
  [[nodiscard]] bool is_exact(const Chain& chain) const;
  [[nodiscard]] bool may_answer(const Chain& chain, const Request& request) const;
  [[nodiscard]] std::string trouble_of(const Model& model, Whom whom) const;
  // desk_scale.cpp
  void form_shadow_chains(Model& model, Instant now);
  void advance(ChainId id, Instant now);
  void mend(ChainId id, Instant now);
  void dissolve(ChainId id, Instant now);
  void lose_worker(ServingId session, Instant now);
  std::uint32_t send_load(ServingId worker, ChainId chain, const std::string& model,
                          std::uint32_t begin, std::uint32_t end);
  void load(ChainId id, Member& member, Instant now);
  void unload(std::uint32_t shard);
  [[nodiscard]] std::vector<Candidate> candidates(const Chain* except, Whom whom = Whom::all) const;
  [[nodiscard]] std::uint64_t memory_free(const Worker& worker) const;
  [[nodiscard]] std::uint64_t memory_beside(const Worker& worker) const;
  void on(ServingId session, const protocol::serving::Loaded& message, Instant now);
  void on(ServingId session, const protocol::serving::Unloaded& message, Instant now);
  void on(ServingId session, const protocol::serving::Linked& message, Instant now);
  void on(ServingId session, const protocol::serving::Broken& message, Instant now);
  void on(ServingId session, const protocol::serving::Signal& message, Instant now);
  // desk_standby.cpp
  void stand_by(const std::string& model);
  void leave_standby(ServingId session);
  [[nodiscard]] bool take_standby(ChainId id, Member& member);
  [[nodiscard]] bool is_covered(const Chain& chain, const Member& member, bool ready) const;
  void refuse_standby(std::uint32_t shard);
  // desk_scale.cpp
  void form_where_needed(const std::string& model, Instant now);
  void shrink(const std::string& model, Instant now);
  void on(ServingId session, const protocol::serving::Parted& message, Instant now);
  // desk_roots.cpp
  // Whether its members tell of their frames.
  [[nodiscard]] bool commits(const Chain& chain) const;
  [[nodiscard]] std::optional<Pipeline> pipeline_of(ChainId id, const Request& request) const;
  void on(ServingId session, const protocol::serving::Frames& message, Instant now);
  // The two ends of a line do not say the same of what went over it.
  void part_line(ChainId id, std::uint32_t line, std::string_view why, Instant now);
  void look_after_roots(Instant now);
  // desk_traces.cpp
  void on(ServingId session, const protocol::serving::Reopened& message, Instant now);
  void open_frame(ServingId session, const protocol::serving::HopFrame& frame);
  [[nodiscard]] StageTrace* trace_of(std::uint32_t chain, ServingId session);
  void open_lines(StageTrace& trace, Instant now);
  void opened(StageTrace& trace, Instant now);
  void next_auditor(StageTrace& trace, Instant now);
  void run_stage(StageTrace& trace, Instant now);
  void link_stage(StageTrace& trace);
  void feed_stage(const StageTrace& trace);
  void take_replayed(StageTrace& trace, const protocol::serving::HopFrame& frame, Instant now);
  void judge_stage(StageTrace& trace, Instant now);
  void found(StageTrace& trace, const PublicKey& guilty, std::string why, Instant now);
  void leave_stage(StageTrace& trace);
  void end_trace(StageTrace& trace);
  void look_after_traces(Instant now);
  void end_traces_on(ServingId worker, Instant now);
  [[nodiscard]] bool trace_hears(ServingId session, const protocol::serving::Answered& message,
                                 Instant now);
  // desk_lines.cpp
  void relink(ChainId id, Instant now);
  [[nodiscard]] protocol::serving::Link link_of(ChainId id, std::uint32_t index, Instant now) const;
  [[nodiscard]] std::string token_of(ChainId id, std::uint32_t epoch, std::uint32_t a,
                                     std::uint32_t b) const;
  [[nodiscard]] bool is_relayed(ServingId a, ServingId b, Instant now) const;
  void set_relayed(ServingId a, ServingId b, Instant now);
  void forget_lines(ServingId session);
  [[nodiscard]] Question question(const ModelCard& card,
                                  std::span<const Candidate> candidates) const;
  [[nodiscard]] double speed_of(const Worker& worker) const;
  [[nodiscard]] const std::string& wire_of(const ModelCard& card) const;
  void look_at_chains(Instant now);
  [[nodiscard]] std::optional<std::vector<Placed>> better_chain(ChainId id, Instant now) const;
  void change(ChainId id, const std::vector<Placed>& placed, Instant now);
  void on(ServingId session, const protocol::serving::Pulse& message, Instant now);
  // desk_requests.cpp
  void hand_out(const std::string& model, Instant now);
  [[nodiscard]] std::deque<RequestId>::iterator next_of(
      Model& model, const std::function<bool(const Request&)>& can);
  [[nodiscard]] bool make_room(Model& model, std::uint64_t asker, Instant now);
  // Requests that the chain answers at a time.
  [[nodiscard]] std::size_t capacity_of(const Chain& chain) const;
  void ask_chain(RequestId id, ChainId chain, Instant now);
  // Until a request that is asked now has its turn; nothing where that is not known.
  [[nodiscard]] std::optional<Duration> wait_of(const std::string& name) const;
  void end_late(Instant now);
  void end(RequestId id, std::string reason, Error error, Instant now);
  [[nodiscard]] Request* request_of(ServingId session, RequestId id, std::uint32_t epoch);
  void on(ServingId session, const protocol::serving::Tokens& message, Instant now);
  void on(ServingId session, const protocol::serving::Answered& message, Instant now);
  // Whether so many tokens end as the worker says.
  [[nodiscard]] bool ends_so(const Request& request, const std::string& reason) const;
  void count_work(Request& request, std::uint64_t tokens);
  [[nodiscard]] bool take_vector(Request& request, const std::string& text);
  // desk_audits.cpp
  [[nodiscard]] bool begin_audit(Audit& audit);
  [[nodiscard]] bool may_begin_audit() const;
  [[nodiscard]] bool is_auditable(const Model& model) const;
  [[nodiscard]] bool audit_by_chain(Audit& audit);
  [[nodiscard]] bool audit_by_holder(Audit& audit);
  [[nodiscard]] bool audit_by_room(Audit& audit);
  void link_audit(Audit& audit);
  // Whether it holds all layers of a model whose chains have several members, so that it could not
  // take over a member's place.
  [[nodiscard]] bool serves_audits_alone(const Shard& shard) const;
  void ask_audit(const Audit& audit);
  void end_audit(RequestId id, std::optional<Error> error);
  void look_after_audits(Instant now);
  void end_audits_on(ServingId worker);
  void end_audits_of(const std::string& model);
  [[nodiscard]] Audit* audit_of_chain(ChainId chain);
  [[nodiscard]] const Audit* audit_of_chain(ChainId chain) const;
  [[nodiscard]] bool audit_hears(ServingId session, const protocol::serving::Tokens& message);
  [[nodiscard]] bool audit_hears(ServingId session, const protocol::serving::Answered& message);
  void on(ServingId, const protocol::serving::Offer&, Instant) {}

  DeskWorld& world_;
  const DeskSettings settings_;
  std::map<std::string, Model> models_;
  std::map<ServingId, Worker> workers_;
  std::map<std::uint32_t, Shard> shards_;
  std::map<ChainId, Chain> chains_;
  std::map<RequestId, Request> requests_;
  std::map<RequestId, Audit> audits_;
  std::map<RequestId, StageTrace> traces_;
  FrameRoots roots_;
  std::map<std::uint64_t, ChainId> conversations_;
  std::deque<std::uint64_t> conversations_order_;
  mesh::Topology topology_{
      {.silent_max = std::chrono::hours(1), .edge_age_max = std::chrono::minutes(10)}};
  std::map<std::pair<ServingId, ServingId>, Instant>
      relayed_;  // Until when two have no line; the smaller number first.
  Separations separations_;
  Instant looked_{};
  std::uint64_t room_ = 0;  // How often room was made: a worker joined, memory became free.
  std::uint32_t shard_ids_ = 0;
  ChainId chain_ids_;
  ServingCounters counters_;
};

}  // namespace weft::inference
