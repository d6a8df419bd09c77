// Proves a witness and verifies the proof: node prove.mjs CIRCUIT WITNESS.wtns VERIFICATION_KEY.json
import { readFileSync } from "node:fs";
import { groth16 } from "@proofmill/client"; // with snarkjs: import { groth16 } from "snarkjs";

const [circuit, witness, keyFile] = process.argv.slice(2);
try {
  const { proof, publicSignals } = await groth16.prove(circuit, witness); // with snarkjs: circuit.zkey
  const key = JSON.parse(readFileSync(keyFile, "utf8"));
  console.log((await groth16.verify(key, publicSignals, proof)) ? "OK" : "INVALID");
} catch (error) {
  console.error(`${error.name}: ${error.message}`); // error.reason and error.retryable say what to do about it
  process.exitCode = 1;
}
