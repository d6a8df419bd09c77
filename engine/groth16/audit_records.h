// Which key files have passed checks 1 to 6 of the key audit before. These speak of the bytes of a file
// alone, so that a file of the same hash need not be checked again.
//
// Whoever can write into the folder can have a bad key taken for a good
// one. So records are kept in a folder of their own below the operator's state folder, never beside the keys,
// and are believed only while that folder belongs to this process's user or to root and nobody else may
// write into it.
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

  // An empty `state_dir` keeps no records: Contains() is false, and Add() does nothing.
  explicit AuditRecords(const std::string& state_dir);

  bool Contains(const FileHash& hash) const;

  // Adding what is there already is fine.
  //   NOT_FOUND, PERMISSION_DENIED, RESOURCE_EXHAUSTED, INTERNAL  the record cannot be kept.
  absl::Status Add(const FileHash& hash) const;

 private:
  std::string PathOf(const FileHash& hash) const;

  const std::string folder_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_AUDIT_RECORDS_H_
