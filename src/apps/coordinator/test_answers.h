// A test network for answers of language models; the test itself gives the verdicts of audits and
// searches.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "apps/coordinator/test_network.h"
#include "common/crypto/keys.h"
#include "decisions/billing/answers.h"

namespace weft::coordinator {

class AnswerNetwork : public TestNetwork {
 public:
  using TestNetwork::TestNetwork;
  std::vector<billing::AnswerAuditOrder> audits;
  std::vector<billing::AnswerTraceOrder> searches;
  std::map<billing::AnswerId, billing::AnswerFate> fates;
  std::vector<PublicKey> barred;
  void audit_answer(const billing::AnswerAuditOrder& order) override { audits.push_back(order); }
  [[nodiscard]] bool traces() const override { return true; }
  void trace_answer(const billing::AnswerTraceOrder& order) override { searches.push_back(order); }
  void answer_settled(const billing::AnswerId& id, billing::AnswerFate fate) override {
    fates[id] = fate;
  }
  void bar_server(const PublicKey& worker) override { barred.push_back(worker); }
};

class AnswerTest : public testing::Test {
 protected:
  PublicKey join(trust::Invitation invitation) {
    network.invitation = invitation;
    wallets.push_back(std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
    network.join(*wallets.back());
    network.invitation = trust::Invitation::none;
    return wallets.back()->public_key();
  }

  AnswerNetwork network{jobs::CoreSettings{}};
  std::vector<std::unique_ptr<crypto::KeyPair>> wallets;
};

}  // namespace weft::coordinator
