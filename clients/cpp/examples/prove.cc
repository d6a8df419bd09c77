// Has a service prove one witness, and prints the proof and the public signals as snarkjs writes them.
// usage: example_prove TARGET CIRCUIT WITNESS.wtns

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "clients/cpp/client.h"
#include "clients/cpp/error.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: example_prove TARGET CIRCUIT WITNESS.wtns\n";
    return 2;
  }
  proofmill::client::ClientOptions options;
  options.target = argv[1];
  const auto client = proofmill::client::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status().message() << "\n";
    return 2;
  }

  std::ifstream file(argv[3], std::ios::binary);
  const std::string witness(std::istreambuf_iterator<char>(file), {});
  proofmill::v1::ProofSpec spec;
  spec.set_circuit(argv[2]);
  spec.set_include_snarkjs_json(true);
  proofmill::client::ProveOptions patience;
  patience.timeout = absl::Seconds(30);
  const auto result = (*client)->Prove(spec, witness, patience);
  if (!result.ok()) {
    std::cerr << proofmill::client::ErrorReason(result.status()) << ": " << result.status().message() << "\n";
    return 1;
  }
  std::cout << result->snarkjs_proof_json() << "\n" << result->snarkjs_public_json() << "\n";
  return 0;
}
