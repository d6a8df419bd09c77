#include "cli/client_flags.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "cli/table.h"
#include "clients/cpp/error.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"

namespace proofmill::cli {
namespace {

// What to do next, where the message itself leaves that open.
absl::string_view Hint(const absl::Status& status, absl::string_view reason) {
  if (reason.empty() && absl::IsUnavailable(status) &&
      absl::StrContains(status.message(), "Connection refused")) {
    return "; is the service running there, and is --target its address?";
  }
  // The words of gRPC, of its own limit, which is a little above that of the service.
  if (reason.empty() && absl::IsResourceExhausted(status) &&
      absl::StrContains(status.message(), "message larger than max")) {
    return "; --stream and --upload take larger ones";
  }
  const bool asked_for = absl::IsNotFound(status) && !absl::StartsWith(status.message(), "no key of");
  if (reason == "CIRCUIT_UNKNOWN" && asked_for) return "; `proofmill client circuits` lists the ids";
  return "";
}

}  // namespace

void ClientFlags::Declare(FlagSet& flags, absl::string_view deadline_help) {
  if (options.target.empty()) options.target = "127.0.0.1:50051";
  flags.String("target", "ADDR", &options.target, "The service: HOST:PORT.");
  flags.Duration("deadline", &deadline, deadline_help);
  flags.String("ca", "FILE", &options.ca_file,
               "PEM roots that the service's certificate must lead to; turns TLS on.");
  flags.String("cert", "FILE", &options.cert_file,
               "PEM certificate of this client, for mutual TLS; with --key.");
  flags.String("key", "FILE", &options.key_file, "PEM private key of --cert.");
  flags.Bool("tls", &options.tls, "Use TLS with the roots of the system.");
  flags.String("tls_server_name", "NAME", &options.tls_server_name,
               "The name that the service's certificate must carry, if it is not the one in --target.");
  flags.String("api_key_file", "FILE", &options.api_key_file,
               "A file with an API key; it is sent only over TLS or to this machine.");
}

absl::StatusOr<std::unique_ptr<client::Client>> ClientFlags::MakeClient() const {
  return client::Client::Create(options);
}

absl::Status WithReasonInText(const absl::Status& status) {
  if (absl::IsUnimplemented(status) && status.message().empty()) {
    return absl::UnimplementedError(
        "expected a listener with this call, got one without: proofs are made at --listen of the service "
        "(port 50051, if nothing else is said), administration is at its --admin_listen (50052)");
  }
  if (status.ok()) return status;
  const std::string reason = client::ErrorReason(status);
  const absl::string_view hint = Hint(status, reason);
  if (reason.empty() && hint.empty()) return status;
  absl::Status named(status.code(), absl::StrCat(reason, reason.empty() ? "" : ": ", status.message(), hint));
  status.ForEachPayload(
      [&named](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

absl::Status WithDeadlineInText(const absl::Status& status, absl::Duration deadline, absl::string_view last) {
  const absl::Status named = WithReasonInText(status);
  if (!absl::IsDeadlineExceeded(status)) return named;
  // gRPC's own words say nothing; what may follow them does.
  absl::string_view message = named.message();
  absl::ConsumePrefix(&message, "Deadline Exceeded");
  absl::ConsumePrefix(&message, "; ");
  return absl::DeadlineExceededError(absl::StrCat("no proof came within ", absl::FormatDuration(deadline),
                                                  ", which a longer --deadline changes; at the end: ", last,
                                                  message.empty() ? "" : "; ", message));
}

v1::Priority PriorityOf(absl::string_view name) {
  if (name == "low") return v1::PRIORITY_LOW;
  return name == "high" ? v1::PRIORITY_HIGH : v1::PRIORITY_NORMAL;
}

absl::StatusOr<engine::SecretBuffer<uint8_t>> ReadWitnessFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(path));
  engine::SecretBuffer<uint8_t> bytes(file->size());
  PROOFMILL_RETURN_IF_ERROR(file->ReadAt(0, absl::MakeSpan(bytes.data(), bytes.size())));
  PROOFMILL_RETURN_IF_ERROR(file->CheckUnchanged());
  return bytes;
}

std::string DescribeProgress(const client::Progress& progress) {
  using Phase = client::Progress::Phase;
  std::string text(client::PhaseName(progress.phase));
  if (progress.phase == Phase::kSending) {
    absl::StrAppend(&text, " ", FormatBytes(progress.sent_bytes), " of ", FormatBytes(progress.size_bytes));
  }
  if (progress.phase == Phase::kQueued) absl::StrAppend(&text, ", ", progress.jobs_ahead, " ahead");
  if (progress.phase == Phase::kQueued && progress.estimated_wait) {
    absl::StrAppend(&text, ", estimated wait ",
                    FormatSeconds(absl::ToDoubleSeconds(*progress.estimated_wait)));
  }
  if (progress.phase == Phase::kRunning) {
    // A call without progress tells nothing until it is answered.
    text = progress.stage.empty() ? "waiting for the answer" : absl::StrCat(text, ", after ", progress.stage);
  }
  if (progress.phase == Phase::kWaitingToRetry) absl::StrAppend(&text, " (", progress.retry_reason, ")");
  return text;
}

}  // namespace proofmill::cli
