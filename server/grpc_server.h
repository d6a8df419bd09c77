// One listener: a grpc::Server with every limit set explicitly, on one address.
//
// All services of a grpc::Server answer on all of its addresses, so the data and the admin listener are one
// each.
//
// Thread safety: port() from any thread; the rest from the owner's.

#ifndef PROOFMILL_SERVER_GRPC_SERVER_H_
#define PROOFMILL_SERVER_GRPC_SERVER_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config.h"
#include "server/tls_store.h"

namespace grpc {
class Server;
class ServerCredentials;
class Service;
}  // namespace grpc

namespace proofmill::server {

class GrpcServer {
 public:
  struct Options {
    std::string name;     // for errors: "data", "admin"
    std::string setting;  // that says the address: "listen", "admin_listen"
    std::string address;
    std::shared_ptr<const TlsStore> tls;  // null: plaintext
    bool require_client_certificate = false;
    std::vector<grpc::Service*> services;  // must outlive the server
  };

  // Binds and serves. The limits come from `config`.
  //   UNAVAILABLE  the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const Options& options, const Config& config);
  ~GrpcServer();  // Shutdown() with no more time
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // HOST:PORT with the port that was chosen.
  const std::string& address() const { return address_; }

  // Takes no new connection or call, waits for the open calls until `deadline`, then cancels them, and
  // returns when all have ended. Idempotent.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(std::unique_ptr<grpc::Server> server, std::shared_ptr<grpc::ServerCredentials> credentials,
             std::string address);

  const std::shared_ptr<grpc::ServerCredentials> credentials_;  // outlives the server
  const std::unique_ptr<grpc::Server> server_;
  const std::string address_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_GRPC_SERVER_H_
