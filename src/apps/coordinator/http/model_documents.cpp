#include "apps/coordinator/http/model_documents.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/format.h"
#include "common/json/quote.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t chains_shown_max = 1000;

// The rows as elements of a JSON array.
template <class Row, class Text>
std::string joined(std::span<const Row> rows, Text text_of) {
  std::string out;
  for (const Row& row : rows) out += (out.empty() ? "" : ",") + text_of(row);
  return out;
}

std::string worker_json(const inference::ServedWorker& worker) {
  const auto peer_json = [](const inference::ServedPeer& peer) {
    return weft::format(R"({{"worker":"{}","ms":{:.3f}}})", peer.key, peer.ms);
  };
  // The document shows only the kind of a worker's direct link. Its address is told only to members
  // of the worker's chains.
  const auto line_json = [](const std::string& line) {
    return json::quote(line.substr(0, line.find(':')));
  };
  return weft::format(
      R"({{"worker":"{}","memory_bytes":{},"memory_free":{},"shards":{},"running":{},"load":{:.3f},"gb_per_s":{:.3f},"coordinator_ms":{:.3f},)"
      R"("direct_hops":{},"lines":[{}],"peers":[{}]}})",
      worker.key, worker.memory_bytes, worker.memory_free, worker.shards, worker.running,
      worker.load, worker.gb_per_s, worker.coordinator_ms, worker.direct_hops,
      joined(std::span(worker.lines), line_json), joined(std::span(worker.peers), peer_json));
}

std::string chain_json(const inference::ServedChain& chain) {
  const auto member_json = [](const inference::ServedMember& member) {
    return weft::format(R"({{"worker":"{}","first_layer":{},"end_layer":{},"ms":{:.3f}}})",
                        member.key, member.begin, member.end, member.ms);
  };
  return weft::format(
      R"({{"model":{},"state":"{}","transport":{},"wire":"{}","epoch":{},"running":{},"members":[{}]}})",
      json::quote(chain.model), word(chain.state), json::quote(chain.transport), chain.wire,
      chain.epoch, chain.running, joined(std::span(chain.members), member_json));
}

std::string served_model_json(const inference::ServedModel& model) {
  return weft::format(
      R"({{"model":{},"state":"{}","chains":{},"shards":{},"covered":{},"running":{},"waiting":{}}})",
      json::quote(model.name), word(model.state), model.chains, model.shards, model.covered,
      model.running, model.waiting);
}

std::string_view word(store::WeightWidth weights) {
  return weights == store::WeightWidth::wide     ? "wide"
         : weights == store::WeightWidth::narrow ? "narrow"
                                                 : "unknown";
}

// The promise about workers that serve the model's weights rounded to Q8_0, as a word for programs
// and a sentence for people (docs/proof.md, "Smaller weights by likelihoods").
struct SmallerWeights {
  std::string_view word;
  std::string text;
};
SmallerWeights smaller_weights_of(const ModelFacts& facts) {
  const inference::ServedModel& state = facts.served;
  if (!state.weighable)
    return {.word = "not_promised",
            .text =
                "It is not promised that a worker is found that serves weights rounded to 8 "
                "bits in place of the model's own."};
  std::string text = weft::format(
      "A worker that serves weights rounded to 8 bits is found within {} tokens of its audited "
      "answers",
      facts.activations == "f32" ? "64" : "4,096");
  if (state.weighed) return {.word = "found", .text = text + "."};
  return {.word = "no_auditor",
          .text = text + " if an auditor has room to weigh them; none is connected now."};
}

}  // namespace

std::string model_json(const inference::ModelCard& card, const ModelFacts& facts) {
  const inference::ServedModel& state = facts.served;
  const bool vectors = inference::makes_vectors(card);
  const bool tensors = inference::is_onnx(card);
  // TensorFlow Serving answers this path with the member "model_version_status".
  const std::string_view serving =
      R"(,"model_version_status":[{"version":"1","state":"AVAILABLE","status":{"error_code":"OK","error_message":""}}])";
  const SmallerWeights smaller = smaller_weights_of(facts);
  return weft::format(
      R"({{"id":{},"object":"model","created":{},"owned_by":{},"weft":{{"state":"{}","chains":{},"shards":{},"running":{},"waiting":{},)"
      R"("file":"{}","bytes":{},"architecture":{},"layers":{},"context":{},"context_served":{},"shards_min":{},"price_per_1k_tokens":{},"price_next_per_1k_tokens":{},)"
      R"("modalities":{{"input":["{}"],"output":["{}"]}},"arithmetic":{{"activations":"{}","wire":"{}","exact":{}}},)"
      R"("trust":{{"audited_share_newcomers":1,"audited_share_min":{},"verified":{},"weights":"{}","smaller_weights":"{}","smaller_weights_text":{}}}}}{}}})",
      json::quote(card.name), card.created / 1000, json::quote(card.owner), word(state.state),
      state.chains, state.shards, state.running, state.waiting, card.file, card.bytes,
      json::quote(card.architecture), card.layers, card.context, facts.context_served,
      card.shards_min, facts.price,
      facts.price_next ? weft::format("{}", *facts.price_next) : "null",
      tensors ? "tensor" : "text",
      tensors   ? "tensor"
      : vectors ? "embedding"
                : "text",
      vectors ? "f32" : facts.activations, state.wire, state.exact, facts.audited_share_min,
      state.auditable, word(card.weights), smaller.word, json::quote(smaller.text),
      tensors ? serving : "");
}

std::shared_ptr<const PagedList> serving_list(const ServingView& view) {
  const auto list = std::make_shared<PagedList>();
  for (const inference::ServedWorker& worker : view.workers)
    list->rows.push_back({.key = worker.key, .json = worker_json(worker)});
  const auto chains = std::span(view.chains).first(std::min(view.chains.size(), chains_shown_max));
  const inference::ServingCounters& counters = view.counters;
  list->before = weft::format(
      R"({{"models":[{}],"chains":[{}],"requests":{},"tokens":{},"resumed":{},"failed":{},"refused":{},"relayed_hops":{},"relayed_bytes":{},"direct_hops":{},"direct_bytes":{},"replanned":{},"workers":[)",
      joined(std::span(view.models), served_model_json), joined(chains, chain_json),
      counters.requests, counters.tokens, counters.resumed, counters.failed, counters.refused,
      counters.relayed_hops, counters.relayed_bytes, counters.direct_hops, counters.direct_bytes,
      counters.replanned);
  list->sort();
  return list;
}

std::string inference_metrics(const inference::ServingCounters& counters) {
  std::string out;
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    out += weft::format("# HELP weft_llm_{0} {1}\n# TYPE weft_llm_{0} counter\nweft_llm_{0} {2}\n",
                        name, help, value);
  };
  counter("requests_total", "Requests for answers of language models.", counters.requests);
  counter("tokens_total", "Tokens that were answered with.", counters.tokens);
  counter("resumed_total", "Answers that continued after the loss of a worker.", counters.resumed);
  counter("failed_total", "Requests that failed.", counters.failed);
  counter("refused_total", "Requests that were refused since too many waited.", counters.refused);
  counter("audits_total", "Answers that another worker read again.", counters.audits);
  counter("stage_searches_total", "Answers of chains whose guilty stage was searched.",
          counters.traces);
  counter("frame_disputes_total",
          "Pairs in chains that did not say the same of their frames, and were kept apart.",
          counters.disputes);
  counter("relayed_bytes_total", "Bytes of hops that the coordinator passed on.",
          counters.relayed_bytes);
  counter("direct_bytes_total", "Bytes of hops that went from worker to worker.",
          counters.direct_bytes);
  counter("replanned_total", "Chains that became others since a token comes sooner that way.",
          counters.replanned);
  return out;
}

}  // namespace weft::coordinator
