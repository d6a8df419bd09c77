#include "server/log.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/library_logs.h"
#include "server/log_sink.h"
#include "spdlog/logger.h"

namespace proofmill::server {
namespace {

std::vector<nlohmann::json> Lines(const std::ostringstream& out) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(LogTest, ALineIsOneJsonObject) {
  std::ostringstream out;
  Log::ToStream(out, LogLevel::kInfo)->Info("rpc", {{"code", "OK"}, {"duration_ms", 1.5}});

  const auto lines = Lines(out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["event"], "rpc");
  EXPECT_EQ(lines[0]["level"], "info");
  EXPECT_EQ(lines[0]["code"], "OK");
  EXPECT_EQ(lines[0]["duration_ms"], 1.5);
  EXPECT_EQ(lines[0]["time"].get<std::string>().size(), 24u);
}

// A pipe, with an end that tests read.
class StalledReaderTest : public testing::Test {
 protected:
  StalledReaderTest() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  ~StalledReaderTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }

  // Everything that is in the pipe.
  std::string Read() {
    int size = 0;
    EXPECT_EQ(ioctl(ends_[0], FIONREAD, &size), 0);
    std::string text(static_cast<size_t>(size), '\0');
    EXPECT_EQ(read(ends_[0], text.data(), text.size()), size);
    return text;
  }

  int ends_[2];
};

TEST_F(StalledReaderTest, NobodyWaitsAndWhatIsLostIsCounted) {
  spdlog::logger logger("log", std::make_shared<LogSink>(ends_[1]));
  logger.set_pattern("%v");
  constexpr int kThreads = 4;
  constexpr int kLines = 400;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      // Some longer than what a pipe takes at a time.
      for (int i = 0; i < kLines; ++i) {
        logger.info(LogLine("info", "line", {{"text", std::string(i % 50 == 0 ? 10000 : 100, 'x')}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::string text = Read();
  for (int i = 0; i < 3; ++i) {
    logger.info(LogLine("info", "late", nlohmann::json::object()));
    text += Read();
  }
  int written = 0;
  int lost = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json fields = nlohmann::json::parse(line);  // whole, and not mixed with others
    if (fields["event"] == "log_lines_lost") {
      lost += fields["count"].get<int>();
    } else {
      ++written;
    }
  }
  EXPECT_GT(lost, 0);
  EXPECT_EQ(written + lost, kThreads * kLines + 3);
}

TEST_F(StalledReaderTest, AReaderThatLeftIsNoProblem) {
  signal(SIGPIPE, SIG_IGN);
  spdlog::logger logger("log", std::make_shared<LogSink>(ends_[1]));
  close(ends_[0]);
  for (int i = 0; i < 10; ++i) logger.info("line");
  ends_[0] = dup(ends_[1]);
}

TEST(LogTest, WhatLibrariesSayBecomesLinesOfOurs) {
  std::ostringstream out;
  const auto log = Log::ToStream(out, LogLevel::kInfo);
  {
    grpc_init();  // before that gRPC says nothing
    const LibraryLogs library_logs(*log);
    gpr_log(GPR_ERROR, "cannot \"%s\"\nat all", "listen");
    gpr_log(GPR_DEBUG, "for developers only");
    GOOGLE_LOG(WARNING) << "odd message";
  }
  gpr_log(GPR_ERROR, "nobody hears this");
  grpc_shutdown();

  const auto lines = Lines(out);
  ASSERT_EQ(lines.size(), 2u) << out.str();
  EXPECT_EQ(lines[0]["event"], "library");
  EXPECT_EQ(lines[0]["level"], "error");
  EXPECT_EQ(lines[0]["library"], "grpc");
  EXPECT_EQ(lines[0]["message"], "cannot \"listen\"\nat all");
  EXPECT_TRUE(lines[0]["source"].get<std::string>().find("log_test.cc:") == 0);
  EXPECT_EQ(lines[1]["level"], "warn");
  EXPECT_EQ(lines[1]["library"], "protobuf");
  EXPECT_EQ(lines[1]["message"], "odd message");
}

TEST(LogTest, QuotesLineEndsAndBrokenUtf8DoNotBreakTheLine) {
  std::ostringstream out;
  Log::ToStream(out, LogLevel::kInfo)->Warn("x", {{"text", "a\"b\nc\xff{}%v"}});

  const auto lines = Lines(out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["text"], "a\"b\nc\xef\xbf\xbd{}%v");
}

TEST(LogTest, WhatIsLessGraveIsLeftOut) {
  std::ostringstream out;
  const auto log = Log::ToStream(out, LogLevel::kWarn);
  log->Debug("d", {});
  log->Info("i", {});
  log->Warn("w", {});
  log->Error("e", {});

  const auto lines = Lines(out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["event"], "w");
  EXPECT_EQ(lines[1]["event"], "e");
}

TEST(LogTest, TheLevelMayChange) {
  std::ostringstream out;
  const auto log = Log::ToStream(out, LogLevel::kError);
  log->Info("before", {});
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    const LogLevel last = log->level();
    EXPECT_EQ(log->SetLevel(level), last);
    EXPECT_EQ(log->level(), level);
    log->Info("i", {});
  }

  EXPECT_EQ(Lines(out).size(), 2u) << "at debug and at info";
}

TEST(LogTest, LinesOfManyThreadsDoNotMix) {
  std::ostringstream out;
  const auto log = Log::ToStream(out, LogLevel::kInfo);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&log] {
      for (int i = 0; i < 100; ++i) log->Info("x", {{"text", std::string(200, 'y')}});
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(Lines(out).size(), 400u);
}

}  // namespace
}  // namespace proofmill::server
