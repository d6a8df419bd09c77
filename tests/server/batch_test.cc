// ProveBatch over a real channel.

#include <map>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

constexpr char kDepth[] = R"(proofmill_queue_depth{priority="normal"})";

class BatchTest : public ServiceTest {
 protected:
  using Stream = grpc::ClientReaderWriter<v1::ProveBatchRequest, v1::ProveBatchResponse>;
  v1::ProveBatchRequest Item(const std::string& id, uint64_t seed) {
    v1::ProveBatchRequest item;
    item.set_item_id(id);
    *item.mutable_request() = Request(Wtns("small", seed));
    return item;
  }
};

TEST_F(BatchTest, EveryItemIsAnsweredByItselfAndABadOneEndsNothing) {
  StartServer([](Config& config) { config.batch_items_max = 3; });
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  std::thread sender([&] {
    for (uint64_t i = 0; i < 20; ++i) {
      v1::ProveBatchRequest item = Item(absl::StrCat("item-", i), i);
      if (i == 4) item.mutable_request()->mutable_spec()->set_circuit("nobody");
      if (i == 5) item.mutable_request()->mutable_groth16()->set_wtns("bad");
      EXPECT_TRUE(stream->Write(item));
    }
    stream->WritesDone();
  });
  std::map<std::string, v1::ProveBatchResponse> answers;
  v1::ProveBatchResponse response;
  while (stream->Read(&response)) EXPECT_TRUE(answers.emplace(response.item_id(), response).second);
  sender.join();
  EXPECT_TRUE(stream->Finish().ok());

  ASSERT_EQ(answers.size(), 20u);
  for (const auto& [id, answer] : answers) {
    if (id == "item-4") {
      EXPECT_EQ(answer.error().reason(), "CIRCUIT_UNKNOWN");
      EXPECT_EQ(answer.error().code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
    } else if (id == "item-5") {
      EXPECT_EQ(answer.error().reason(), "WITNESS_MALFORMED");
    } else {
      EXPECT_TRUE(answer.has_result()) << id << ": " << answer.error().message();
    }
  }
  EXPECT_EQ(Metric(R"(proofmill_batch_items_total{code="OK"})"), 18);
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(BatchTest, NoMoreItemsAreTakenThanTheBoundAndTheOthersWait) {
  StartServer([](Config& config) { config.batch_items_max = 2; });
  gate_.Close();
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  for (uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(stream->Write(Item(absl::StrCat(i), i)));
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  ASSERT_TRUE(MetricBecomes(kDepth, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(Metric(kDepth), 1);
  gate_.Open();
  stream->WritesDone();
  int results = 0;
  v1::ProveBatchResponse response;
  while (stream->Read(&response)) results += response.has_result() ? 1 : 0;
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(results, 5);
}

TEST_F(BatchTest, AClientThatGoesTakesItsItemsAlong) {
  gate_.Close();
  {
    const auto context = ContextFor();
    const auto stream = prover_->ProveBatch(context.get());
    for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(stream->Write(Item(absl::StrCat(i), i)));
    ASSERT_TRUE(gate_.AwaitWaiting(1));
    ASSERT_TRUE(MetricBecomes(kDepth, 2));
    context->TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
}

TEST_F(BatchTest, AnItemWithABadNameIsAnsweredByItselfAndTheOthersGoOn) {
  const std::string umlauts = absl::StrReplaceAll(std::string(100, 'u'), {{"u", "\u00fc"}});  // 200 bytes
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", ""},
      {"b b", "b b"},
      {std::string(129, 'x'), std::string(128, 'x')},
      {"x" + umlauts, "x" + umlauts.substr(0, 126)}};
  gate_.Close();
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(stream->Write(Item("good", 1)));
  v1::ProveBatchResponse response;
  for (const auto& [given, answered] : bad) {
    ASSERT_TRUE(stream->Write(Item(given, 2)));
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.item_id(), answered);
    EXPECT_EQ(response.error().reason(), "REQUEST_INVALID");
    EXPECT_THAT(response.error().message(), testing::HasSubstr("item_id: expected"));
  }
  ASSERT_TRUE(stream->Write(Item("last", 3)));
  stream->WritesDone();
  gate_.Open();
  std::set<std::string> proved;
  while (stream->Read(&response)) {
    if (response.has_result()) proved.insert(response.item_id());
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(proved, (std::set<std::string>{"good", "last"}));
  EXPECT_EQ(Metric(R"(proofmill_batch_items_total{code="INVALID_ARGUMENT"})"), 4);
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(BatchTest, AnItemWithTheNameOfAnotherIsRefusedAndTheOtherIsProved) {
  gate_.Close();
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(stream->Write(Item("a", 1)));
  ASSERT_TRUE(stream->Write(Item("a", 2)));
  v1::ProveBatchResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.item_id(), "a");
  EXPECT_EQ(response.error().reason(), "REQUEST_INVALID");
  EXPECT_EQ(response.error().message(), "item_id: expected a name that no item on its way has, got a");

  gate_.Open();
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.item_id(), "a");
  EXPECT_TRUE(response.has_result());
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(BatchTest, AnItemWithATextThatIsNotUtf8IsAnsweredByItselfAndTheOthersGoOn) {
  gate_.Close();
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(stream->Write(Item("good", 1)));
  v1::ProveBatchRequest bad = Item("bad", 2);
  bad.mutable_request()->mutable_spec()->set_circuit("\xff");
  ASSERT_TRUE(stream->Write(bad));
  v1::ProveBatchResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.item_id(), "bad");
  EXPECT_EQ(response.error().reason(), "REQUEST_INVALID");
  EXPECT_THAT(response.error().message(), testing::HasSubstr("UTF-8"));
  stream->WritesDone();
  gate_.Open();

  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.item_id(), "good");
  EXPECT_TRUE(response.has_result());
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(BatchTest, AMessageThatIsNoItemEndsTheStreamAndGivesTheOthersUp) {
  gate_.Close();
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(stream->Write(Item("a", 1)));
  ASSERT_TRUE(stream->Write(Item("\xff", 2)));  // a string of Protobuf is UTF-8
  v1::ProveBatchResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const Outcome outcome = OutcomeOf(stream->Finish(), *context);
  EXPECT_EQ(outcome.reason, "REQUEST_INVALID");
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(BatchTest, AnIdleBatchDoesNotHoldUpAStop) {
  StartServer([](Config& config) { config.shutdown_grace = absl::Minutes(10); });
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(MetricBecomes("proofmill_streams", 1));
  const auto start = std::chrono::steady_clock::now();
  Drain();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
  EXPECT_EQ(OutcomeOf(stream->Finish(), *context).reason, "DRAINING");
}

TEST_F(BatchTest, ABatchEndsWhenTheLongestTimeOfACallIsOver) {
  StartServer([](Config& config) {
    config.deadline_max = absl::Seconds(1);
    config.upload_idle_timeout = absl::Milliseconds(100);  // looks at what is open each 25 ms
  });
  gate_.Close();
  const auto idle_context = ContextFor(), context = ContextFor();
  const auto idle = prover_->ProveBatch(idle_context.get()), stream = prover_->ProveBatch(context.get());
  ASSERT_TRUE(stream->Write(Item("late", 1)));
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  const Outcome idle_outcome = OutcomeOf(idle->Finish(), *idle_context);
  EXPECT_EQ(idle_outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(idle_outcome.reason, "DEADLINE_EXPIRED");

  v1::ProveBatchResponse response;
  ASSERT_TRUE(stream->Read(&response)) << "what is on its way is answered first";
  EXPECT_EQ(response.item_id(), "late");
  EXPECT_EQ(response.error().reason(), "DEADLINE_EXPIRED");
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(OutcomeOf(stream->Finish(), *context).reason, "DEADLINE_EXPIRED");
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(BatchTest, ABatchThatIsNeverIdleEndsTooAndAnswersWhatItHasTaken) {
  StartServer([](Config& config) {
    config.deadline_max = absl::Seconds(1);
    config.upload_idle_timeout = absl::Milliseconds(100);
    config.batch_items_max = 4;
  });
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  std::thread sender([&] {
    // Until the service has ended the stream; the call's own deadline is that of a service which does not.
    for (int i = 0; stream->Write(Item(absl::StrCat(i), 1)); ++i) {
    }
  });
  int results = 0;
  v1::ProveBatchResponse response;
  while (stream->Read(&response)) {
    results += response.has_result() ? 1 : 0;
    if (!response.has_result()) {
      EXPECT_THAT(response.error().reason(), ::testing::StartsWith("DEADLINE_"));
    }
  }
  sender.join();
  const Outcome outcome = OutcomeOf(stream->Finish(), *context);
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(outcome.reason, "DEADLINE_EXPIRED") << outcome.status.error_message();
  EXPECT_GT(results, 0);
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
}

// Each opens a call over a channel that takes nothing and never reads: the call must end by itself, and a job
// of it with its witness too.

}  // namespace
}  // namespace proofmill::server
