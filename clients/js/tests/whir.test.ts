// WHIR through the client, against the real service; the judge is the program, which checks proofs without a service.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  configure,
  connect,
  RequestError,
  whir,
  WitnessError,
  type Client,
  type Progress,
  type Transfer,
  type WhirClaim,
} from "@proofmill/client";
import { connect as connectWeb } from "@proofmill/client/web";
import { startGateway } from "../examples/gateway.mjs";
import { programAccepts, startService, WHIR_PARAMETERS, type Service } from "./service_process.js";

const P = 2013265921;
const VARIABLES = WHIR_PARAMETERS.num_variables;
// The value at index i is 7 i, so that the value at a point is 7 sum of z_j 2^(n-1-j).
const evaluations = () => Uint32Array.from({ length: 2 ** VARIABLES }, (_, i) => 7 * i);
const point = (seed: number) => Array.from({ length: VARIABLES }, (_, j) => [seed + j, 1, 0, P - 1, j]);
const valueAt = (at: readonly (readonly number[])[]) =>
  Array.from({ length: 5 }, (_, k) =>
    Number(at.reduce((sum, z, j) => sum + 7n * BigInt(z[k]!) * 2n ** BigInt(VARIABLES - 1 - j), 0n) % BigInt(P)),
  );
const CLAIMS: WhirClaim[] = [{ point: point(3) }, { point: point(1000), value: valueAt(point(1000)) }];

let service: Service;
let gateway: { url: string; close(): Promise<void> };
const clients: Record<string, Client> = {};
before(async () => {
  service = await startService();
  gateway = await startGateway({ target: `http://${service.target}`, folder: "." });
  clients["grpc"] = connect({ target: service.target });
  clients["grpc-web"] = connectWeb({ target: gateway.url });
  // Small enough a message that the polynomial goes in pieces.
  clients["pieces"] = connectWeb({ target: gateway.url, protocol: "connect", unaryBytesMax: 1000, pieceBytes: 1500 });
});
after(async () => {
  for (const client of Object.values(clients)) client.close();
  await gateway.close();
  await service.stop();
});

for (const [name, transfers] of [
  ["grpc", ["auto", "unary", "stream", "upload", "job"]],
  ["grpc-web", ["auto", "unary", "job"]],
  ["pieces", ["upload", "job"]],
] as Array<[string, Transfer[]]>) {
  for (const transfer of transfers) {
    test(`over ${name}, transfer "${transfer}": the program and the service accept the proof`, async () => {
      const seen: Progress[] = [];
      const client = clients[name]!;
      const result = await client.whir.prove("poly", evaluations(), CLAIMS, {
        transfer,
        onProgress: (progress) => seen.push(progress),
      });

      assert.deepEqual(
        result.claims,
        CLAIMS.map((claim) => ({ point: claim.point, value: valueAt(claim.point) })),
      );
      assert.equal(programAccepts(result.claims, result.proof), true);
      assert.equal(await client.whir.verify("poly", result), true);
      assert.equal(result.circuit, "poly");
      assert(result.stages.some(({ stage }) => stage === "sumcheck"));
      assert.equal(seen.at(-1)!.sizeBytes, 4096);
    });
  }
}

describe("WHIR", () => {
  test("values come as words, as numbers and as bytes, and what is not ours stays as it is", async () => {
    configure({ target: service.target });
    const words = evaluations();
    const part = new Uint32Array(words.length + 3);
    part.set(words, 2);
    const sources = [words, [...words], new Uint8Array(words.buffer), part.subarray(2, 2 + words.length)];
    const proofs = await Promise.all(sources.map((source) => whir.prove("poly", source, CLAIMS)));

    for (const { proof } of proofs) assert.deepEqual(proof, proofs[0]!.proof);
    assert.deepEqual(words, evaluations());
  });

  test("an altered proof, claim or commitment is not valid", async () => {
    const { grpc: client } = clients;
    const good = await client!.whir.prove("poly", evaluations(), CLAIMS);
    const flip = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const [first, second] = good.claims;
    const altered = [
      { ...good, proof: flip(good.proof, 100) },
      { ...good, proof: new Uint8Array() },
      { ...good, commitment: flip(good.commitment, 0) },
      { ...good, claims: [second!, first!] },
      { ...good, claims: [{ ...first!, value: [first!.value[0]! ^ 1, ...first!.value.slice(1)] }, second!] },
    ];

    assert.equal(await client!.whir.verify("poly", good), true);
    for (const [i, bad] of altered.entries()) assert.equal(await client!.whir.verify("poly", bad), false, `${i}`);
    assert.equal(programAccepts(altered[4]!.claims, good.proof), false);
  });

  test("what cannot be is refused, by the client without a value, by the service with a reason", async () => {
    const { prove, verify } = clients["grpc"]!.whir;
    const values = evaluations();

    await assert.rejects(
      prove("poly", [1, 2, 77.5], CLAIMS),
      (error: Error) => /evaluations\[2\]/.test(error.message) && !/77/.test(error.message),
    );
    await assert.rejects(prove("poly", [P], CLAIMS), TypeError);
    await assert.rejects(prove("poly", {} as never, CLAIMS), TypeError);
    await assert.rejects(prove("poly", values, {} as never), TypeError);
    await assert.rejects(prove("poly", values, [{ point: [[1, 2, 3]] }]), /claims\[0\]\.point\[0\]/);
    await assert.rejects(prove("poly", values, [{ point: [[1, 2, 3, P]] }]), TypeError);
    await assert.rejects(prove("poly", values.subarray(1), CLAIMS), { name: "WitnessError", reason: "WITNESS_LENGTH" });
    await assert.rejects(prove("poly", values.fill(P, 5, 6), CLAIMS), { name: "WitnessError", reason: "WITNESS_NOT_CANONICAL" });
    await assert.rejects(
      prove("poly", evaluations(), [CLAIMS[0]!, { point: point(5), value: [1, 2, 3, 4, 5] }]),
      (error) => error instanceof WitnessError && error.reason === "WITNESS_UNSATISFIED",
    );
    await assert.rejects(prove("poly", evaluations(), [CLAIMS[0]!]), RequestError);
    await assert.rejects(prove("epoch-key-lite", evaluations(), CLAIMS), RequestError);
    await assert.rejects(clients["grpc"]!.prove("poly", service.bundled.witness), RequestError);
    await assert.rejects(verify("epoch-key-lite", await prove("poly", evaluations(), CLAIMS)), RequestError);
  });

  test("circuits tell which proof system they are of", async () => {
    const circuits = await clients["grpc"]!.circuits();
    const systems = Object.fromEntries(circuits.map(({ id, proofSystem }) => [id, proofSystem]));

    assert.equal(systems["poly"], "whir");
    assert.equal(systems["epoch-key-lite"], "groth16");
  });
});
