// ONNX models as a service: the Open Inference Protocol at /v2, and TensorFlow Serving's predict at
// /v1/models. A request becomes a job of the kind "onnx" that the key's owner pays for. Errors are
// {"error": SENTENCE}, as in both protocols.
#include <atomic>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "apps/coordinator/http/asking.h"
#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/infer_request.h"
#include "apps/coordinator/http/inference_thread.h"
#include "apps/coordinator/http/model_catalog.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/guarded.h"
#include "common/crypto/keys.h"
#include "common/json/quote.h"
#include "common/manifest/manifest.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/worker_sessions.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

using inference::OnnxInterface;

constexpr std::uint64_t request_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint64_t answer_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint32_t seconds_max = 60;  // Time limit of a request's job.
constexpr MicroCredits budget_unless_said = 1'000'000;
constexpr std::string_view version = "1";  // The version that every model has.
// Tolerance and task size of `weft onnx run`.
constexpr manifest::Compare tolerance{.exact = false, .absolute = 0.002, .relative = 0.002};
constexpr std::uint32_t items_per_task = 4;

net::Reply refusal(const Error& error, const billing::RateStates& rates = {}) {
  auto reply = net::json_reply(net::http_status(error.code),
                               R"({"error":)" + json::quote(error.message) + "}");
  reply.headers.merge(billing::rate_headers(rates));
  if (reply.status == 429 || reply.status == 503) reply.headers["retry-after"] = "1";
  return reply;
}

// The jobs that the confined reader of models has accepted, by all that it reads: the model's file
// and the shapes. A known job need not be read again for each request.
class KnownJobs {
 public:
  [[nodiscard]] bool has(const std::string& job) const {
    return known_.with([&](const auto& known) { return known.contains(job); });
  }
  void add(const std::string& job) {
    known_.with([&](auto& known) {
      if (known.size() >= most) known.clear();
      known.insert(job);
    });
  }

 private:
  static constexpr std::size_t most = 4096;
  Guarded<std::unordered_set<std::string>> known_;
};

struct Service {
  explicit Service(const HttpParts& all) : parts(all) {}
  HttpParts parts;
  KnownJobs known{};
};

// A request of inference while it passes through the coordinator's threads. The destructor reports
// the request's end to the core if a key admitted it.
struct Asked {
  std::shared_ptr<Service> service;
  net::IncomingRequest request;
  net::Respond respond;
  InferForm form = InferForm::protocol;
  std::optional<Hash> key{};
  MicroCredits budget = budget_unless_said;
  inference::ModelCard card{};
  OnnxInterface interface{};
  InferRequest infer{};
  std::string key_id{};  // Id of the key, once it has admitted the request.
  billing::RateStates rates{};
  PublicKey client{};
  MicroCredits spent = 0;

  Asked(std::shared_ptr<Service> with, net::IncomingRequest from, net::Respond to, InferForm how)
      : service(std::move(with)), request(std::move(from)), respond(std::move(to)), form(how) {}
  Asked(const Asked&) = delete;
  ~Asked() {
    if (key_id.empty()) return;
    service->parts.loop.post_always(
        [id = key_id, held = budget, spent = spent](jobs::Core& core, jobs::Moment now) {
          core.keys().job_request_ended(id, held, spent, now);
        });
  }
  void refuse(const Error& error) const { respond(refusal(error, rates)); }
};
using Ask = std::shared_ptr<Asked>;

[[nodiscard]] bool post(runtime::Pool& pool, std::function<void()> work) {
  static std::atomic<std::uint64_t> next = 0;
  return pool.post(next.fetch_add(1), std::move(work));
}

void go_on(runtime::Pool& pool, const Ask& asked, std::function<void()> work) {
  if (!post(pool, std::move(work))) asked->refuse(busy_error());
}

// Reads the header Weft-Budget: the credits that the job may cost.
Result<MicroCredits> read_budget(const net::IncomingRequest& request) {
  const std::string_view text = request.header("weft-budget");
  if (text.empty()) return budget_unless_said;
  double credits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), credits);
  if (error != std::errc() || end != text.data() + text.size() || !(credits > 0) || credits > 1e6)
    return fail(ErrorCode::invalid_argument,
                "The header Weft-Budget must be a number of credits above 0 and at most 1000000.");
  return std::max<MicroCredits>(1, std::llround(credits * 1e6));
}

Result<std::optional<std::size_t>> read_json_bytes(const net::IncomingRequest& request) {
  const std::string_view text = request.header("inference-header-content-length");
  if (text.empty()) return std::nullopt;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::invalid_argument,
                "The header Inference-Header-Content-Length must be a number of bytes.");
  return bytes;
}

Result<> check_version(const net::IncomingRequest& request) {
  if (request.parameters.size() < 2 || request.parameters[1] == version) return {};
  return fail(ErrorCode::not_found, "The model has only the version {}.", version);
}

Result<OnnxInterface> interface_of(const HttpParts& parts, const inference::ModelCard& card) {
  if (!inference::is_onnx(card))
    return fail(ErrorCode::invalid_argument,
                "The model '{}' is a language model: ask it at /v1/chat/completions or "
                "/v1/embeddings.",
                card.name);
  WEFT_ASSIGN(const ByteVector text, parts.blobs.read(card.chunks_hash()));
  return inference::read_onnx_interface(as_text(text));
}

// --- The steps of a request, last step first.

// Replies with the outputs of the ended job.
void answer(const Ask& asked, const JobId& job, const jobs::EndedJob& ended) {
  const InferRequest& infer = asked->infer;
  if (ended.state != store::JobState::done)
    return asked->refuse(
        {ErrorCode::unavailable, weft::format("The job {} of this request {}: {}", job.text(),
                                              to_string(ended.state), ended.reason)});
  InferResult result{.outputs = {}, .job = job.text(), .price = ended.paid};
  for (std::size_t i = 0; i < infer.outputs.size(); ++i) {
    auto bytes = asked->service->parts.blobs.read(ended.outputs.at(i).hash);
    if (!bytes) return asked->refuse(bytes.error());
    result.outputs.push_back(from_job(
        std::move(*bytes), tensor_type(asked->interface.outputs[infer.outputs[i].output].type)));
  }
  auto written = write_infer_reply(asked->card.name, infer, asked->interface, result);
  if (!written) return asked->refuse(written.error());
  net::Reply reply{
      .status = 200, .headers = std::move(written->headers), .body = std::move(written->body)};
  reply.headers["cache-control"] = "no-store";
  reply.headers.merge(billing::rate_headers(asked->rates));
  asked->respond(std::move(reply));
}

manifest::Binding stack_of(const inference::TensorSpec& spec, const TensorShape& shape,
                           bool stacked) {
  manifest::Binding stack{.name = spec.name, .type = tensor_type(spec.type).job, .shape = shape};
  if (!stacked) stack.shape.insert(stack.shape.begin(), 1);
  return stack;
}

std::string job_name(std::string name) {
  std::ranges::replace(name, ':', '_');
  return name.substr(0, 64);
}

// Stores the request's tensors and makes the manifest of its job.
Result<manifest::Manifest> job_of(Asked& asked) {
  const HttpParts& parts = asked.service->parts;
  const InferRequest& infer = asked.infer;
  manifest::Manifest job;
  job.kind = manifest::Kind::onnx;
  job.name = job_name(asked.card.name);
  job.onnx.items = infer.shapes.items;
  job.split.tasks = (infer.shapes.items + items_per_task - 1) / items_per_task;
  job.budget = asked.budget;
  job.verify.compare = tolerance;
  job.deadline_s = seconds_max;
  job.bindings.push_back({.role = manifest::Role::input,
                          .type = manifest::ElementType::i8,
                          .shape = {asked.card.bytes},
                          .data = manifest::Blob{asked.card.file_hash()}});
  std::vector<ByteVector> tensors;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < infer.inputs.size(); ++i) {
    const inference::TensorSpec& spec = asked.interface.inputs[i];
    WEFT_ASSIGN(ByteVector tensor,
                to_job(std::move(asked.infer.inputs[i]), tensor_type(spec.type), spec.name));
    bytes += tensor.size();
    tensors.push_back(std::move(tensor));
  }
  WEFT_OK(parts.uploads.take(parts.book.owner_of(asked.client), bytes, now()));
  WEFT_ASSIGN(const std::vector<Hash> stored,
              parts.blobs.add_all(std::vector<ByteSpan>(tensors.begin(), tensors.end())));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    auto stack = stack_of(asked.interface.inputs[i], infer.shapes.inputs[i], infer.shapes.stacked);
    stack.role = manifest::Role::input;
    stack.data = manifest::Blob{stored[i]};
    job.bindings.push_back(std::move(stack));
  }
  for (const WantedTensor& wanted : infer.outputs) {
    auto stack = stack_of(asked.interface.outputs[wanted.output],
                          infer.shapes.outputs[wanted.output], infer.shapes.stacked);
    stack.split_dim = 0;
    job.bindings.push_back(std::move(stack));
  }
  for (std::size_t i = 0; i < job.bindings.size(); ++i)
    job.bindings[i].binding = static_cast<std::uint32_t>(i);
  return job;
}

// A text of all that the reader of models checks of a job.
std::string what_is_checked(const manifest::Manifest& job) {
  std::string out = weft::format("{}", job.onnx.items);
  if (const auto* model = std::get_if<manifest::Blob>(&job.bindings.front().data))
    out += model->hash.text();
  for (const manifest::Binding& binding : job.bindings)
    out += weft::format("|{}|{}|{}|{}", to_string(binding.role), json::quote(binding.name),
                        to_string(binding.type), inference::to_string(binding.shape));
  return out;
}

void submit(const Ask& asked) {
  const HttpParts& parts = asked->service->parts;
  const auto job = job_of(*asked);
  if (!job) return asked->refuse(job.error());
  Signed who{.client = asked->client};
  crypto::random_bytes(who.nonce);
  const ShaderAsker asker{.client = who.client.text(),
                          .address = net::address_group(asked->request.address)};
  std::shared_ptr<RoomAside> room;
  const auto funds = [&](const manifest::Manifest& offered) -> Result<> {
    WEFT_OK(look_at_funds(parts, who, offered));
    WEFT_ASSIGN(room, set_room_aside(parts, offered));
    return {};
  };
  const ShaderChecker checker =
      [&](const manifest::Manifest& offered, std::string_view model,
          const ShaderAsker& from) -> Result<std::vector<ShaderComplaint>> {
    const std::string checked = what_is_checked(offered);
    if (!parts.checker || asked->service->known.has(checked)) return std::vector<ShaderComplaint>();
    auto complaints = parts.checker(offered, model, from);
    if (complaints && complaints->empty()) asked->service->known.add(checked);
    return complaints;
  };
  auto submission = read_submission(who, manifest::to_json(*job), parts.blobs, checker,
                                    parts.bounds, asker, funds);
  if (!submission) return asked->refuse(submission.error().error);
  if (room) submission->id = room->job();
  const bool queued = parts.loop.post(
      [asked, room, submission = std::move(*submission)](jobs::Core& core, jobs::Moment now) {
        const JobId id = submission.id;
        core.submissions().submit(submission, now,
                                  [asked, room](const Result<protocol::api::Submitted>& taken) {
                                    if (!taken) return asked->refuse(taken.error());
                                    if (room) room->keep();
                                  });
        core.jobs().when_ended(id, [asked, id](const Result<jobs::EndedJob>& ended) {
          if (!ended) return;  // The core did not accept the job.
          asked->spent = ended->paid;
          go_on(asked->service->parts.readers, asked,
                [asked, id, ended = *ended] { answer(asked, id, ended); });
        });
      });
  if (!queued) asked->refuse(busy_error());
}

void read(const Ask& asked) {
  auto interface = interface_of(asked->service->parts, asked->card);
  if (!interface) return asked->refuse(interface.error());
  asked->interface = std::move(*interface);
  const auto json_bytes = read_json_bytes(asked->request);
  if (!json_bytes) return asked->refuse(json_bytes.error());
  auto infer = asked->form == InferForm::protocol
                   ? read_infer_request(asked->request.body, *json_bytes, asked->interface)
                   : read_predict_request(asked->request.body, asked->interface);
  if (!infer) return asked->refuse(infer.error());
  asked->infer = std::move(*infer);
  asked->request.body.clear();
  asked->request.body.shrink_to_fit();
  std::uint64_t bytes = 0;
  for (const WantedTensor& wanted : asked->infer.outputs)
    bytes += element_count(asked->infer.shapes.outputs[wanted.output]) *
             tensor_type(asked->interface.outputs[wanted.output].type).bytes;
  if (bytes > answer_bytes_max)
    return asked->refuse(
        {ErrorCode::invalid_argument,
         weft::format("The outputs have {} bytes; an answer has at most {}: ask for fewer of them, "
                      "or submit a job (weft onnx run --coordinator).",
                      bytes, answer_bytes_max)});
  submit(asked);
}

// Admits the request by the key's rates and budget before its body is read, so that unknown keys
// cost little. Requests without a key from this machine are paid by the operator.
void admit(const Ask& asked) {
  const HttpParts& parts = asked->service->parts;
  const auto next = [asked] {
    go_on(asked->service->parts.submitters, asked, [asked] { read(asked); });
  };
  const bool queued = parts.loop.post([asked, next](jobs::Core& core, jobs::Moment now) {
    const HttpParts& all = asked->service->parts;
    if (asked->key)
      return core.keys().admit_job_request(
          {.key = *asked->key, .budget = asked->budget}, now,
          [asked, next](const Result<billing::JobAdmission>& admitted) {
            asked->rates = admitted->rates;
            if (admitted->refused) return asked->refuse(admitted->refused->error);
            asked->key_id = admitted->key_id;
            asked->client = admitted->client;
            asked->request.recognise_client(asked->key->text());
            next();
          });
    asked->client = PublicKey::parse(all.info.coordinator).value();
    if (all.book.is_funded(asked->client)) return next();
    core.grants().give({.client = asked->client, .address = asked->request.address, .is_own = true},
                       now, [next](const Result<jobs::OwnerView>&) { next(); });
  });
  if (!queued) asked->refuse(busy_error());
}

void start(const std::shared_ptr<Service>& service, const net::IncomingRequest& request,
           const net::Respond& respond, InferForm form) {
  const auto asker = asker_of(service->parts, request);
  if (!asker) return respond(refusal(asker.error()));
  // A guest may not ask ONNX models, because a job is not free.
  if (!asker->key && (asker->is_guest || !net::is_loopback(request.address)))
    return respond(
        refusal({ErrorCode::unauthenticated,
                 "A request to an ONNX model is a job, which the owner of an API key pays: send "
                 "the header \"Authorization: Bearer KEY\" (`weft key add` makes one)."}));
  if (const auto known = check_version(request); !known) return respond(refusal(known.error()));
  const auto budget = read_budget(request);
  if (!budget) return respond(refusal(budget.error()));
  const auto asked = std::make_shared<Asked>(service, request, respond, form);
  asked->key = asker->key;
  asked->budget = *budget;
  service->parts.models.find(request.parameters.at(0), [asked](Result<inference::ModelCard> card) {
    if (!card) return asked->refuse(card.error());
    asked->card = std::move(*card);
    admit(asked);
  });
}

// --- Routes that describe the server and its models.

// Calls `show` if the client may read about models; a key is required if asking models requires
// one.
void with_reader(const Service& service, const net::IncomingRequest& request,
                 const net::Respond& respond, std::function<void()> show) {
  const auto asker = asker_of(service.parts, request);
  if (!asker) return respond(refusal(asker.error()));
  if (!asker->key) return show();
  const bool queued = service.parts.loop.post(
      [respond, key = *asker->key, show = std::move(show)](jobs::Core& core, jobs::Moment) {
        core.keys().show(key, [respond, show](const Result<billing::ApiKey>& found) {
          found ? show() : respond(refusal(found.error()));
        });
      });
  if (!queued) respond(refusal(busy_error()));
}

using Describe = std::string (*)(const std::string& model, const OnnxInterface& interface);

void describe(const std::shared_ptr<Service>& service, const net::IncomingRequest& request,
              const net::Respond& respond, Describe text) {
  with_reader(*service, request, respond, [service, request, respond, text] {
    if (const auto known = check_version(request); !known) return respond(refusal(known.error()));
    service->parts.models.find(
        request.parameters.at(0),
        [service, respond, text](const Result<inference::ModelCard>& card) {
          if (!card) return respond(refusal(card.error()));
          const bool queued = post(service->parts.readers, [service, respond, text, card = *card] {
            const auto interface = interface_of(service->parts, card);
            respond(interface ? net::json_reply(200, text(card.name, *interface))
                              : refusal(interface.error()));
          });
          if (!queued) respond(refusal(busy_error()));
        });
  });
}

// A model is ready if a worker that runs ONNX models is connected.
void show_ready(const std::shared_ptr<Service>& service, const net::IncomingRequest& request,
                const net::Respond& respond) {
  with_reader(*service, request, respond, [service, request, respond] {
    if (const auto known = check_version(request); !known) return respond(refusal(known.error()));
    service->parts.models.find(
        request.parameters.at(0), [service, respond](const Result<inference::ModelCard>& card) {
          if (!card) return respond(refusal(card.error()));
          const bool queued = service->parts.loop.post(
              [respond, name = card->name](jobs::Core& core, jobs::Moment) {
                core.sessions().count(manifest::onnx_feature, [&](const Result<std::size_t>& able) {
                  respond(net::json_reply(
                      *able > 0 ? 200 : 400,
                      weft::format(R"({{"name":{},"ready":{}}})", json::quote(name), *able > 0)));
                });
              });
          if (!queued) respond(refusal(busy_error()));
        });
  });
}

}  // namespace

void add_infer_routes(const HttpParts& parts) {
  const auto service = std::make_shared<Service>(parts);
  using In = const net::IncomingRequest&;
  using Out = const net::Respond&;
  const auto get = [&](const char* pattern, const auto& handle) {
    parts.server.route({.method = "GET",
                        .pattern = pattern,
                        .handle = [handle](In request, Out respond) { handle(request, respond); },
                        .cost = 0.5});
  };
  const auto post = [&](const char* pattern, InferForm form) {
    parts.server.route(
        {.method = "POST",
         .pattern = pattern,
         .handle = [service, form](In request,
                                   Out respond) { start(service, request, respond, form); },
         .cost = 2,
         .body_bytes_max = request_bytes_max,
         .is_new_work = true,
         .takes_bytes = true});
  };
  const auto server = [version = parts.info.software](In, Out respond) {
    respond(net::json_reply(
        200, weft::format(R"({{"name":"weft","version":{},"extensions":["binary_tensor_data"]}})",
                          json::quote(version.substr(version.find('/') + 1)))));
  };
  get("/v2", server);
  get("/v2/", server);
  get("/v2/health/live",
      [](In, Out respond) { respond(net::json_reply(200, R"({"live":true})")); });
  get("/v2/health/ready", [service](In, Out respond) {
    const bool queued = service->parts.loop.post([respond](jobs::Core&, jobs::Moment) {
      respond(net::json_reply(200, R"({"ready":true})"));
    });
    if (!queued) respond(net::json_reply(400, R"({"ready":false})"));
  });
  const auto metadata = [service](Describe text) {
    return [service, text](In request, Out respond) { describe(service, request, respond, text); };
  };
  const auto ready = [service](In request, Out respond) { show_ready(service, request, respond); };
  get("/v2/models/{}", metadata(protocol_metadata));
  get("/v2/models/{}/versions/{}", metadata(protocol_metadata));
  get("/v2/models/{}/ready", ready);
  get("/v2/models/{}/versions/{}/ready", ready);
  get("/v1/models/{}/metadata", metadata(serving_metadata));
  get("/v1/models/{}/versions/{}/metadata", metadata(serving_metadata));
  post("/v2/models/{}/infer", InferForm::protocol);
  post("/v2/models/{}/versions/{}/infer", InferForm::protocol);
  post("/v1/models/{}:predict", InferForm::rows);
  post("/v1/models/{}/versions/{}:predict", InferForm::rows);
}

}  // namespace weft::coordinator
