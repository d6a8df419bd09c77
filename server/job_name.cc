#include "server/job_name.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"

namespace proofmill::server {
namespace {

constexpr char kPrefix[] = "jobs";
constexpr size_t kInstanceBytes = 8;
constexpr size_t kIdBytes = 16;
// A host name has at most 253 characters; then a colon and a port.
constexpr size_t kAddressCharsMax = 260;
constexpr char kOwnerPayload[] = "proofmill/owner_address";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

template <size_t kBytes>
absl::StatusOr<std::string> RandomHex() {
  std::array<char, kBytes> random{};
  PROOFMILL_RETURN_IF_ERROR(engine::FillRandom(random.data(), random.size()));
  return absl::BytesToHexString(absl::string_view(random.data(), random.size()));
}

bool IsHex(absl::string_view text, size_t bytes) {
  return text.size() == 2 * bytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsAddress(absl::string_view text) {
  return !text.empty() && text.size() <= kAddressCharsMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

absl::StatusOr<Instance> MakeInstance(std::string_view address) {
  Instance instance;
  PROOFMILL_ASSIGN_OR_RETURN(instance.token, RandomHex<kInstanceBytes>());
  if (!address.empty()) {
    instance.address = std::string(address);
    absl::StrAppend(&instance.token, "-", absl::WebSafeBase64Escape(View(address)));
  }
  return instance;
}

absl::StatusOr<JobName> MakeJobName(const Instance& instance) {
  JobName name{.instance = instance, .id = ""};
  PROOFMILL_ASSIGN_OR_RETURN(name.id, RandomHex<kIdBytes>());
  return name;
}

std::string ToText(const JobName& name) {
  return absl::StrCat(kPrefix, "/", name.instance.token, "/", name.id);
}

std::optional<JobName> ParseJobName(std::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(View(text), '/');
  if (parts.size() != 3 || parts[0] != kPrefix || !IsHex(parts[2], kIdBytes)) return std::nullopt;
  const std::vector<absl::string_view> instance = absl::StrSplit(parts[1], absl::MaxSplits('-', 1));
  if (!IsHex(instance[0], kInstanceBytes)) return std::nullopt;
  JobName name{.instance = {.token = std::string(parts[1]), .address = ""}, .id = std::string(parts[2])};
  if (instance.size() == 1) return name;
  if (!absl::WebSafeBase64Unescape(instance[1], &name.instance.address) ||
      !IsAddress(name.instance.address)) {
    return std::nullopt;
  }
  return name;
}

absl::Status WrongInstance(std::string_view address) {
  absl::Status status = engine::WithReason(
      absl::UnavailableError(absl::StrCat("the job lives in another replica, at ", View(address))),
      engine::ErrorReason::kWrongInstance);
  status.SetPayload(kOwnerPayload, absl::Cord(View(address)));
  return status;
}

std::optional<std::string> GetOwnerAddress(const absl::Status& status) {
  const auto payload = status.GetPayload(kOwnerPayload);
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

}  // namespace proofmill::server
