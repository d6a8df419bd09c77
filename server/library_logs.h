// What gRPC and protobuf have to say, as lines of our own log instead of text between them.
//
// Both libraries have one handler for the whole process, so there is at most one of these objects at a time.
//
// Thread safety: the libraries log from any thread; the object is made and destroyed by one thread.

#ifndef PROOFMILL_SERVER_LIBRARY_LOGS_H_
#define PROOFMILL_SERVER_LIBRARY_LOGS_H_

#include "server/log.h"

namespace proofmill::server {

class LibraryLogs {
 public:
  // From now on lines go to `log`, which must outlive this object, as the event "library". Those that the
  // libraries mean for their own developers only count as debug.
  explicit LibraryLogs(Log& log);
  // Later lines are dropped.
  ~LibraryLogs();
  LibraryLogs(const LibraryLogs&) = delete;
  LibraryLogs& operator=(const LibraryLogs&) = delete;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_LIBRARY_LOGS_H_
