// The cells of the benchmark of whir-p3-metal: what its article measured on an M1 (8 GPU cores), in
// milliseconds.

#ifndef PROOFMILL_CLI_WHIR_CELLS_H_
#define PROOFMILL_CLI_WHIR_CELLS_H_

#include <cstdint>

#include "engine/whir/parameters.h"

namespace proofmill::cli {

struct WhirCell {
  uint32_t num_variables, fold, rate;
  double article_cpu_ms = 0, article_gpu_ms = 0;  // 0: it gives none
};

// The first 29 are the article's first table, the others its second, with two cells that its GPU did not
// finish.
inline constexpr WhirCell kArticleCells[] = {
    {20, 1, 1, 267, 171},   {20, 1, 2, 453, 290},    {20, 1, 3, 897, 483},   {20, 2, 1, 127, 75},
    {20, 2, 2, 217, 122},   {20, 2, 3, 414, 210},    {20, 4, 1, 49, 35},     {20, 4, 2, 89, 53},
    {20, 4, 3, 200, 120},   {22, 1, 1, 1174, 579},   {22, 1, 2, 1938, 1092}, {22, 1, 3, 3459, 1934},
    {22, 2, 1, 441, 287},   {22, 2, 2, 805, 484},    {22, 2, 3, 1676, 897},  {22, 3, 1, 206, 138},
    {22, 3, 2, 381, 248},   {22, 3, 3, 897, 611},    {22, 4, 1, 166, 128},   {22, 4, 2, 322, 215},
    {22, 4, 3, 661, 530},   {22, 6, 1, 141, 98},     {22, 6, 2, 410, 327},   {22, 6, 3, 1763, 1320},
    {24, 1, 1, 4153, 2463}, {24, 2, 1, 1814, 1049},  {24, 3, 1, 890, 531},   {24, 4, 1, 978, 694},
    {24, 6, 1, 588, 405},   {22, 1, 5, 15226, 9300}, {22, 2, 5, 6327, 3644}, {22, 3, 5, 8694, 3779},
    {22, 4, 5, 7546, 4568}, {22, 2, 6, 17142, 8408}, {22, 1, 6, 0, 0},       {22, 6, 5, 0, 0}};

// The article's parameters: profile pin, 100 bits under the capacity bound, 16 bits of proof of work, one
// claim.
inline engine::WhirParameters ArticleParameters(const WhirCell& cell) {
  engine::WhirParameters p;
  p.profile = engine::WhirProfile::kPin;
  p.extension_degree = 4;
  p.constants = kernels::Poseidon2Set::kSmallRngSeed1;
  p.num_variables = cell.num_variables;
  p.folding = engine::WhirFolding::Constant(cell.fold);
  p.log_inv_rate = cell.rate;
  p.domain_reduction = cell.fold < 3 ? cell.fold : 3;
  p.security_level = 100;
  p.max_pow_bits = 16;
  p.assumption = engine::WhirAssumption::kCapacityBound;
  return p;
}

// The cell of kArticleCells with these parameters, or one without the article's figures.
constexpr WhirCell FindArticleCell(uint32_t num_variables, uint32_t fold, uint32_t rate) {
  for (const WhirCell& cell : kArticleCells) {
    if (cell.num_variables == num_variables && cell.fold == fold && cell.rate == rate) return cell;
  }
  return {num_variables, fold, rate};
}

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_WHIR_CELLS_H_
