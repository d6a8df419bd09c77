// The client against the real service, over gRPC and, through the gateway, over gRPC-Web and Connect. snarkjs is the judge.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  CircuitError,
  configure,
  connect,
  DeadlineError,
  groth16,
  UnavailableError,
  WitnessError,
  type Client,
  type Progress,
  type Transfer,
  type VerificationKey,
} from "@proofmill/client";
import { connect as connectWeb } from "@proofmill/client/web";
import * as snarkjs from "snarkjs";
import { startGateway } from "../examples/gateway.mjs";
import { PROJECT, startService, type Case, type Service } from "./service_process.js";

let service: Service;
let gateway: { url: string; close(): Promise<void> };
const clients: Record<string, Client> = {};
before(async () => {
  service = await startService();
  gateway = await startGateway({ target: `http://${service.target}`, folder: "." });
  clients["grpc"] = connect({ target: service.target });
  clients["grpc-web"] = connectWeb({ target: gateway.url });
  clients["connect"] = connectWeb({ target: gateway.url, protocol: "connect" });
});
after(async () => {
  for (const client of Object.values(clients)) client.close();
  await gateway.close();
  await service.stop();
  await (await snarkjs.curves.getCurveFromName("bn128")).terminate();
});

const keyOf = (known: Case) => snarkjs.zKey.exportVerificationKey(known.key) as Promise<VerificationKey>;
const cases = () => [service.bundled, ...(service.semaphore ? [service.semaphore] : [])];

for (const [name, transfers] of [
  ["grpc", ["unary", "stream", "upload", "job"]],
  ["grpc-web", ["unary", "upload", "job"]],
  ["connect", ["unary", "upload", "job"]],
] as Array<[string, Transfer[]]>) {
  describe(`over ${name}`, () => {
    for (const transfer of transfers) {
      test(`snarkjs and both of our verifiers accept a proof, transfer "${transfer}"`, async () => {
        for (const known of cases()) {
          const seen: Progress[] = [];
          const client = clients[name]!;
          const { proof, publicSignals, circuit, stages } = await client.prove(known.circuit, readFileSync(known.witness), {
            transfer,
            onProgress: (progress) => seen.push(progress),
          });

          assert.equal(await snarkjs.groth16.verify(await keyOf(known), publicSignals, proof), true);
          assert.equal(await client.groth16.verify(await keyOf(known), publicSignals, proof), true);
          assert.equal(await client.groth16.verify(known.circuit, publicSignals, proof), true);
          assert.equal(circuit, known.circuit);
          assert(stages.some(({ stage, durationMs }) => stage === "msm_a" && durationMs > 0));
          assert.equal(seen[0]!.phase, "connecting");
          // The job of a circuit of a few constraints may be done before it is watched; the service need not tell of it.
          if (transfer !== "job" || known === service.semaphore)
            assert(
              seen.some(({ phase }) => phase === "running"),
              "told that the proof is being made",
            );
          if (known === service.semaphore)
            console.log(`semaphore-20 over ${name}, ${transfer}: snarkjs says OK, ${seen.length} progress events`);
        }
      });
    }

    test("fullProve takes snarkjs's arguments, and gives its shapes", async () => {
      const { circuit, wasm, input } = service.product;
      const { proof, publicSignals, ...others } = await clients[name]!.groth16.fullProve(input!, readFileSync(wasm!), circuit);

      assert.deepEqual(publicSignals, ["30000000210"]);
      assert.deepEqual(others, {});
      assert.deepEqual(Object.keys(proof).sort(), ["curve", "pi_a", "pi_b", "pi_c", "protocol"]);
      assert.equal(await snarkjs.groth16.verify(await keyOf(service.product), publicSignals, proof), true);
    });

    test("circuits are listed, and one comes with its verification key", async () => {
      const client = clients[name]!;
      const ids = (await client.circuits()).map(({ id, state }) => `${id} ${state}`);
      const { verificationKey } = await client.circuit("epoch-key-lite");

      assert(ids.includes("epoch-key-lite ready") && ids.includes("product ready"));
      assert.deepEqual(verificationKey!.IC, (await keyOf(service.bundled)).IC);
    });

    test("refusals have their classes and reasons", async () => {
      const client = clients[name]!;
      const witness = readFileSync(service.bundled.witness);
      const altered = Uint8Array.from(witness);
      altered[altered.length - 32]! ^= 1;

      await assert.rejects(
        client.prove("no-such-circuit", witness),
        (error) => error instanceof CircuitError && error.reason === "CIRCUIT_UNKNOWN",
      );
      await assert.rejects(
        client.prove("product", witness),
        (error) => error instanceof WitnessError && error.reason === "WITNESS_LENGTH",
      );
      await assert.rejects(
        client.prove("epoch-key-lite", altered),
        (error) => error instanceof WitnessError && error.reason === "WITNESS_UNSATISFIED",
      );
      await assert.rejects(client.prove("epoch-key-lite", witness, { circuitVersion: "0".repeat(128) }), {
        reason: "VERSION_MISMATCH",
      });
      await assert.rejects(client.prove("epoch-key-lite", witness, { timeoutMs: 1 }), DeadlineError);
    });
  });
}

test("the functions that stand alone go where configure() says, with files by their names", async () => {
  const { circuit, wasm, input, key } = service.product;
  configure({ target: service.target });
  const made = await groth16.fullProve(input!, wasm!, circuit);
  const witness: { type: "mem"; data?: Uint8Array } = { type: "mem" };
  await snarkjs.wtns.calculate(input!, wasm!, witness);
  const proved = await groth16.prove(circuit, witness);
  const fromFile = await groth16.prove(service.bundled.circuit, service.bundled.witness);

  assert.deepEqual(made.publicSignals, (await snarkjs.groth16.prove(key, witness)).publicSignals);
  assert.deepEqual(proved.publicSignals, made.publicSignals);
  assert.equal(await groth16.verify(await keyOf(service.bundled), fromFile.publicSignals, fromFile.proof), true);
});

test("the example of the README proves and verifies, and ends by itself", () => {
  const example = join(PROJECT, "clients/js/examples/prove.mjs");
  const { circuit, witness } = service.bundled;
  const key = join(PROJECT, "deploy/examples/circuits/epoch-key-lite/verification_key.json");
  const run = (id: string) =>
    spawnSync(process.execPath, [example, id, witness, key], {
      env: { ...process.env, PROOFMILL_TARGET: service.target },
      encoding: "utf8",
      timeout: 30_000,
    });
  const [good, unknown] = [run(circuit), run("nobody")];

  assert.deepEqual([good.stdout, good.stderr, good.status], ["OK\n", "", 0]);
  assert.match(unknown.stderr, /^CircuitError: [^\n]*nobody[^\n]*\n$/, "an error is one line");
  assert.deepEqual([unknown.stdout, unknown.status], ["", 1]);
});

test("inputs that cannot be are refused without their values", async () => {
  const { circuit, wasm } = service.product;
  const client = clients["grpc"]!;

  await assert.rejects(
    client.groth16.fullProve({ factors: ["12 monkeys"] }, wasm!, circuit),
    (error: Error) => /input\.factors\[0\]/.test(error.message) && !/monkeys/.test(error.message),
  );
  await assert.rejects(client.groth16.fullProve({ factors: ["1"] }, wasm!, circuit), /factors/);
});

describe("verification", () => {
  test("says of altered proofs and signals what snarkjs says", async () => {
    const client = clients["grpc"]!;
    const key = await keyOf(service.bundled);
    const { proof, publicSignals } = await client.groth16.prove(service.bundled.circuit, service.bundled.witness);
    const infinity = ["0", "1", "0"];
    const off = structuredClone(proof);
    off.pi_a[0] = String(BigInt(off.pi_a[0]!) + 1n);
    const variants: Array<[string, typeof proof, string[]]> = [
      ["as made", proof, publicSignals],
      ["another signal", proof, ["1", ...publicSignals.slice(1)]],
      ["a off its curve", off, publicSignals],
      ["a and c exchanged", { ...proof, pi_a: proof.pi_c, pi_c: proof.pi_a }, publicSignals],
      ["a at infinity", { ...proof, pi_a: infinity }, publicSignals],
      ["b of another order", { ...proof, pi_b: [proof.pi_b[1]!, proof.pi_b[0]!, proof.pi_b[2]!] }, publicSignals],
      ["b of key", { ...proof, pi_b: key.vk_delta_2 }, publicSignals],
      ["a signal over r", proof, [String(2n ** 254n), ...publicSignals.slice(1)]],
    ];

    for (const [what, altered, signals] of variants) {
      const judged = await snarkjs.groth16.verify(key, signals, altered);
      assert.equal(await client.groth16.verify(key, signals, altered), judged, `here: ${what}`);
      assert.equal(await client.groth16.verify(service.bundled.circuit, signals, altered), judged, `at the service: ${what}`);
      assert.equal(judged, what === "as made");
    }
  });

  test("is stricter than snarkjs where that lets things pass", async () => {
    const client = clients["grpc"]!;
    const key = await keyOf(service.bundled);
    const { proof, publicSignals } = await client.groth16.prove(service.bundled.circuit, service.bundled.witness);
    const q = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
    const unreduced = { ...proof, pi_c: [String(BigInt(proof.pi_c[0]!) + q), ...proof.pi_c.slice(1)] };

    assert.equal(await client.groth16.verify(key, publicSignals, unreduced), false);
    assert.equal(await client.groth16.verify(key, publicSignals.slice(1), proof), false);
    await assert.rejects(client.groth16.verify(key, publicSignals, {} as never), TypeError);
    await assert.rejects(client.groth16.verify({ ...key, curve: "bls12381" }, publicSignals, proof), TypeError);
  });
});

// OpenSSL makes an authority that signs a server and a client, all of which live for a day.
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const request = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl(...request, "-x509", "-days", "1", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem");
  for (const name of ["server", "client"]) {
    openssl(
      ...request,
      "-subj",
      `/CN=${name}`,
      "-addext",
      "subjectAltName=DNS:prover.test",
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.csr`,
    );
    openssl(
      "x509",
      "-req",
      "-days",
      "1",
      "-in",
      `${name}.csr`,
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-copy_extensions",
      "copy",
      "-out",
      `${name}.pem`,
    );
  }
}

test("mutual TLS: with the right files a proof is made, without any of them none is", async (t) => {
  let read: (name: string) => Buffer = () => Buffer.alloc(0);
  const secure = await startService((folder) => {
    makeCertificates(folder);
    read = (name) => readFileSync(join(folder, name));
    const file = (name: string) => join(folder, name);
    return ["--tls_cert", file("server.pem"), "--tls_key", file("server.key"), "--tls_client_ca", file("ca.pem")];
  });
  t.after(() => secure.stop());
  const right = { ca: read("ca.pem"), cert: read("client.pem"), key: read("client.key"), serverName: "prover.test" };
  const retry = { attemptsMax: 1 };
  const prove = async (tls: object) => {
    const client = connect({ target: secure.target, tls, retry });
    try {
      return await client.groth16.prove(secure.bundled.circuit, secure.bundled.witness);
    } finally {
      client.close();
    }
  };

  const { proof, publicSignals } = await prove(right);
  assert.equal(await groth16.verify(await keyOf(secure.bundled), publicSignals, proof), true);
  await assert.rejects(prove({ ...right, ca: undefined }), UnavailableError, "an authority that is not trusted");
  await assert.rejects(prove({ ...right, serverName: "other.test" }), UnavailableError, "another name");
  await assert.rejects(prove({ ca: right.ca, serverName: right.serverName }), UnavailableError, "no client certificate");
  await assert.rejects(
    connect({ target: `http://${secure.target}`, retry }).groth16.prove("c", secure.bundled.witness),
    UnavailableError,
    "no TLS",
  );
});
