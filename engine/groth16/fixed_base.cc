#include "engine/groth16/fixed_base.h"

#include "kernels/cpu/msm.h"

namespace proofmill::engine {
namespace {

using kernels::FixedBaseTable;
using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;

class CpuFixedBaseMultiplier final : public FixedBaseMultiplier {
 public:
  CpuFixedBaseMultiplier() : g1_(kernels::kG1Generator), g2_(kernels::kG2Generator) {}

  std::string_view name() const override { return "cpu"; }

  absl::Status Multiply(absl::Span<const Fr> scalars, kernels::G1Affine* out) override {
    g1_.Multiply(scalars.data(), out, scalars.size());
    return absl::OkStatus();
  }
  absl::Status Multiply(absl::Span<const Fr> scalars, kernels::G2Affine* out) override {
    g2_.Multiply(scalars.data(), out, scalars.size());
    return absl::OkStatus();
  }

 private:
  const FixedBaseTable<Fq> g1_;
  const FixedBaseTable<Fq2> g2_;
};

}  // namespace

std::unique_ptr<FixedBaseMultiplier> MakeCpuFixedBaseMultiplier() {
  return std::make_unique<CpuFixedBaseMultiplier>();
}

}  // namespace proofmill::engine
