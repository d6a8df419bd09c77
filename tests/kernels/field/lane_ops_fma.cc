#include "tests/kernels/field/lane_ops_lanes.h"

namespace proofmill::kernels {

template <>
const LaneOps& FmaLaneOps<FqParams>() {
  return fma::Ops<FqParams>::kTable;
}
template <>
const LaneOps& FmaLaneOps<FrParams>() {
  return fma::Ops<FrParams>::kTable;
}

}  // namespace proofmill::kernels
