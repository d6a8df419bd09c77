// The environment as a source of settings.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_ENVIRONMENT_H_
#define PROOFMILL_SERVER_ENVIRONMENT_H_

#include <string>
#include <vector>

namespace proofmill::server {

// The names in `environment` (NAME=value each, a null pointer at the end, as environ(7)) that begin with
// PROOFMILL_ and are no setting's and no other variable of the program's: nearly always a slip that has no
// effect.
std::vector<std::string> UnknownVariables(const char* const* environment);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_ENVIRONMENT_H_
