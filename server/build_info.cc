#include "server/build_info.h"

namespace proofmill::server {

// CMake defines the three for this file alone, so that a new commit compiles nothing else anew.
BuildInfo ThisBuild() { return {PROOFMILL_VERSION, PROOFMILL_REVISION, PROOFMILL_CUDA_VERSION}; }

}  // namespace proofmill::server
