#include <charconv>

#include "apps/coordinator/http/access.h"
#include "common/base/format.h"
#include "decisions/jobs/core_views.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

// Returns the metrics of the stored blobs in Prometheus format.
std::string metrics_of(const store::Blobs& blobs) {
  return weft::format(
      "# HELP weft_blob_bytes Bytes of all blobs.\n# TYPE weft_blob_bytes gauge\nweft_blob_bytes "
      "{}\n# HELP weft_blobs Blobs stored.\n# TYPE weft_blobs gauge\nweft_blobs {}\n",
      blobs.bytes_total(), blobs.count());
}

constexpr const char* workers_path = "/v1/workers";
constexpr const char* workers_coarse = "workers without balances";

// Makes the list of workers, with or without the balances of their owners. Connected workers come
// first.
void make_workers(const HttpParts& parts, bool balances, const SharedLists::Take& take) {
  const bool queued = parts.loop.post([parts, balances, take](jobs::Core& core, jobs::Moment) {
    core.views().workers([parts, balances, take](const Result<api::Workers>& view) {
      make_list(parts.readers, take, [balances, workers = view->workers]() mutable {
        PagedList list{.before = R"({"workers":[)", .rows = {}};
        for (api::Worker& worker : workers) {
          if (!balances) worker.balance = worker.held_pay = 0;
          list.rows.push_back(
              {.key = (worker.connected ? "0" : "1") + worker.key, .json = api::to_json(worker)});
        }
        return list;
      });
    });
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

}  // namespace

net::Reply busy() {
  return net::problem(
      {ErrorCode::unavailable, "The coordinator has too much to do; try again in a moment."});
}

void post_or_refuse(runtime::Pool& pool, const net::Respond& respond, std::function<void()> work) {
  static std::atomic<std::uint64_t> next = 0;
  if (!pool.post(next.fetch_add(1), std::move(work))) respond(busy());
}

void post_or_refuse(Loop& loop, const net::Respond& respond, Loop::Event event) {
  if (!loop.post(std::move(event))) respond(busy());
}

void add_view_routes(const HttpParts& parts) {
  auto& server = parts.server;
  auto& loop = parts.loop;
  server.route(
      {.method = "GET",
       .pattern = "/healthz",
       .handle = [](const net::IncomingRequest&,
                    const net::Respond& respond) { respond(net::text_reply(200, "ok\n")); },
       .cost = 0.1});
  // The coordinator is ready if the core answers: it has recovered, and commits succeed.
  server.route({.method = "GET",
                .pattern = "/readyz",
                .handle =
                    [&loop](const net::IncomingRequest&, const net::Respond& respond) {
                      post_or_refuse(loop, respond, [respond](jobs::Core& core, jobs::Moment) {
                        core.views().balance({}, [respond](const Result<MicroCredits>&) {
                          respond(net::text_reply(200, "ready\n"));
                        });
                      });
                    },
                .cost = 0.2});
  server.route({.method = "GET",
                .pattern = "/v1/info",
                .handle = [text = api::to_json(parts.info)](
                              const net::IncomingRequest&,
                              const net::Respond& respond) { respond(net::json_reply(200, text)); },
                .cost = 0.1});
  const auto add_shared = [&](const std::string& path, SharedViews::Make make) {
    parts.shared.add(path, std::move(make));
    server.route({.method = "GET",
                  .pattern = path,
                  .handle = [&shared = parts.shared, path](
                                const net::IncomingRequest&,
                                const net::Respond& respond) { shared.get(path, respond); },
                  .cost = 0.5});
  };
  parts.lists.add(workers_path,
                  [parts](const SharedLists::Take& take) { make_workers(parts, true, take); });
  parts.lists.add(workers_coarse,
                  [parts](const SharedLists::Take& take) { make_workers(parts, false, take); });
  server.route({.method = "GET",
                .pattern = workers_path,
                .handle =
                    [parts](const net::IncomingRequest& request, const net::Respond& respond) {
                      const auto viewer = viewer_of(parts, request);
                      if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
                      show_page(parts.lists, viewer->is_operator ? workers_path : workers_coarse,
                                request, respond);
                    },
                .cost = 0.5});
  add_shared("/metrics", [&loop, &models = parts.models,
                          &blobs = parts.blobs](const net::Respond& respond) {
    post_or_refuse(loop, respond, [&models, &blobs, respond](jobs::Core& core, jobs::Moment) {
      core.views().metrics([&models, &blobs, respond](const Result<std::string>& text) {
        models.metrics([respond, text = *text + metrics_of(blobs)](const std::string& more) {
          respond(net::text_reply(200, text + more, "text/plain; version=0.0.4"));
        });
      });
    });
  });
  parts.lists.add("/v1/serving",
                  [&models = parts.models](const SharedLists::Take& take) { models.status(take); });
  server.route({.method = "GET",
                .pattern = "/v1/serving",
                .handle =
                    [&lists = parts.lists](const net::IncomingRequest& request,
                                           const net::Respond& respond) {
                      show_page(lists, "/v1/serving", request, respond);
                    },
                .cost = 0.5});
}

}  // namespace weft::coordinator
