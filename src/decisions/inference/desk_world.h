// What the desk does to the world, and what it asks of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/serving_ids.h"

namespace weft::inference {

// Effects are carried out at once and must not call back.
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

}  // namespace weft::inference
