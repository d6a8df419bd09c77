// A client of the proving service: proofs, checks of proofs, circuits and health, with retries.
//
//   ClientOptions options;
//   options.target = "127.0.0.1:50051";
//   auto client = Client::Create(options);
//   proofmill::v1::ProofSpec spec;
//   spec.set_circuit("multiplier");
//   absl::StatusOr<proofmill::v1::ProofResult> result = (*client)->Prove(spec, wtns_bytes);
//
// Every call blocks until it is answered or its timeout has passed, retries meanwhile what can be retried
// (see RetryPolicy), and returns the last error otherwise. ErrorReason() in clients/cpp/error.h tells what a
// failure was. A witness is sent as it is given and never written anywhere; the caller wipes its own copy.
//
// Thread safety: every method may be called from any thread; calls do not wait for each other.
// Lifetime: the client must outlive its calls.

#ifndef PROOFMILL_CLIENTS_CPP_CLIENT_H_
#define PROOFMILL_CLIENTS_CPP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/cpp/input.h"
#include "clients/cpp/options.h"
#include "proofmill/v1/circuits.pb.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/prover.pb.h"
#include "proofmill/v1/status.pb.h"

namespace proofmill::client {

// What a proof is waiting for, as far as the service tells.
struct Progress {
  enum class Phase { kConnecting, kSending, kQueued, kRunning, kWaitingToRetry };
  Phase phase = Phase::kConnecting;
  uint64_t sent_bytes = 0;                       // of the witness, as the service confirmed or took them
  uint64_t size_bytes = 0;                       // of the witness
  uint32_t jobs_ahead = 0;                       // in the queue
  std::string stage;                             // the step of the proof that ended last
  std::optional<absl::Duration> estimated_wait;  // in the queue
  std::optional<absl::Duration> retry_delay;     // until the next attempt
  std::string retry_reason;                      // why the last attempt failed: a reason or a message
};

// How the witness travels.
enum class Transfer {
  kAuto,    // in one message up to ClientOptions::unary_bytes_max, else as a stream
  kUnary,   // in one message; RESOURCE_EXHAUSTED beyond ClientOptions::message_bytes_max
  kStream,  // ProveStream; goes on where it stopped after a lost connection
  kUpload,  // UploadService, in unary calls of 128 KiB, then Prove; for connections that break often
};

struct ProveOptions {
  absl::Duration timeout = absl::Seconds(60);  // of the whole operation, retries included
  Transfer transfer = Transfer::kAuto;
  // Called on the thread that proves, between the messages of the call. May be empty.
  std::function<void(const Progress&)> on_progress;
};

struct JobOptions {
  absl::Duration job_timeout =
      absl::InfiniteDuration();                      // of the job; the service cuts it to its own longest
  absl::Duration timeout = absl::Seconds(60);        // of the call, retries included
  std::function<void(const Progress&)> on_progress;  // of sending; may be empty
};

enum class HealthState { kServing, kNotServing, kUnknownService };

class Client {
 public:
  // Does not connect yet.
  //   INVALID_ARGUMENT     an option or a file that it names cannot be used.
  //   FAILED_PRECONDITION  an API key would travel in clear text to another machine.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options);

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Proves `input`: the content of a .wtns file, or a polynomial with claims. An empty `spec.request_id` is
  // filled with a random one, which stays the same over all attempts. Errors are those of the service; apart
  // from them
  //   UNAVAILABLE        it could not be reached.
  //   DEADLINE_EXCEEDED  the timeout passed.
  absl::StatusOr<v1::ProofResult> Prove(v1::ProofSpec spec, const Input& input,
                                        const ProveOptions& options = {});

  // As Prove(), by way of a job: no call is open for long, and a service that is restarted meanwhile, or a
  // replica that goes, costs time only. `options.transfer` does not count.
  absl::StatusOr<v1::ProofResult> ProveAsJob(v1::ProofSpec spec, const Input& input,
                                             const ProveOptions& options = {});

  static constexpr absl::Duration kShortTimeout = absl::Seconds(10);

  // Makes a job and does not wait for it. An empty `spec.request_id` is filled as in Prove().
  absl::StatusOr<v1::Job> CreateJob(v1::ProofSpec spec, const Input& input, const JobOptions& options = {});

  // These follow a job to the process that holds it.
  //   NOT_FOUND    it has expired or was deleted, or its process has ended: make it again.
  //   UNAVAILABLE  its process cannot be reached.
  absl::StatusOr<v1::Job> GetJob(absl::string_view name, absl::Duration timeout = kShortTimeout);
  absl::StatusOr<v1::Job> CancelJob(absl::string_view name, absl::Duration timeout = kShortTimeout);
  absl::Status DeleteJob(absl::string_view name, absl::Duration timeout = kShortTimeout);
  // Waits until the job has ended, one way or another, and returns it. `on_change` may be empty.
  absl::StatusOr<v1::Job> WatchJob(absl::string_view name, absl::Duration timeout,
                                   const std::function<void(const v1::Job&)>& on_change = nullptr);

  // The caller's jobs at the process that answers, without their results.
  absl::StatusOr<std::vector<v1::Job>> ListJobs(absl::Duration timeout = kShortTimeout);

  // Asks the service to check a proof; the answer comes with the circuit's version.
  absl::StatusOr<v1::VerifyResponse> Verify(const v1::VerifyRequest& request,
                                            absl::Duration timeout = kShortTimeout);

  // All circuits, page after page, without their verification keys.
  absl::StatusOr<std::vector<v1::Circuit>> ListCircuits(absl::Duration timeout = kShortTimeout);

  // One circuit with its verification key.
  absl::StatusOr<v1::Circuit> GetCircuit(absl::string_view id, absl::Duration timeout = kShortTimeout);

  // Waits until nothing is under way with a circuit: until it is ready, failed or unloaded. `on_change` may
  // be empty.
  //   NOT_FOUND  there is no such circuit, or no more.
  absl::StatusOr<v1::Circuit> WatchCircuit(
      absl::string_view id, absl::Duration timeout,
      const std::function<void(const v1::Circuit&)>& on_change = nullptr);

  // --- For operators. The target is the admin listener; elsewhere these give UNIMPLEMENTED.
  // Begins to load a circuit from the service's folder; WatchCircuit() tells what becomes of it.
  absl::StatusOr<v1::Circuit> LoadCircuit(absl::string_view id, absl::Duration timeout = kShortTimeout);
  // Begins to unload it.
  absl::StatusOr<v1::Circuit> UnloadCircuit(absl::string_view id, absl::Duration timeout = kShortTimeout);
  // Lets `alias` point to `circuit`, or removes it if that is empty. Returns where it pointed before.
  absl::StatusOr<std::string> SetAlias(absl::string_view alias, absl::string_view circuit,
                                       absl::Duration timeout = kShortTimeout);
  absl::StatusOr<v1::GetStatusResponse> GetStatus(absl::Duration timeout = kShortTimeout);
  // Returns the level that counted before.
  absl::StatusOr<v1::LogLevel> SetLogLevel(v1::LogLevel level, absl::Duration timeout = kShortTimeout);

  // The state of a name of the health service: "" (ready), "live" or "started". One attempt, no retry.
  //   UNAVAILABLE  the service could not be reached.
  absl::StatusOr<HealthState> Health(absl::string_view service, absl::Duration timeout = kShortTimeout);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);

  template <typename Request, typename Response>
  absl::StatusOr<Response> CallJob(grpc::Status (v1::JobService::Stub::*method)(grpc::ClientContext*,
                                                                                const Request&, Response*),
                                   absl::string_view name, absl::Duration timeout);

  const std::unique_ptr<State> state_;
};

// The name of `phase` for people: "connecting", "sending", "queued", "running", "waiting to retry".
absl::string_view PhaseName(Progress::Phase phase);

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_CLIENT_H_
