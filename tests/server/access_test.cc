// Keys, policies and callers, without a listener.

#include "server/access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/api_keys.h"
#include "server/audit_log.h"
#include "server/reloaded_file.h"
#include "server/tenant_policies.h"

namespace proofmill::server {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// SHA-256 of "abc", from FIPS 180-4.
constexpr char kSomeHash[] = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kRemotePeer[] = "ipv4:192.0.2.7:40000";
constexpr char kLocalPeer[] = "ipv4:127.0.0.1:40000";

NewApiKey Make(const std::string& tenant, bool admin = false, absl::Time expiry = absl::InfiniteFuture()) {
  const auto made = MakeApiKey(tenant, admin, expiry);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

std::string ParseError(const std::string& text) {
  return std::string(ApiKeys::Parse("keys", text).status().message());
}

TEST(ApiKeysTest, ANewKeyIsFoundByItsLineAndNothingElseIs) {
  const NewApiKey made = Make("rollup");
  const NewApiKey other = Make("rollup");
  EXPECT_THAT(made.key, MatchesRegex("pmk_[0-9a-f]{12}_[0-9a-f]{64}"));
  EXPECT_THAT(made.line, Not(HasSubstr(made.key.substr(17)))) << "the line must not hold the secret";

  const auto keys =
      ApiKeys::Parse("keys", "# two keys\n\n" + made.line + "  # a comment\n" + other.line + "\n");

  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->size(), 2u);
  const ApiKey* const found = keys->Find(made.key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->tenant, "rollup");
  EXPECT_EQ(found->id, made.key.substr(4, 12));
  EXPECT_FALSE(found->admin);
  EXPECT_EQ(found->expiry, absl::InfiniteFuture());
  for (size_t i = 0; i < made.key.size(); ++i) {
    std::string wrong = made.key;
    wrong[i] = wrong[i] == 'a' ? 'b' : 'a';
    EXPECT_EQ(keys->Find(wrong), nullptr) << "with another character " << i;
  }
  for (const std::string& wrong : {std::string(), made.key.substr(1), made.key + "0", std::string(81, 'a'),
                                   made.key.substr(0, 17) + other.key.substr(17)}) {
    EXPECT_EQ(keys->Find(wrong), nullptr) << wrong;
  }
}

TEST(ApiKeysTest, TheHashIsSha256OfTheWholeKey) {
  const std::string key = "pmk_0123456789ab_" + std::string(64, '0');
  // printf 'pmk_0123456789ab_000...0' | sha256sum
  const auto keys = ApiKeys::Parse(
      "keys", "0123456789ab t sha256:83c5744a0457eee70470b21761bc4f4124798c35e4ca7afc40ee4dd80315ec34\n");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_NE(keys->Find(key), nullptr);
}

TEST(ApiKeysTest, AttributesAreTaken) {
  const absl::Time expiry = absl::FromUnixSeconds(1'900'000'000);
  const NewApiKey made = Make("ops", /*admin=*/true, expiry);
  const auto keys = ApiKeys::Parse("keys", made.line + "\n");
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_TRUE(keys->Find(made.key)->admin);
  EXPECT_EQ(keys->Find(made.key)->expiry, expiry);
  EXPECT_EQ(keys->NextExpiry(expiry - absl::Seconds(1)), expiry);
  EXPECT_EQ(keys->NextExpiry(expiry), absl::InfiniteFuture());
}

TEST(ApiKeysTest, MistakesComeWithTheirLinesAndNeverRepeatWhatMayBeAKey) {
  const std::string good = absl::StrCat("0123456789ab rollup ", kSomeHash);
  EXPECT_EQ(ParseError(good + "\n"), "");
  const std::string key = Make("rollup").key;
  const std::pair<std::string, const char*> cases[] = {
      {"", "keys: expected lines that end with a line end, got an empty file"},
      {good, "the file may not be complete"},
      {"# only a comment\n", "keys: expected at least one key, got none"},
      {"\n0123456789ab rollup\n", "keys:2: expected KEY_ID TENANT sha256:HASH"},
      {absl::StrCat("0123456789AB rollup ", kSomeHash, "\n"),
       "keys:1: expected the id of a key, 12 lower-case"},
      {absl::StrCat("0123456789ab ro\x80llup ", kSomeHash, "\n"), "keys:1: expected the name of a tenant"},
      {absl::StrCat("0123456789ab ", std::string(257, 'a'), " ", kSomeHash, "\n"), "the name of a tenant"},
      {absl::StrCat("0123456789ab rollup ", key, "\n"), "keys:1: expected sha256: and 64 lower-case"},
      {good.substr(0, good.size() - 1) + "\n", "expected sha256: and 64 lower-case"},
      {absl::StrCat(good, " ", key, "\n"), "keys:1: expected admin or expires="},
      {absl::StrCat(good, " expires=tomorrow\n"), "expected admin or expires="},
      {good + "\n" + good + "\n", "keys:2: the id 0123456789ab comes twice"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(ParseError(text), HasSubstr(expected));
    EXPECT_THAT(ParseError(text), Not(HasSubstr(key.substr(17)))) << "a key was repeated";
  }
  EXPECT_THAT(ParseError("a\n" + good + "\nb\n"), MatchesRegex("keys:1: .*; keys:3: .*")) << "all are told";
}

TEST(ApiKeysTest, NoKeyIsMadeForWhatIsNoName) {
  for (const char* name : {"", "two words", "#1", "tab\t"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(MakeApiKey(name, false, absl::InfiniteFuture()).status())) << name;
  }
}

TEST(TenantPoliciesTest, ATenantHasWhatItsLineSaysAndOthersWhatTheStarSays) {
  const auto policies = TenantPolicies::Parse("tenants",
                                              "rollup weight=4 jobs_max=128 witness_bytes_max=1GiB # big\n"
                                              "wallet jobs_max=16\n"
                                              "* weight=0.5\n");
  ASSERT_TRUE(policies.ok()) << policies.status();
  EXPECT_EQ(policies->Of("rollup").weight, 4);
  EXPECT_EQ(policies->Of("rollup").jobs_max, 128u);
  EXPECT_EQ(policies->Of("rollup").witness_bytes_max, uint64_t{1} << 30);
  EXPECT_EQ(policies->Of("wallet").weight, 1);
  EXPECT_EQ(policies->Of("wallet").jobs_max, 16u);
  EXPECT_EQ(policies->Of("wallet").witness_bytes_max, 0u);
  EXPECT_EQ(policies->Of("somebody").weight, 0.5);
  EXPECT_EQ(policies->Of("").weight, 0.5);
  EXPECT_EQ(TenantPolicies::Parse("tenants", "a weight=2\n")->Of("b").weight, 1);
}

TEST(TenantPoliciesTest, MistakesComeWithTheirLines) {
  const std::pair<const char*, const char*> cases[] = {
      {"a\n", "tenants:1: expected weight, jobs_max or witness_bytes_max"},
      {"\na weight=0\n", "tenants:2: weight: expected 0.001 to 1000, got '0'"},
      {"a weight=nan\n", "weight: expected 0.001 to 1000, got 'nan'"},
      {"a weight=1001\n", "weight: expected"},
      {"a jobs_max=0\n", "jobs_max: expected 1 to 1000000, got 0"},
      {"a jobs_max=many\n", "tenants:1: "},
      {"a witness_bytes_max=0\n", "witness_bytes_max: expected 1 or more, got 0"},
      {"a witness_bytes_max=1XB\n", "tenants:1: "},
      {"a wieght=1\n", "expected weight=N, jobs_max=N or witness_bytes_max=SIZE, got 'wieght=1'"},
      {"a weight=1\na weight=2\n", "tenants:2: the tenant a comes twice"},
      {"a weight=1", "the file may not be complete"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(std::string(TenantPolicies::Parse("tenants", text).status().message()), HasSubstr(expected));
  }
}

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    const auto keys =
        ApiKeys::Parse("keys", absl::StrCat(tenant_.line, "\n", admin_.line, "\n", expired_.line, "\n"));
    EXPECT_TRUE(keys.ok()) << keys.status();
    keys_ = std::make_shared<const ApiKeys>(*keys);
  }
  // What Admit() says, as "tenant/key id/admin" or as the reason and the refusal that was told.
  std::string Say(Listener listener, const std::vector<std::string>& authorization,
                  const std::string& certificate, const char* peer, bool with_keys = true) {
    std::string told;
    const Access access([&] { return with_keys ? keys_ : nullptr; },
                        [&](AccessRefusal why) { told = AccessRefusalName(why); });
    Credentials credentials{.authorization = {}, .certificate_name = certificate, .peer = peer};
    for (const std::string& value : authorization) credentials.authorization.emplace_back(value);
    const auto caller = access.Admit(listener, credentials, now_);
    if (!caller.ok()) {
      return absl::StrCat(std::string(engine::ReasonName(*engine::GetReason(caller.status()))), " ", told);
    }
    EXPECT_EQ(told, "");
    return absl::StrCat(caller->tenant, "/", caller->api_key_id.empty() ? "" : "key", "/",
                        caller->admin ? 1 : 0);
  }

  const absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  const NewApiKey tenant_ = Make("rollup");
  const NewApiKey admin_ = Make("ops", /*admin=*/true);
  const NewApiKey expired_ = Make("late", /*admin=*/true, now_);
  std::shared_ptr<const ApiKeys> keys_;
};

TEST_F(AccessTest, WithoutKeysTheDataListenerTakesEverybody) {
  EXPECT_EQ(Say(Listener::kData, {}, "", kRemotePeer, false), "//0");
  EXPECT_EQ(Say(Listener::kData, {}, "san", kRemotePeer, false), "san//0");
  EXPECT_EQ(Say(Listener::kData, {"Bearer x"}, "san", kRemotePeer, false), "san//0");
}

TEST_F(AccessTest, WithKeysACallerNeedsOneOrACertificate) {
  EXPECT_EQ(Say(Listener::kData, {"Bearer " + tenant_.key}, "", kRemotePeer), "rollup/key/0");
  EXPECT_EQ(Say(Listener::kData, {"bearer " + tenant_.key}, "", kLocalPeer), "rollup/key/0");
  EXPECT_EQ(Say(Listener::kData, {"Bearer " + admin_.key}, "", kRemotePeer), "ops/key/1");
  EXPECT_EQ(Say(Listener::kData, {}, "san", kRemotePeer), "san//0");
  EXPECT_EQ(Say(Listener::kData, {"Bearer " + tenant_.key}, "gateway", kRemotePeer), "rollup/key/0");
  EXPECT_EQ(Say(Listener::kData, {}, "", kLocalPeer), "UNAUTHENTICATED no_credential");
}

TEST_F(AccessTest, AKeyThatIsShownMustBeGoodWhateverElseThereIs) {
  for (const Listener listener : {Listener::kData, Listener::kAdmin}) {
    for (const std::vector<std::string>& shown : {std::vector<std::string>{""},
                                                  {"Bearer "},
                                                  {"Bearer"},
                                                  {tenant_.key},
                                                  {"Basic " + tenant_.key},
                                                  {"Bearer " + tenant_.key + " "},
                                                  {"Bearer " + tenant_.key, "Bearer " + tenant_.key},
                                                  {"Bearer " + tenant_.key.substr(0, 80) + "g"}}) {
      EXPECT_EQ(Say(listener, shown, "san", kLocalPeer), "UNAUTHENTICATED bad_key") << shown[0];
    }
    EXPECT_EQ(Say(listener, {"Bearer " + expired_.key}, "san", kLocalPeer), "UNAUTHENTICATED expired_key");
  }
}

TEST_F(AccessTest, TheAdminListenerWantsAnAdminsKeyUnlessThePeerIsHere) {
  EXPECT_EQ(Say(Listener::kAdmin, {"Bearer " + admin_.key}, "", kRemotePeer), "ops/key/1");
  EXPECT_EQ(Say(Listener::kAdmin, {"Bearer " + tenant_.key}, "", kRemotePeer), "PERMISSION_DENIED not_admin");
  EXPECT_EQ(Say(Listener::kAdmin, {}, "san", kRemotePeer), "PERMISSION_DENIED not_admin");
  EXPECT_EQ(Say(Listener::kAdmin, {}, "", kRemotePeer), "UNAUTHENTICATED no_credential");
  EXPECT_EQ(Say(Listener::kAdmin, {}, "", kRemotePeer, false), "UNAUTHENTICATED no_credential");
  EXPECT_EQ(Say(Listener::kAdmin, {"Bearer " + admin_.key}, "", kRemotePeer, false),
            "UNAUTHENTICATED no_credential");
  for (const char* local : {kLocalPeer, "ipv6:%5B::1%5D:40000"}) {
    EXPECT_EQ(Say(Listener::kAdmin, {}, "", local), "//0");
    EXPECT_EQ(Say(Listener::kAdmin, {}, "", local, false), "//0");
    EXPECT_EQ(Say(Listener::kAdmin, {"Bearer " + admin_.key}, "", local), "ops/key/1");
    EXPECT_EQ(Say(Listener::kAdmin, {"Bearer " + tenant_.key}, "", local), "rollup/key/0");
  }
}

// A file of policies and what was told of it.
class ReloadedFileTest : public ::testing::Test {
 protected:
  using File = ReloadedFile<TenantPolicies>;
  ReloadedFileTest() {
    Write("a weight=2\n");
    auto file = File::Open(
        path_, TenantPolicies::Parse, [this](const absl::Status& status, const TenantPolicies& in_use) {
          told_.push_back(absl::StrCat(status.ok() ? "accepted " : "refused ", in_use.Of("a").weight));
        });
    EXPECT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
  }
  ~ReloadedFileTest() override { unlink(path_.c_str()); }
  void Write(const std::string& text) const { std::ofstream(path_) << text; }
  void Look() { file_->EndIdle(engine::Clock::time_point{}); }
  double Weight() const { return file_->current()->Of("a").weight; }

  const std::string path_ = ::testing::TempDir() + "reloaded_file_test";
  std::vector<std::string> told_;
  std::shared_ptr<File> file_;
};

TEST_F(ReloadedFileTest, ANewTextCountsWhenTwoLooksHaveFoundIt) {
  Look();
  Look();
  EXPECT_TRUE(told_.empty());
  Write("a weight=3\n");
  Look();
  EXPECT_EQ(Weight(), 2) << "it may be half of a file";
  Write("a weight=4\nb weight=1\n");
  Look();
  EXPECT_EQ(Weight(), 2) << "it is still being written";
  Look();
  Look();
  EXPECT_EQ(Weight(), 4);
  EXPECT_EQ(told_, (std::vector<std::string>{"accepted 4"}));
}

TEST_F(ReloadedFileTest, ABrokenFileNeverReplacesAGoodOneAndIsToldOnce) {
  for (const char* broken : {"", "a weight=3", "a weight=x\n", "a weight=3\na weight=3\n"}) {
    told_.clear();
    Write(broken);
    for (int i = 0; i < 4; ++i) Look();
    EXPECT_EQ(told_, (std::vector<std::string>{"refused 2"})) << broken;
    EXPECT_EQ(Weight(), 2);
  }
  told_.clear();
  unlink(path_.c_str());
  Look();
  Look();
  EXPECT_EQ(told_, (std::vector<std::string>{"refused 2"}));
  Write("a weight=2\n");
  Look();
  Look();
  EXPECT_EQ(told_.size(), 1u) << "it is as it was";
  unlink(path_.c_str());
  Look();
  EXPECT_EQ(told_.size(), 2u) << "another time";
}

TEST_F(ReloadedFileTest, WhatCannotBeUsedAtTheStartIsAnError) {
  for (const char* broken : {"", "a\n"}) {
    Write(broken);
    EXPECT_FALSE(
        File::Open(path_, TenantPolicies::Parse, [](const absl::Status&, const TenantPolicies&) {}).ok());
  }
}

class AuditLogTest : public ::testing::Test {
 protected:
  ~AuditLogTest() override { std::filesystem::remove_all(folder_); }
  static std::vector<nlohmann::json> Lines(const std::string& text) {
    std::vector<nlohmann::json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  static std::string Read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static std::string NewFolder() {
    std::string path = ::testing::TempDir() + "audit_test_XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    return path;
  }

  const std::string folder_ = NewFolder();
  const std::string path_ = folder_ + "/audit.log";
  std::ostringstream out_;
  int failures_ = 0;
  const std::unique_ptr<Log> log_ = Log::ToStream(out_, LogLevel::kError);
};

TEST_F(AuditLogTest, ALineIsAppendedToAFileThatOnlyItsOwnerReads) {
  AuditLog audit(path_, *log_, [this] { ++failures_; });
  ASSERT_TRUE(audit.Check().ok());
  audit.Write({{"method", "A/B"}});
  std::filesystem::rename(path_, path_ + ".1");
  audit.Write({{"method", "A/C"}});

  EXPECT_EQ(Lines(Read(path_ + ".1")).at(0)["method"], "A/B");
  const auto lines = Lines(Read(path_));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["event"], "audit");
  EXPECT_EQ(lines[0]["time"].get<std::string>().size(), 24u);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(failures_, 0);
}

TEST_F(AuditLogTest, WithoutAFileTheLogsHaveItWhateverTheirLevel) {
  AuditLog audit("", *log_, [this] { ++failures_; });
  ASSERT_TRUE(audit.Check().ok());
  audit.Write({{"method", "A/B"}});
  EXPECT_EQ(Lines(out_.str()).at(0)["event"], "audit");
}

TEST_F(AuditLogTest, ALineThatTheFileDoesNotTakeGoesToTheLogsAndIsCounted) {
  EXPECT_THAT(std::string(AuditLog("/nonexistent/audit", *log_, [] {}).Check().message()),
              HasSubstr("audit_log: /nonexistent/audit: cannot be opened"));
  for (const char* path : {"/nonexistent/audit", "/dev/full"}) {
    out_.str("");
    AuditLog audit(path, *log_, [this] { ++failures_; });
    audit.Write({{"method", "A/B"}});
    EXPECT_EQ(Lines(out_.str()).at(0)["method"], "A/B");
    EXPECT_EQ(Lines(out_.str()).at(0)["level"], "error");
  }
  EXPECT_EQ(failures_, 2);
}

}  // namespace
}  // namespace proofmill::server
