// The search for the guilty stage of a refuted answer, between the core and the desk.
#include "apps/coordinator/http/model_service.h"

namespace weft::coordinator {

void ModelService::trace(const billing::AnswerTraceOrder& order) {
  const auto untraced = [this, id = order.id] { listener_.traced({.id = id}); };
  const bool queued = post([this, order, untraced](inference::Desk& desk, Instant time) {
    const auto kept = finished_.find(order.id);
    if (kept == finished_.end() || !kept->second.pipeline) return untraced();
    const Kept& what = kept->second;
    const inference::RequestId id = ++request_ids_;
    traces_[id] = order.id;
    desk.trace({.id = id,
                .model = what.model,
                .ask = what.ask,
                .pipeline = *what.pipeline,
                .prints = what.prints,
                .error_max = billing::audit_tolerance(what.rounded, false).error_max,
                .except = order.except,
                .draw = order.draw},
               time);
  });
  if (!queued) untraced();
}

void ModelService::traced(inference::RequestId request, const inference::TraceEnd& end) {
  const auto node = traces_.extract(request);
  if (!node.empty()) listener_.traced({.id = node.mapped(), .findings = end.findings});
}

}  // namespace weft::coordinator
