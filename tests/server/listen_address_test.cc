#include "server/listen_address.h"

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
