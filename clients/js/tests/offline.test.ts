// What needs no service: checksums, call data, options, inputs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, groth16, WitnessError, type Groth16Proof } from "@proofmill/client";
import { connect as connectWeb } from "@proofmill/client/web";
import * as snarkjs from "snarkjs";
import { crc32c } from "../dist/checksum.js";
import { PROOF } from "./fake_service.js";

test("CRC-32C has the known answers of RFC 3720, appendix B.4", () => {
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c);
});

test("call data is what snarkjs prints", async () => {
  const signals = ["0", "123456789012345678901234567890", "1"];

  for (const publicSignals of [[], signals]) {
    assert.equal(
      await groth16.exportSolidityCallData(PROOF, publicSignals),
      await snarkjs.groth16.exportSolidityCallData(PROOF, publicSignals),
    );
  }
});

test("call data of a proof without all its points is refused", async () => {
  await assert.rejects(groth16.exportSolidityCallData({ ...PROOF, pi_b: [["1"]] } as Groth16Proof, []), TypeError);
});

test("an API key does not travel in clear text to another machine", () => {
  assert.throws(() => connect({ target: "prover.example:50051", apiKey: "k" }), /expected https or a loopback address/);
  assert.throws(() => connect({ target: "http://127.0.0.1.example:50051", apiKey: "k" }), /expected https or a loopback address/);
  assert.throws(() => connectWeb({ target: "http://prover.example", apiKey: "k" }), /expected https or a loopback address/);
  assert.throws(() => connect({ target: "127.0.0.1:1", apiKey: "two words" }), /apiKey: expected printable ASCII/);
  for (const target of ["127.0.0.1:1", "localhost:1", "http://[::1]:1", "https://prover.example"]) connect({ target, apiKey: "k" });
});

test("options that contradict each other are refused", () => {
  assert.throws(() => connect({ target: "http://localhost:1", tls: {} }), /target: expected https, since TLS options are given/);
  assert.throws(() => connect({ tls: { cert: "..." } }), /tls: expected a client certificate and its key/);
  assert.throws(() => connect({ target: "not an address" }), /target: expected an address/);
});

test("a witness that is neither bytes nor a name is refused, and a file that is missing is named", async () => {
  const client = connect({ target: "127.0.0.1:1" });

  await assert.rejects(client.groth16.prove("c", 7 as never), /wtns: expected bytes, a file's name/);
  await assert.rejects(client.groth16.prove("c", "no/such/file.wtns"), /no\/such\/file\.wtns/);
  await assert.rejects(
    connectWeb({ target: "http://127.0.0.1:1" }).prove("c", new TextEncoder().encode("wtns"), { transfer: "stream" }),
    /browsers cannot stream up/,
  );
  for (const wrong of ["", "wtn", '{"x": "3"} wtns']) {
    await assert.rejects(
      client.prove("c", new TextEncoder().encode(wrong), { onProgress: () => {} }),
      (error: Error) => error instanceof WitnessError && error.reason === "WITNESS_MALFORMED" && !error.message.includes('"x"'),
    );
  }
});
