// What `proofmill calldata` prints, given to the contract that snarkjs exports for the same key: Solidity's own compiler compiles
// it, and an Ethereum virtual machine runs it. It must accept what we print and reject everything that is altered in it.
//
// usage: calldata_in_evm.mjs PROGRAM KEY.zkey WITNESS.wtns FOLDER    (FOLDER takes the files that are made)
// Prints one line for each call, and exits 1 if any was answered wrongly.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVM } from "@ethereumjs/evm";
import { Address, bytesToHex, hexToBytes } from "@ethereumjs/util";
import * as snarkjs from "snarkjs";
import solc from "solc";

const GAS = 10_000_000n;
const CONTRACT = new Address(new Uint8Array(20).fill(0xc0));
const PRIME = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

const [program, key, witness, folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: calldata_in_evm.mjs PROGRAM KEY.zkey WITNESS.wtns FOLDER");
  process.exit(2);
}

const run = (...args) => execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** The code of the verifier contract, as it would lie on the chain, and the selector of its only function. */
async function compileVerifier() {
  const template = new URL("../node_modules/snarkjs/templates/verifier_groth16.sol.ejs", import.meta.url);
  const source = await snarkjs.zKey.exportSolidityVerifier(key, { groth16: readFileSync(template, "utf8") });
  const input = {
    language: "Solidity",
    sources: { "verifier.sol": { content: source } },
    settings: { optimizer: { enabled: true }, outputSelection: { "*": { "*": ["evm"] } } },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(`solc: ${errors[0].formattedMessage}`);
  const { deployedBytecode, methodIdentifiers } = output.contracts["verifier.sol"].Groth16Verifier.evm;
  const [[signature, selector]] = Object.entries(methodIdentifiers);
  return { code: hexToBytes(`0x${deployedBytecode.object}`), signature, selector };
}

/** The words of the line that the program prints, in the order of the contract's arguments. */
function wordsOf(line) {
  return JSON.parse(`[${line}]`).flat(3).map((word) => BigInt(word));
}

// The contract's answer: true, false or an exception. Its arguments are static arrays, so the words stand one after the other.
async function ask(evm, selector, words) {
  const data = hexToBytes(`0x${selector}${words.map((word) => word.toString(16).padStart(64, "0")).join("")}`);
  const { execResult } = await evm.runCall({ to: CONTRACT, data, gasLimit: GAS });
  if (execResult.exceptionError !== undefined) return { answer: `exception: ${execResult.exceptionError.error}` };
  return { answer: BigInt(bytesToHex(execResult.returnValue)) === 1n, gas: execResult.executionGasUsed };
}

// Each way to alter the call, by its name.
function alterations(words) {
  const altered = words.map((_, i) => [`word ${i} plus 1`, words.map((word, j) => (j === i ? word + 1n : word))]);
  const swapped = [...words];
  [swapped[2], swapped[3]] = [words[3], words[2]]; // the order of EIP-197 undone
  const negated = [...words];
  negated[1] = PRIME - words[1];
  return [...altered, ["the parts of b's x exchanged", swapped], ["a negated", negated], ["zeros", words.map(() => 0n)]];
}

run("prove", key, witness, join(folder, "proof.json"), join(folder, "public.json"), "--backend", "cpu");
const words = wordsOf(run("calldata", join(folder, "public.json"), join(folder, "proof.json")));
const { code, signature, selector } = await compileVerifier();
const evm = await EVM.create();
await evm.stateManager.putContractCode(CONTRACT, code);

let wrong = 0;
const { answer, gas } = await ask(evm, selector, words);
console.log(`${signature} of ${code.length} bytes`);
console.log(`as printed: ${answer}, ${gas} gas`);
if (answer !== true) wrong++;
for (const [name, altered] of alterations(words)) {
  const judged = (await ask(evm, selector, altered)).answer;
  console.log(`${name}: ${judged}`);
  if (judged !== false) wrong++;
}
console.log(`${wrong} wrong answers`);
process.exit(wrong === 0 ? 0 : 1); // the threads of snarkjs would stay
