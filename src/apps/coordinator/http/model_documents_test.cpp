// Tests that documents about models are valid JSON whatever names contain, and do not contain
// workers' addresses.
#include "apps/coordinator/http/model_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json/json.h"
#include "decisions/inference/test_model_card.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ModelDocuments, ShowACardWithWhatIsTrueAtTheMoment) {
  inference::ModelCard card = inference::card("a \"b\"");
  card.created = 5000;
  card.owner = "owner";

  const std::string text = model_json(card, {.served = {.name = card.name,
                                                        .state = inference::ModelState::ready,
                                                        .chains = 2,
                                                        .wire = "f16",
                                                        .auditable = true},
                                             .context_served = 256,
                                             .price = 7,
                                             .price_next = 9,
                                             .activations = "int8",
                                             .audited_share_min = 0.25});

  EXPECT_TRUE(json::parse(text)) << text;
  EXPECT_TRUE(text.starts_with(
      R"({"id":"a \"b\"","object":"model","created":5,"owned_by":"owner","weft":{"state":"ready","chains":2,)"))
      << text;
  EXPECT_THAT(text, HasSubstr(R"("context_served":256)"));
  EXPECT_THAT(text, HasSubstr(R"("price_per_1k_tokens":7,"price_next_per_1k_tokens":9)"));
  EXPECT_THAT(text, HasSubstr(R"("activations":"int8","wire":"f16")"));
  EXPECT_THAT(text, HasSubstr(R"("audited_share_min":0.25,"verified":true)"));
}

TEST(ModelDocuments, SayThatVectorsAreComputedExactly) {
  inference::ModelCard card = inference::card("m");
  card.architecture = "bert";

  const std::string text = model_json(card, {.activations = "int8"});

  EXPECT_THAT(text, HasSubstr(R"("output":["embedding"])"));
  EXPECT_THAT(text, HasSubstr(R"("activations":"f32")"));
  EXPECT_THAT(text, HasSubstr(R"("price_next_per_1k_tokens":null)"));
}

TEST(ModelDocuments, SayWhatIsPromisedAboutSmallerWeights) {
  inference::ModelCard card = inference::card("m");
  card.weights = store::WeightWidth::wide;
  const auto document = [&](bool weighable, bool weighed, const std::string& activations) {
    return model_json(
        card, {.served = {.name = "m", .wire = {}, .weighable = weighable, .weighed = weighed},
               .activations = activations});
  };
  EXPECT_THAT(document(true, true, "f32"),
              HasSubstr(R"("weights":"wide","smaller_weights":"found","smaller_weights_text":)"
                        R"("A worker that serves weights rounded to 8 bits is found within 64 )"
                        R"(tokens of its audited answers.")"));
  EXPECT_THAT(document(true, true, "f16"), HasSubstr("within 4,096 tokens of"));
  EXPECT_THAT(document(true, false, "f32"), HasSubstr(R"("smaller_weights":"no_auditor")"));
  EXPECT_THAT(document(true, false, "f32"), HasSubstr("none is connected now."));
  EXPECT_THAT(document(false, false, "int8"), HasSubstr(R"("smaller_weights":"not_promised")"));
  EXPECT_TRUE(json::parse(document(true, false, "f32")));
}

TEST(ModelDocuments, ListWorkersInTheirOrderAndWithoutAddresses) {
  ServingView view;
  view.workers = {{.key = "k2",
                   .lines = {"webrtc", "tcp://10.0.0.7:4000#ab"},
                   .peers = {{"k1", 1.5}, {"k3", 2}}},
                  {.key = "k1"}};
  view.chains = {
      {.model = "m",
       .state = inference::ChainState::ready,
       .transport = "tcp",
       .wire = "f32",
       .members = {{.key = "k1", .begin = 0, .end = 3}, {.key = "k2", .begin = 3, .end = 6}}}};
  view.models = {{.name = "m", .state = inference::ModelState::ready, .wire = {}}};
  view.counters.tokens = 12;

  const auto list = serving_list(view);
  const std::string page = list->page("", 10);

  EXPECT_TRUE(json::parse(page)) << page;
  ASSERT_EQ(list->rows.size(), 2U);
  EXPECT_EQ(list->rows[0].key, "k1");
  EXPECT_THAT(page, HasSubstr(R"("lines":["webrtc","tcp"],"peers":[{"worker":"k1","ms":1.500},)"));
  EXPECT_THAT(page, HasSubstr(R"({"worker":"k2","first_layer":3,"end_layer":6,"ms":0.000}])"));
  EXPECT_THAT(page, HasSubstr(R"("tokens":12)"));
  EXPECT_THAT(page, Not(HasSubstr("10.0.0.7")));
}

TEST(ModelDocuments, ShowABoundedNumberOfChains) {
  ServingView view;
  view.chains.resize(
      1001, {.model = "m", .state = inference::ChainState::ready, .transport = {}, .wire = "f32"});

  const std::string page = serving_list(view)->page("", 10);

  std::size_t shown = 0;
  for (auto at = page.find("\"epoch\""); at != std::string::npos;
       at = page.find("\"epoch\"", at + 1))
    ++shown;
  EXPECT_EQ(shown, 1000U);
}

TEST(ModelDocuments, CountForPrometheus) {
  inference::ServingCounters counters;
  counters.failed = 3;

  EXPECT_THAT(inference_metrics(counters),
              HasSubstr("# TYPE weft_llm_failed_total counter\nweft_llm_failed_total 3\n"));
}

}  // namespace
}  // namespace weft::coordinator
