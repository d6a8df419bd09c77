// Which key files have passed checks 1 to 6 of the key audit before. These speak of the bytes of a file
// alone, so that a file of the same hash need not be checked again. A record names the hash that it is for,
// so one that was copied, moved or cut short counts for nothing.
//
// Whoever can write into the folder can have a bad key taken for a good
// one. So records are kept in a folder of their own below the operator's state folder, never beside the keys,
// and are believed only while that folder, and the record itself, belong to this process's user or to root
// and nobody else may write into them.
//
// Thread safety: any thread; several processes may share a state folder.

#ifndef PROOFMILL_ENGINE_GROTH16_AUDIT_RECORDS_H_
#define PROOFMILL_ENGINE_GROTH16_AUDIT_RECORDS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace proofmill::engine {

class AuditRecords {
 public:
  using FileHash = std::array<uint8_t, 64>;  // BLAKE2b-512 of the whole key file

  // An empty `state_dir` keeps no records: Find() finds none, and Add() does nothing.
  explicit AuditRecords(const std::string& state_dir);

  // OK if the hash is on record.
  //   NOT_FOUND            it is not.
  //   FAILED_PRECONDITION  there is a record that is not to be believed: the message says why.
  //   any other            there is a record that cannot be read.
  absl::Status Find(const FileHash& hash) const;

  // Replaces what is there already, believed or not.
  //   NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, INTERNAL  the record cannot be kept.
  absl::Status Add(const FileHash& hash) const;

 private:
  std::string PathOf(const FileHash& hash) const;

  const std::string folder_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_AUDIT_RECORDS_H_
