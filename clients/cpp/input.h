// What a proof is made from, as it is sent: the bytes of the private input, and what goes with them.
//
// Refers to the caller's memory, which must outlive the calls that it is used in, and is never copied; the
// caller wipes it.
//
// Thread safety: a value.

#ifndef PROOFMILL_CLIENTS_CPP_INPUT_H_
#define PROOFMILL_CLIENTS_CPP_INPUT_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::client {

class Input {
 public:
  // For circuits of Groth16: the content of a .wtns file. Implicit, since most inputs are that.
  Input(absl::string_view wtns) : bytes_(wtns) {}   // NOLINT(google-explicit-constructor)
  Input(const std::string& wtns) : bytes_(wtns) {}  // NOLINT(google-explicit-constructor)
  Input(const char* wtns) : bytes_(wtns) {}         // NOLINT(google-explicit-constructor)

  // For circuits of WHIR, whose proofs are NOT hiding: the values of the polynomial, 4 bytes each
  // (common.proto), and where it is to be opened. Claims may leave their values to the service.
  static Input Whir(absl::string_view evaluations, std::vector<v1::WhirClaim> claims) {
    Input input(evaluations);
    input.is_whir_ = true;
    input.claims_ = std::move(claims);
    return input;
  }

  absl::string_view bytes() const { return bytes_; }
  bool is_whir() const { return is_whir_; }

  // The way to the field for the bytes, from a ProveRequest on.
  std::initializer_list<int> path() const {
    static constexpr std::initializer_list<int> kEvaluations = {v1::ProveRequest::kWhirFieldNumber,
                                                                v1::WhirInput::kEvaluationsFieldNumber};
    static constexpr std::initializer_list<int> kWtns = {v1::ProveRequest::kGroth16FieldNumber,
                                                         v1::Groth16Input::kWtnsFieldNumber};
    return is_whir_ ? kEvaluations : kWtns;
  }

  // Puts what goes with the bytes, or the name of an upload that has them too, into a request.
  void FillRest(v1::ProveRequest& request) const {
    if (is_whir_) FillClaims(*request.mutable_whir()->mutable_claims());
  }
  void FillUpload(const std::string& upload, v1::ProveRequest& request) const {
    if (is_whir_) {
      request.mutable_whir()->set_upload(upload);
      FillClaims(*request.mutable_whir()->mutable_claims());
    } else {
      request.mutable_groth16()->set_upload(upload);
    }
  }
  void FillHeader(v1::StreamHeader& header) const { FillClaims(*header.mutable_whir_claims()); }

  // Whether a result is of the proof system that this is for.
  bool IsAnsweredBy(const v1::ProofResult& result) const {
    return is_whir_ ? result.has_whir() : result.has_groth16();
  }

 private:
  void FillClaims(google::protobuf::RepeatedPtrField<v1::WhirClaim>& out) const {
    for (const v1::WhirClaim& claim : claims_) *out.Add() = claim;
  }

  absl::string_view bytes_;
  bool is_whir_ = false;
  std::vector<v1::WhirClaim> claims_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_INPUT_H_
