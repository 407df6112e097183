#include <algorithm>
#include <charconv>
#include <chrono>
#include <future>

#include "apps/coordinator/http/access.h"
#include "apps/coordinator/http/price_terms.h"
#include "apps/coordinator/http/query_number.h"
#include "apps/coordinator/ingest/output_room.h"
#include "apps/coordinator/ingest/submission_notes.h"
#include "common/base/counted.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/verdict_text.h"
#include "platform/net/address.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

// Adds how the job's results were decided, and how they were corrected later.
Result<> add_verdict(api::Job& view, const store::Job& row, store::Store& store) {
  constexpr std::size_t shown_max = 100;
  if (store::is_terminal(row.state)) {
    WEFT_ASSIGN(const auto counts, store.bases(row.id));
    view.decided = jobs::how_decided(counts);
  }
  WEFT_ASSIGN(const auto corrections, store.corrections(row.id));
  for (const store::Correction& each : corrections) {
    ++(each.replaced ? view.corrected : view.unchecked);
    view.refunded += each.refunded;
    if (view.corrections.size() < shown_max) view.corrections.push_back(view_of(each));
  }
  return {};
}

// Reduces the view of a job to what other clients may see: that it exists, its size, and its
// progress.
void make_coarse(api::Job& view) {
  view.name.clear();
  view.client.clear();
  view.reason.clear();
  view.budget = 0;
  view.price = 0;
  view.per_unit = 0;
  view.price_quoted = 0;
  view.max_price = 0;
  view.root.clear();
  view.outputs.clear();
}

void respond_submitted(const net::Respond& respond, const JobLinks& links,
                       const std::vector<std::string>& notes, Result<api::Submitted> result) {
  if (!result) return respond(net::problem(result.error()));
  result->notes = notes;
  if (const auto id = JobId::parse(result->id)) result->link = links.of(*id);
  auto reply = net::json_reply(202, api::to_json(*result));
  reply.headers["location"] = "/v1/jobs/" + result->id;
  respond(reply);
}

}  // namespace

Result<> look_at_funds(const HttpParts& parts, const Signed& who,
                       const manifest::Manifest& manifest) {
  const auto told = std::make_shared<std::promise<Result<bool>>>();
  auto future = told->get_future();
  const jobs::JobOffer offer{.client = who.client,
                             .nonce = who.nonce,
                             .tasks = manifest.split.tasks,
                             .budget = manifest.budget};
  const bool queued = parts.loop.post([offer, told](jobs::Core& core, jobs::Moment) {
    core.submissions().may_submit(offer, [told](const Result<bool>& may) { told->set_value(may); });
  });
  if (!queued || future.wait_for(std::chrono::seconds(10)) != std::future_status::ready)
    return fail(ErrorCode::unavailable,
                "The coordinator has too much to do; try again in a moment.");
  WEFT_OK(future.get());
  return {};
}

Result<std::shared_ptr<RoomAside>> set_room_aside(const HttpParts& parts,
                                                  const manifest::Manifest& manifest) {
  if (!parts.bounds.room_set_aside) return nullptr;
  const JobId job{{crypto::ordered_id()}};
  const JobRoom room = room_of(manifest, parts.bounds.room);
  WEFT_OK(parts.blobs.room().set_aside(job, room.needs, room.network_max));
  return std::make_shared<RoomAside>(parts.blobs.room(), job);
}

namespace {

void submit(const HttpParts& parts, net::IncomingRequest request, const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond, [parts, request = std::move(request), respond] {
    // signer() is used instead of once(), because the store remembers jobs by their nonces for
    // longer than replies are remembered.
    const auto who = parts.signatures.signer(request);
    if (!who) return respond(parts.signatures.refusal(who.error()));
    const ShaderAsker asker{.client = who->client.text(),
                            .address = net::address_group(request.address)};
    std::shared_ptr<RoomAside> room;
    const auto funds = [&](const manifest::Manifest& manifest) -> Result<> {
      // A repeated submission needs no funds, because its job exists already.
      WEFT_ASSIGN(const auto known, parts.store.job_of_nonce(who->client, who->nonce));
      if (known) return {};
      WEFT_OK(look_at_funds(parts, *who, manifest));
      WEFT_ASSIGN(room, set_room_aside(parts, manifest));
      return {};
    };
    auto submission =
        read_submission(*who, request.body, parts.blobs, parts.checker, parts.bounds, asker, funds);
    if (!submission) {
      std::map<std::string, std::string> members;
      if (const auto& shader = submission.error().shader)
        members = {{"line", std::to_string(shader->line)},
                   {"column", std::to_string(shader->column)}};
      // Trying again does not help if a bound of the format is exceeded.
      const Error& error = submission.error().error;
      const bool is_bound =
          error.code == ErrorCode::resource_exhausted && !submission.error().is_later;
      return respond(net::problem(error, is_bound ? 413 : net::http_status(error.code), members));
    }
    if (room) submission->id = room->job();
    if (const auto looked_up = look_up_nonce(*submission, parts.store); !looked_up)
      return respond(net::problem(looked_up.error()));
    if (const auto agreed = read_price_terms(parts, request, *submission); !agreed)
      return respond(net::problem(agreed.error()));
    auto notes =
        submission_notes(*submission->manifest, {.verifier = parts.verifies,
                                                 .known = parts.book.known(),
                                                 .cost_permille = parts.verification_permille});
    post_or_refuse(parts.loop, respond,
                   [respond, room, links = parts.links, notes = std::move(notes),
                    submission = std::move(*submission)](jobs::Core& core, jobs::Moment now) {
                     core.submissions().submit(
                         submission, now,
                         [respond, room, links, notes](const Result<api::Submitted>& result) {
                           if (room && result && result->id == room->job().text()) room->keep();
                           respond_submitted(respond, links, notes, result);
                         });
                   });
  });
}

void list_jobs(const HttpParts& parts, const net::IncomingRequest& request,
               const net::Respond& respond) {
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  store::Store::JobPage page;
  if (const auto client = request.query.find("client"); client != request.query.end()) {
    auto key = PublicKey::parse(client->second);
    if (!key) return respond(net::problem(key.error()));
    if (!owns(parts.book, *viewer, *key))
      return respond(hidden(parts, *viewer, "The list of a client's jobs"));
    page.client = *key;
  }
  if (const auto before = request.query.find("before"); before != request.query.end()) {
    const std::string& text = before->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page.before);
    if (error != std::errc() || end != text.data() + text.size() || page.before < 0)
      return respond(
          net::problem({ErrorCode::invalid_argument,
                        weft::format("before={} is not a number from 0 to {}.", text, INT64_MAX)}));
  }
  post_or_refuse(
      parts.readers, respond,
      [&store = parts.store, &loop = parts.loop, &book = parts.book, page, viewer = *viewer,
       respond] {
        const auto rows = store.jobs(page);
        if (!rows) return respond(net::problem(rows.error()));
        std::vector<api::Job> views;
        std::vector<bool> own;
        for (const auto& row : *rows) {
          views.push_back(view_of(row));
          own.push_back(owns(book, viewer, row.client));
        }
        post_or_refuse(
            loop, respond,
            [respond, views = std::move(views), own = std::move(own)](jobs::Core& core,
                                                                      jobs::Moment) {
              core.views().live(views, [respond, own](Result<std::vector<api::Job>> jobs) {
                for (std::size_t i = 0; i < jobs->size(); ++i)
                  if (!own[i]) make_coarse((*jobs)[i]);
                respond(net::json_reply(200, api::to_json(api::Jobs{.jobs = std::move(*jobs)})));
              });
            });
      });
}

void show_job(const HttpParts& parts, const net::IncomingRequest& request,
              const net::Respond& respond) {
  with_job(parts, request, request.parameters.at(0), respond,
           [&loop = parts.loop, &store = parts.store, links = parts.links, respond](
               const Viewer&, const store::Job& row) {
             auto view = view_of(row);
             view.link = links.of(row.id);
             if (const auto added = add_verdict(view, row, store); !added)
               return respond(net::problem(added.error()));
             post_or_refuse(loop, respond,
                            [respond, view = std::move(view)](jobs::Core& core, jobs::Moment now) {
                              core.views().show_job(
                                  view, now, [respond](const Result<api::Job>& job) {
                                    respond(net::json_reply(200, api::to_json(*job)));
                                  });
                            });
           });
}

void show_output(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond) {
  std::size_t index = 0;
  const std::string& text = request.parameters.at(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) {
    return respond(net::problem(
        {ErrorCode::not_found, weft::format("\"{}\" is not an output's number.", text)}));
  }
  with_job(parts, request, request.parameters.at(0), respond,
           [&blobs = parts.blobs, request, respond, index](const Viewer&, const store::Job& row) {
             if (!store::has_results(row.state)) {
               return respond(net::problem(
                   {ErrorCode::unavailable, weft::format("Job {} is {}: it has no outputs.",
                                                         row.id.text(), to_string(row.state))},
                   409));
             }
             if (index >= row.outputs.size()) {
               return respond(net::problem(
                   {ErrorCode::not_found,
                    weft::format("Job {} has {}, numbered from 0; it has no output {}.",
                                 row.id.text(), counted(row.outputs.size(), "output"), index)}));
             }
             respond(blob_of_job(blobs, request, row, row.outputs[index].hash));
           });
}

void cancel(const HttpParts& parts, const net::IncomingRequest& request,
            const net::Respond& respond) {
  const auto id = JobId::parse(request.parameters.at(0));
  if (!id) return respond(net::problem({ErrorCode::not_found, id.error().message}));
  post_or_refuse(parts.readers, respond,
                 [&loop = parts.loop, &readers = parts.readers, &store = parts.store,
                  &signatures = parts.signatures, request, respond, id = *id] {
                   // A repeated request is harmless, because a job ends only once.
                   const auto who = signatures.signer(request);
                   if (!who) return respond(signatures.refusal(who.error()));
                   jobs::Cancellation wanted{.job = id, .client = who->client};
                   if (auto row = store.job(id)) {
                     wanted.stored = std::move(*row);
                   } else if (row.error().code != ErrorCode::not_found) {
                     return respond(net::problem(row.error()));
                   }
                   post_or_refuse(
                       loop, respond,
                       [&readers, &store, respond, wanted = std::move(wanted)](jobs::Core& core,
                                                                               jobs::Moment now) {
                         core.jobs().cancel(
                             wanted, now,
                             [&readers, &store, respond,
                              id = wanted.job](const Result<api::Submitted>& result) {
                               if (!result) return respond(net::problem(result.error()));
                               // The cancelled job is stored by now, so its row is read as for any
                               // other job.
                               post_or_refuse(readers, respond, [&store, respond, id] {
                                 const auto row = store.job(id);
                                 respond(row ? net::json_reply(200, api::to_json(view_of(*row)))
                                             : net::problem(row.error()));
                               });
                             });
                       });
                 });
}

// The page of tasks that the query ?from=INDEX&count=N asks for.
struct TaskPage {
  static constexpr std::uint32_t count_max = 10'000;
  std::uint32_t from = 0;
  std::uint32_t count = count_max;
};
Result<TaskPage> task_page(const net::IncomingRequest& request) {
  WEFT_ASSIGN(const std::uint64_t from, query_number(request, "from", {.most = UINT32_MAX}));
  WEFT_ASSIGN(
      const std::uint64_t count,
      query_number(request, "count",
                   {.otherwise = TaskPage::count_max, .least = 1, .most = TaskPage::count_max}));
  return TaskPage{.from = static_cast<std::uint32_t>(from),
                  .count = static_cast<std::uint32_t>(count)};
}

void show_tasks(const HttpParts& parts, const net::IncomingRequest& request,
                const net::Respond& respond) {
  const auto wanted = request.query.find("job");
  if (wanted == request.query.end())
    return respond(net::problem(
        {ErrorCode::invalid_argument,
         "The request does not name a job: GET /v1/tasks?job=ID lists the tasks of the job ID."}));
  const auto page = task_page(request);
  if (!page) return respond(net::problem(page.error()));
  with_job(
      parts, request, wanted->second, respond,
      [&store = parts.store, &loop = parts.loop, respond, page = *page,
       hides = parts.roots_when_decided](const Viewer&, const store::Job& row) {
        const auto accepted = store.tasks(row.id);
        const auto replicas = store.replicas(row.id);
        if (!accepted) return respond(net::problem(accepted.error()));
        if (!replicas) return respond(net::problem(replicas.error()));
        std::vector<api::Task> views(row.tasks);
        for (std::uint32_t i = 0; i < row.tasks; ++i)
          views[i] = {.index = i, .state = "waiting", .root = {}, .replicas = {}};
        std::vector<const store::Task*> settled(row.tasks);
        for (const auto& task : *accepted) {
          auto& view = views.at(task.id.index);
          view.state = "accepted";
          view.root = task.root.text();
          settled[task.id.index] = &task;
        }
        for (const auto& replica : *replicas) {
          const store::Task* const task = settled.at(replica.task.index);
          const bool agreed =
              task != nullptr && std::ranges::contains(task->agreeing, replica.worker);
          views[replica.task.index].replicas.push_back(
              {.worker = replica.worker.text(),
               // The root is hidden before the task is decided, because other workers could copy
               // it.
               .root = hides && task == nullptr ? "" : replica.root.text(),
               .agreed = agreed});
        }
        const std::size_t first = std::min<std::size_t>(page.from, views.size());
        const std::size_t end = std::min(first + page.count, views.size());
        views.erase(views.begin() + static_cast<std::ptrdiff_t>(end), views.end());
        views.erase(views.begin(), views.begin() + static_cast<std::ptrdiff_t>(first));
        const std::uint64_t next = end < row.tasks ? end : 0;
        post_or_refuse(
            loop, respond,
            [respond, next, id = row.id, views = std::move(views)](jobs::Core& core, jobs::Moment) {
              core.views().live_tasks(
                  id, views, [respond, next, id](Result<std::vector<api::Task>> tasks) {
                    respond(net::json_reply(
                        200, api::to_json(api::Tasks{
                                 .job = id.text(), .tasks = std::move(*tasks), .next = next})));
                  });
            });
      });
}

}  // namespace

protocol::api::Correction view_of(const store::Correction& row) {
  return {.task = row.task.index,
          .worker = row.worker.text(),
          .time = row.time,
          .replaced = row.replaced,
          .was = row.was.text(),
          .refunded = row.refunded,
          .reason = row.reason};
}

protocol::api::Job view_of(const store::Job& row) {
  api::Job view{.id = row.id.text(),
                .name = row.name,
                .kind = {},
                .client = row.client.text(),
                .state = std::string(to_string(row.state)),
                .reason = row.reason,
                .tasks = row.tasks,
                .accepted = row.accepted,
                .leased = 0,
                .replicas = 1,
                .budget = row.budget,
                .price = row.price,
                .per_unit = row.per_unit,
                .price_quoted = row.price_quoted,
                .max_price = row.price_max,
                .root = store::has_results(row.state) ? row.root.text() : "",
                .outputs = {},
                .created = row.created,
                .ended = row.ended,
                .waiting = {},
                .link = {},
                .decided = {},
                .corrections = {}};
  const auto manifest = manifest::parse(row.manifest);
  if (!manifest) return view;
  view.kind = manifest::to_string(manifest->kind);
  view.replicas = manifest->verify.replicas;
  std::size_t index = 0;
  const auto add_output = [&](std::string_view type, std::vector<std::uint64_t> shape) {
    if (index < row.outputs.size()) {
      view.outputs.push_back({.name = weft::format("output{}", index),
                              .hash = row.outputs[index].hash.text(),
                              .bytes = row.outputs[index].bytes,
                              .type = std::string(type),
                              .shape = std::move(shape)});
    }
    ++index;
  };
  if (manifest->kind == manifest::Kind::kernel) {
    add_output("i32", {manifest->kernel.m, manifest->kernel.n});
  } else {
    for (const auto& binding : manifest->bindings) {
      if (binding.is_output()) add_output(manifest::to_string(binding.type), binding.shape);
    }
  }
  return view;
}

void add_job_routes(const HttpParts& parts) {
  auto& server = parts.server;
  const auto add = [&](const char* method, const char* pattern, auto handle, double cost,
                       std::uint64_t body_bytes_max = 0) {
    server.route(
        {.method = method,
         .pattern = pattern,
         .handle =
             // NOLINTNEXTLINE(performance-unnecessary-value-param): submit() keeps the request.
         [parts, handle](net::IncomingRequest request, const net::Respond& respond) {
           handle(parts, std::move(request), respond);
         },
         .cost = cost,
         .body_bytes_max = body_bytes_max,
         .is_signed = body_bytes_max > 0,
         .is_new_work = body_bytes_max > 0});
  };
  add("POST", "/v1/jobs", submit, 1, manifest::Limits{}.text_bytes_max);
  add("GET", "/v1/jobs", list_jobs, 1);  // Costs more because it reads up to 100 manifests.
  add("GET", "/v1/jobs/{}", show_job, 0.2);
  add("DELETE", "/v1/jobs/{}", cancel, 1);
  add("GET", "/v1/jobs/{}/outputs/{}", show_output, 0.2);
  add("GET", "/v1/tasks", show_tasks, 1);  // Costs more because it reads all tasks of a job.
}

}  // namespace weft::coordinator
