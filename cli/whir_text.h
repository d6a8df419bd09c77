// What every user of WHIR must know, for help texts and reports.

#ifndef PROOFMILL_CLI_WHIR_TEXT_H_
#define PROOFMILL_CLI_WHIR_TEXT_H_

namespace proofmill::cli {

inline constexpr char kWhirNotHiding[] =
    "WHIR is NOT hiding: a proof reveals values of the polynomial. It is no zero-knowledge proof.";
inline constexpr char kWhirConjectural[] =
    "The capacity bound is CONJECTURAL, and refuted in its general form (eprint 2025/2046): for comparison "
    "only.";

inline constexpr char kWhirProveText[] =
    "Commits to the multilinear polynomial whose 2^num_variables values POLYNOMIAL holds (little-endian "
    "words of 4 bytes,\n"
    "each below 2013265921; variable 0 is the most significant bit of an index) and proves the claims of the "
    "statement,\n"
    "{\"parameters\": {\"num_variables\": N, ..}, \"claims\": [{\"point\": [element, ..], \"value\": "
    "element}, ..]}, an "
    "element\nbeing the list of its 5 (or 4) coefficients. Other parameters and their defaults: "
    "extension_degree 5, "
    "constants\ndefault_grain_lfsr, folding {\"constant\": 4}, log_inv_rate 1, domain_reduction at most 3, "
    "security_level "
    "100,\nmax_pow_bits 16, assumption JohnsonBound (or UniqueDecoding; CapacityBound is conjectural and not "
    "offered).\n"
    "The proof is checked before it is written.\n\n"
    "WHIR is NOT hiding: a proof reveals values of the polynomial. It is no zero-knowledge proof.";

inline constexpr char kClientWhirProveText[] =
    "Sends the polynomial and the points of the statement to a service, waits for the proof, verifies it "
    "here with "
    "the\nparameters of the statement, and writes it. The files are those of `proofmill whir prove` (see its "
    "help); the "
    "circuit\nmust have the same parameters. Refusals that may pass are retried until the deadline.\n\n"
    "WHIR is NOT hiding: a proof reveals values of the polynomial. It is no zero-knowledge proof. The "
    "capacity bound "
    "is\nconjectural and not offered.";

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_WHIR_TEXT_H_
