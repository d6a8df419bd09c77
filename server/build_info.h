// What this program was built from.

#ifndef PROOFMILL_SERVER_BUILD_INFO_H_
#define PROOFMILL_SERVER_BUILD_INFO_H_

#include <string_view>

namespace proofmill::server {

struct BuildInfo {
  std::string_view version;   // of the project: 0.1.0
  std::string_view revision;  // the commit, or "unknown" outside a git checkout
  std::string_view cuda;      // the version of the CUDA toolkit, or "none"
};

BuildInfo ThisBuild();

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_BUILD_INFO_H_
