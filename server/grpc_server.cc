#include "server/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "engine/base/status_macros.h"
#include "server/listen_address.h"
#include "server/tls_credentials.h"

namespace proofmill::server {
namespace {

// Above the limit of the service for a witness, so that it is we who refuse, with a reason, what is a little
// too large.
constexpr uint64_t kMessageSlackBytes = 1 << 20;
// The headers of one call. gRPC 1.51 has known trouble with odd headers beyond 8 KiB, so not more.
constexpr int kMetadataBytesMax = 8 << 10;
// What clients may send in one HTTP/2 frame; gRPC itself raises it from 16 KiB when it has seen enough data.
// Fewer frames take less time on both sides (measured: a tenth to a fifth for a witness of 1 MiB); nothing
// is kept for a frame before its bytes come.
constexpr int kFrameBytesMax = 1 << 20;
// Only reflection runs on threads of gRPC's own, one an open stream; more streams than these are refused.
constexpr int kReflectionThreadsMax = 16;
// Clients behind load balancers may ping this often without being sent away.
constexpr int kPingIntervalMinMs = 10'000;
// A connection that has come of age is cut when its calls have had the longest time that a call may take, and
// this.
constexpr absl::Duration kAgeGraceMargin = absl::Minutes(1);

int Milliseconds(absl::Duration duration) { return static_cast<int>(absl::ToInt64Milliseconds(duration)); }

std::shared_ptr<grpc::ServerCredentials> Credentials(const GrpcServer::Options& options) {
  if (options.tls == nullptr) return grpc::InsecureServerCredentials();
  return MakeTlsCredentials(options.tls, options.require_client_certificate);
}

void SetLimits(const Config& config, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.message_bytes_max.bytes + kMessageSlackBytes));
  builder.SetMaxSendMessageSize(static_cast<int>(config.message_bytes_max.bytes + kMessageSlackBytes));
  grpc::ResourceQuota quota("proofmill");
  quota.Resize(static_cast<size_t>(config.grpc_memory_bytes_max.bytes));
  quota.SetMaxThreads(kReflectionThreadsMax);
  builder.SetResourceQuota(quota);
  // gRPC inflates a message before it looks at its size: 300 KB can become 300 MB. Witnesses hardly shrink.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(config.streams_per_connection_max));
  // Without this a second server on the same port would start, and take half of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Finds clients that died without a word, so that their jobs are given up.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(config.keepalive_time));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(config.keepalive_timeout));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // By default gRPC sends two pings and then no more until there is data, and while a job waits there is
  // none.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingIntervalMinMs);
  // Spreads clients over replicas that came later; gRPC adds a jitter of a tenth.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(config.connection_age_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                             Milliseconds(config.deadline_max + kAgeGraceMargin));
  // Only reflection is served by gRPC's synchronous threads.
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const Options& options, const Config& config) {
  PROOFMILL_ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(options.address));
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  const std::shared_ptr<grpc::ServerCredentials> credentials = Credentials(options);
  grpc::ServerBuilder builder;
  SetLimits(config, builder);
  int port = 0;
  builder.AddListeningPort(address.ToString(), credentials, &port);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  // gRPC 1.51 reports a port that is taken by either of the two.
  if (server == nullptr || port == 0) return CannotBind(options.name, options.setting, address);
  address.port = static_cast<uint16_t>(port);
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(server), credentials, address.ToString()));
}

GrpcServer::GrpcServer(std::unique_ptr<grpc::Server> server,
                       std::shared_ptr<grpc::ServerCredentials> credentials, std::string address)
    : credentials_(std::move(credentials)), server_(std::move(server)), address_(std::move(address)) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) { server_->Shutdown(deadline); }

}  // namespace proofmill::server
