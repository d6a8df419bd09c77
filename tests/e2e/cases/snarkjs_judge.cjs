// snarkjs as a judge that answers questions: one JSON request a line on stdin, one JSON answer a line on stdout.
//
// A request is {"op": NAME, ...arguments}, an answer {"value": ...} or {"error": text}. snarkjs takes seconds to load its
// curve and never ends by itself (its worker threads stay), so one process serves a whole test program and leaves by
// process.exit when stdin ends. File arguments are paths; JSON arguments are values, not paths.
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");
const snarkjs = require(path.join(__dirname, "..", "..", "node_modules", "snarkjs", "build", "main.cjs"));

const readJson = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
// JSON.stringify with big integers as decimal strings, as the snarkjs command line writes them.
const plain = (value) =>
  JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? v.toString() : v instanceof Uint8Array ? Buffer.from(v).toString("hex") : v)));

const operations = {
  verify: ({ vkey, publicSignals, proof }) => snarkjs.groth16.verify(readJson(vkey), readJson(publicSignals), readJson(proof)),
  calldata: ({ publicSignals, proof }) => snarkjs.groth16.exportSolidityCallData(readJson(proof), readJson(publicSignals)),
  // Writes the two files as the snarkjs command line would.
  async prove({ zkey, wtns, proof, publicSignals }) {
    const made = await snarkjs.groth16.prove(zkey, wtns);
    fs.writeFileSync(proof, JSON.stringify(made.proof, null, 1));
    fs.writeFileSync(publicSignals, JSON.stringify(made.publicSignals, null, 1));
    return true;
  },
  vkey: ({ zkey }) => snarkjs.zKey.exportVerificationKey(zkey),
  // Reads every section of the old key, the contributions included, and adds one.
  async contribute({ zkey, contributed, name, entropy }) {
    await snarkjs.zKey.contribute(zkey, contributed, name, entropy);
    return true;
  },
  // Whether the constraints of the circuit hold, by snarkjs's own arithmetic.
  checkWitness: ({ r1cs, wtns }) => snarkjs.wtns.check(r1cs, wtns),
  r1csInfo: async ({ r1cs }) => {
    const info = await snarkjs.r1cs.info(r1cs);
    return { constraints: info.nConstraints, wires: info.nVars, outputs: info.nOutputs, inputs: info.nPubInputs };
  },
  calculateWitness: async ({ wasm, input, wtns }) => {
    await snarkjs.wtns.calculate(readJson(input), wasm, wtns);
    return true;
  },
};

async function answer(line) {
  try {
    const { op, ...args } = JSON.parse(line);
    return { value: plain(await operations[op](args)) };
  } catch (error) {
    return { error: String((error && error.message) || error).split("\n")[0] };
  }
}

(async () => {
  // Builds the curve now: the first one built is shared, and r1csfile would bring an older copy, which fails on empty sums.
  await snarkjs.curves.getCurveFromName("bn128");
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(line)) + "\n");
  }
  process.exit(0);
})();
