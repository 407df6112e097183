#include "apps/coordinator/http/answer_form.h"
#include "common/base/format.h"

namespace weft::coordinator {

std::string network_json(const inference::AnswerEnd& end) {
  std::string workers;
  for (const std::string& worker : end.workers)
    workers += weft::format("{}\"{}\"", workers.empty() ? "" : ",", worker);
  return weft::format(
      R"({{"shards":{},"transport":"{}","resumed":{},"workers":[{}],"trust":"{}","seed":{}}})",
      end.shards, end.transport, end.resumed, workers, end.trust, end.seed);
}

}  // namespace weft::coordinator
