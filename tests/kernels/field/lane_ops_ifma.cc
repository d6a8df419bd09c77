#include "tests/kernels/field/lane_ops_lanes.h"

namespace proofmill::kernels {

template <>
const LaneOps& IfmaLaneOps<FqParams>() {
  return ifma::Ops<FqParams>::kTable;
}
template <>
const LaneOps& IfmaLaneOps<FrParams>() {
  return ifma::Ops<FrParams>::kTable;
}

}  // namespace proofmill::kernels
