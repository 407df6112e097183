// The desk's interface to the world: its effects, and the questions that it asks.
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

// An implementation carries effects out at once and must not call the desk back.
class DeskWorld {
 public:
  virtual ~DeskWorld() = default;
  virtual void send(ServingId session,
                    const protocol::serving::ServingCoordinatorMessage& message) = 0;
  virtual void send_hop(ServingId session, ByteVector frame) = 0;
  virtual void close(ServingId session,
                     const std::string& reason) = 0;  // The desk gets no left() for it.
  virtual void tokens(RequestId request, const std::vector<protocol::serving::Token>& tokens) = 0;
  virtual void ended(RequestId request, const AnswerEnd& end) = 0;
  virtual void audited(RequestId, const AuditEnd&) {}
  virtual void traced(RequestId, const TraceEnd&) {}
  // True if a worker's answers may reach clients that ask for trusted workers, as those of invited
  // and established workers do. The call has no effect.
  [[nodiscard]] virtual bool is_trusted(const PublicKey&) { return true; }
  // True if the worker is a root (decisions/trust/levels.h), whose readings of answers convict. The
  // call has no effect.
  [[nodiscard]] virtual bool is_root(const PublicKey&) { return false; }
  // True if the reported tokens end in the way that the worker reports: "eos" or "stop". The call
  // has no effect.
  [[nodiscard]] virtual bool ends_so(RequestId, std::string_view) { return true; }
};

}  // namespace weft::inference
