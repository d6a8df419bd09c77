#include "server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstring>

#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

TEST(ListenAddressTest, AddressesWithPortsAreRead) {
  for (const char* text : {"127.0.0.1:50051", "0.0.0.0:0", "[::1]:65535", "[::]:1", "localhost:9464"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
}

TEST(ListenAddressTest, WhatIsNoAddressIsRefused) {
  for (const char* text :
       {"", "50051", ":50051", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:50051",
        "[127.0.0.1]:1", "example.org:1", "1.2.3:4", "127.0.0.1:+1", "[]:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseListenAddress(text).status())) << text;
  }
}

TEST(ListenAddressTest, LoopbackIsTold) {
  for (const char* text : {"127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "localhost:1", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_TRUE(ParseListenAddress(text)->IsLoopback()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "10.0.0.1:1", "[::]:1", "[2001:db8::1]:1", "128.0.0.1:1"}) {
    EXPECT_FALSE(ParseListenAddress(text)->IsLoopback()) << text;
  }
}

TEST(ListenAddressTest, WildcardsAreTold) {
  for (const char* text : {"0.0.0.0:1", "[::]:1", "[0:0::0]:1"}) {
    EXPECT_TRUE(ParseListenAddress(text)->IsWildcard()) << text;
  }
  for (const char* text : {"127.0.0.1:1", "10.0.0.0:1", "[::1]:1", "localhost:1"}) {
    EXPECT_FALSE(ParseListenAddress(text)->IsWildcard()) << text;
  }
}

TEST(ListenAddressTest, WhatStandsAgainstBindingIsTold) {
  EXPECT_EQ(WhyNotBindable({"127.0.0.1", 0}), "");
  EXPECT_EQ(WhyNotBindable({"192.0.2.1", 0}), "Cannot assign requested address") << "of no machine: RFC 5737";

  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const SocketAddress any({"localhost", 0});
  ASSERT_EQ(bind(fd, any.get(), any.length), 0);
  sockaddr_in bound{};
  socklen_t length = sizeof(bound);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length), 0);
  const ListenAddress taken{"127.0.0.1", ntohs(bound.sin_port)};
  EXPECT_EQ(WhyNotBindable(taken), "Address already in use");
  EXPECT_EQ(std::string(CannotBind("data", "listen", taken).message()),
            "cannot bind the data listener to " + taken.ToString() +
                ": Address already in use; --listen takes another address");
  close(fd);
  EXPECT_TRUE(absl::IsUnavailable(CannotBind("data", "listen", taken))) << "though the cause is gone";
}

TEST(ListenAddressTest, Ipv6AddressesKeepTheirFamilyAndPort) {
  const SocketAddress address({"::1", 50051});
  EXPECT_EQ(address.family(), AF_INET6);
  sockaddr_in6 v6{};
  ASSERT_EQ(address.length, sizeof(v6));
  std::memcpy(&v6, address.get(), sizeof(v6));
  EXPECT_EQ(ntohs(v6.sin6_port), 50051);
  EXPECT_TRUE(IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr));
}

TEST(ListenAddressTest, PeersOnThisMachineAreTold) {
  for (const char* peer : {"ipv4:127.0.0.1:40000", "ipv6:%5B::1%5D:40000", "ipv6:[::1]:40000",
                           "ipv6:%5B::ffff:127.0.0.1%5D:1"}) {
    EXPECT_TRUE(IsLoopbackPeer(peer)) << peer;
  }
  for (const char* peer : {"", "ipv4:10.0.0.1:40000", "ipv6:%5B2001:db8::1%5D:1", "unknown",
                           "ipv4:", "dns:localhost:1", "ipv4:localhost.evil.example:1"}) {
    EXPECT_FALSE(IsLoopbackPeer(peer)) << peer;
  }
}

}  // namespace
}  // namespace proofmill::server
