#include "clients/cpp/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace proofmill::client {
namespace {

constexpr int kReceiveBytesMax = 64 << 20;  // a page of verification keys; witnesses only go out
constexpr int kKeepaliveTimeMs = 30'000;    // the server refuses clients that ping more often than every 10 s
constexpr int kKeepaliveTimeoutMs = 20'000;
constexpr int kReconnectFirstMs = 100;
constexpr int kReconnectMaxMs = 5'000;
constexpr size_t kFileBytesMax = size_t{1} << 20;  // of certificates, keys and API keys

bool UsesTls(const ClientOptions& options) {
  return options.tls || !options.ca_file.empty() || !options.cert_file.empty() || !options.key_file.empty();
}

// The host of a target, without its scheme, brackets and port.
absl::string_view HostOf(absl::string_view target) {
  for (const char* scheme : {"dns:///", "ipv4:", "ipv6:", "dns:"}) {
    if (absl::ConsumePrefix(&target, scheme)) break;
  }
  if (absl::ConsumePrefix(&target, "[")) return target.substr(0, target.find(']'));
  return target.substr(0, target.rfind(':'));
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be opened"));
  std::string content(kFileBytesMax + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  if (content.size() > kFileBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected at most ", kFileBytesMax, " bytes, got more"));
  }
  if (content.empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected some content, got none"));
  return content;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const ClientOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("expected a client certificate and its key, got only one of them");
  }
  if (!UsesTls(options)) return grpc::InsecureChannelCredentials();

  grpc::SslCredentialsOptions ssl;
  const std::pair<const std::string*, std::string*> files[] = {{&options.ca_file, &ssl.pem_root_certs},
                                                               {&options.cert_file, &ssl.pem_cert_chain},
                                                               {&options.key_file, &ssl.pem_private_key}};
  for (const auto& [path, content] : files) {
    if (path->empty()) continue;
    absl::StatusOr<std::string> read = ReadSmallFile(*path);
    if (!read.ok()) return read.status();
    *content = *std::move(read);
  }
  return grpc::SslCredentials(ssl);
}

}  // namespace

void WipeText(std::string& text) { OPENSSL_cleanse(text.data(), text.size()); }

bool IsLoopbackTarget(absl::string_view target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) return true;
  // Of a list such as ipv6:[::1]:1,[2001:db8::1]:1 only the first is looked at below.
  if (absl::StrContains(target, ',')) return false;
  const absl::string_view host = HostOf(target);
  if (host == "localhost" || host == "::1") return true;

  const std::vector<absl::string_view> parts = absl::StrSplit(host, '.');
  return parts.size() == 4 && parts[0] == "127" &&
         std::all_of(parts.begin(), parts.end(), [](absl::string_view part) {
           int byte = 0;
           return absl::SimpleAtoi(part, &byte) && byte >= 0 && byte <= 255;
         });
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ClientOptions& options) {
  if (options.target.empty()) {
    return absl::InvalidArgumentError("target: expected an address such as 127.0.0.1:50051, got nothing");
  }
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = MakeCredentials(options);
  if (!credentials.ok()) return credentials.status();

  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kReceiveBytesMax);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  // GRPC_ARG_MIN_RECONNECT_BACKOFF_MS stays at its 20 s: in spite of its name it is the time that an attempt
  // to connect, TLS handshake included, may take.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // Two clients of one process do not share a connection: each has its own credentials and its own fate.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!options.tls_server_name.empty()) arguments.SetSslTargetNameOverride(options.tls_server_name);
  return grpc::CreateCustomChannel(options.target, *credentials, arguments);
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannelToReplica(const ClientOptions& options,
                                                                    absl::string_view address) {
  ClientOptions replica = options;
  replica.target = std::string(address);
  if (UsesTls(options) && options.tls_server_name.empty()) {
    replica.tls_server_name = std::string(HostOf(options.target));
  }
  absl::StatusOr<std::string> authorization = ReadAuthorization(replica);
  if (!authorization.ok()) return authorization.status();
  WipeText(*authorization);
  return MakeChannel(replica);
}

absl::StatusOr<std::string> ReadAuthorization(const ClientOptions& options) {
  if (options.api_key_file.empty()) return std::string();
  if (!UsesTls(options) && !IsLoopbackTarget(options.target)) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.target, ": expected TLS or a loopback address for a call with an API key, got clear text"));
  }
  absl::StatusOr<std::string> content = ReadSmallFile(options.api_key_file);
  if (!content.ok()) return content.status();
  const absl::string_view key = absl::StripAsciiWhitespace(*content);
  const bool good = !key.empty() && std::all_of(key.begin(), key.end(),
                                                [](unsigned char c) { return absl::ascii_isgraph(c); });
  std::string authorization = good ? absl::StrCat("Bearer ", key) : "";
  WipeText(*content);
  if (good) return authorization;
  return absl::InvalidArgumentError(
      absl::StrCat(options.api_key_file, ": expected one line of printable ASCII without blanks"));
}

}  // namespace proofmill::client
