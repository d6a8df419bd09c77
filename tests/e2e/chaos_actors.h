// Callers that do what callers should not: each kind does one thing over and over, and knows which answers
// are right for it.
//
// Thread safety: one object is for one thread; objects are independent, and each has a connection of its own.

#ifndef PROOFMILL_TESTS_E2E_CHAOS_ACTORS_H_
#define PROOFMILL_TESTS_E2E_CHAOS_ACTORS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {

// What all of them act on. The folder has the circuits `steady`, `damaged`, `busy` and `guest`; the first two
// belong to one kind of caller each, so that its answers can be compared with what the service has counted.
struct ChaosScene {
  const ServerProcess& server;
  const CircuitFolder& circuits;
};

class ChaosActor {
 public:
  // Answers that say "not now": right for everybody who asks for a proof.
  static const std::set<std::string>& Refusals();

  // `right` are the answers that may come besides Refusals().
  ChaosActor(const ChaosScene& scene, std::string name, uint64_t seed, std::set<std::string> right);
  virtual ~ChaosActor() = default;
  ChaosActor(const ChaosActor&) = delete;
  ChaosActor& operator=(const ChaosActor&) = delete;

  // Does it once.
  virtual void Act() = 0;

  const std::string& name() const { return name_; }
  // How often each answer came: "OK", a reason, or a status code where the service gave none.
  const std::map<std::string, uint64_t>& answers() const { return answers_; }
  // What went wrong first; empty if nothing did.
  const std::string& wrong() const { return wrong_; }

 protected:
  // Files the answer to a call.
  void Answered(const absl::Status& status);
  void Answered(const grpc::Status& status, const grpc::ClientContext& context);
  void Wrong(const std::string& what);
  // Checks a proof that came.
  void Judge(const v1::ProofResult& result, const std::string& circuit, uint64_t witness_seed);

  // Uniform in [least, most].
  uint64_t Pick(uint64_t least, uint64_t most);
  std::unique_ptr<grpc::ClientContext> Context(std::chrono::microseconds timeout) const;
  v1::ProveRequest Request(const std::string& circuit, const std::string& wtns) const;
  // What ProveStream takes first.
  v1::ProveStreamRequest Header(const std::string& circuit, uint64_t size_bytes) const;

  const ChaosScene& scene_;
  std::shared_ptr<grpc::Channel> channel_;

 private:
  const std::string name_;
  const std::set<std::string> right_;
  std::mt19937_64 random_;
  std::map<std::string, uint64_t> answers_;
  std::string wrong_;
};

// One of every kind, several of some. The last three have no answers of the service to file: a client that is
// killed, an operator, and who speaks no gRPC.
std::vector<std::unique_ptr<ChaosActor>> MakeChaosActors(const ChaosScene& scene, uint64_t seed);

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_CHAOS_ACTORS_H_
