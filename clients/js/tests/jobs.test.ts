// Jobs through the client, against real services: made, watched, asked for elsewhere, given up, forgotten.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  connect,
  ProofmillError,
  RequestError,
  UnavailableError,
  WitnessError,
  type Client,
  type JobInput,
  type ProofResult,
  type WhirProofResult,
} from "@proofmill/client";
import { connect as connectWeb } from "@proofmill/client/web";
import * as snarkjs from "snarkjs";
import { startGateway } from "../examples/gateway.mjs";
import { programAccepts, startService, WHIR_PARAMETERS, type Service } from "./service_process.js";

let first: Service;
let second: Service;
let gateway: { url: string; close(): Promise<void> };
let client: Client;
let other: Client;
let web: Client;
before(async () => {
  [first, second] = await Promise.all([startService(), startService()]);
  gateway = await startGateway({ target: `http://${first.target}`, folder: "." });
  client = connect({ target: first.target });
  other = connect({ target: second.target });
  web = connectWeb({ target: gateway.url });
});
after(async () => {
  for (const each of [client, other, web]) each.close();
  await gateway.close();
  await Promise.all([first.stop(), second.stop()]);
  await (await snarkjs.curves.getCurveFromName("bn128")).terminate();
});

const work = (): JobInput => ({ circuit: first.bundled.circuit, wtns: first.bundled.witness });
const polynomial = (): JobInput => ({
  circuit: "poly",
  evaluations: Uint32Array.from({ length: 2 ** WHIR_PARAMETERS.num_variables }, (_, i) => i),
  claims: [1, 2].map((seed) => ({ point: Array.from({ length: WHIR_PARAMETERS.num_variables }, (_, j) => [seed, j, 0, 0, 1]) })),
});
const isProof = async ({ proof, publicSignals }: ProofResult) =>
  snarkjs.groth16.verify(await snarkjs.zKey.exportVerificationKey(first.bundled.key), publicSignals, proof);

test("a job is made, watched to its end, asked for again, listed and forgotten", async () => {
  const job = await client.jobs.create(work(), { requestId: "order-1", priority: "high", jobTimeoutMs: 30_000 });
  const states: string[] = [];
  for await (const { state } of client.jobs.watch(job.name)) states.push(state);
  const result = (await client.jobs.result(job.name)) as ProofResult;
  const again = await client.jobs.get(job.name);

  assert.match(job.name, /^jobs\/[^/]+\/[^/]+$/);
  assert.equal(job.requestId, "order-1");
  assert.equal(job.circuit, first.bundled.circuit);
  const time = job.deadline!.getTime() - job.createTime!.getTime();
  assert(time > 29_000 && time <= 30_000, `${time} ms`);
  assert.equal(states.at(-1), "succeeded");
  assert.equal(await isProof(result), true);
  assert.deepEqual(again.result, result);
  assert(again.expireTime! > again.endTime!);
  assert((await client.jobs.list()).some(({ name, state }) => name === job.name && state === "succeeded"));

  await client.jobs.delete(job.name);
  await assert.rejects(client.jobs.get(job.name), (error) => error instanceof RequestError && error.reason === "JOB_UNKNOWN");
});

test("the same request id finds the same job, with other content none", async () => {
  const [one, two] = [
    await client.jobs.create(work(), { requestId: "same" }),
    await client.jobs.create(work(), { requestId: "same" }),
  ];
  const fresh = await client.jobs.create(work());

  assert.equal(one.name, two.name);
  assert.notEqual(fresh.name, one.name);
  await assert.rejects(client.jobs.create(polynomial(), { requestId: "same" }), { reason: "REQUEST_ID_CONFLICT" });
});

test("a polynomial is proved in the background too, from a browser in pieces", async () => {
  const pieces = connectWeb({ target: gateway.url, unaryBytesMax: 1000, pieceBytes: 1500 });
  for (const from of [client, web, pieces]) {
    const { name } = await from.jobs.create(polynomial());
    const result = (await from.jobs.result(name)) as WhirProofResult;

    assert.equal(programAccepts(result.claims, result.proof), true);
  }
});

test("a job that fails rejects with its error, and tells it", async () => {
  const wtns = Uint8Array.from(readFileSync(first.bundled.witness));
  wtns[wtns.length - 32]! ^= 1;
  const { name } = await client.jobs.create({ circuit: first.bundled.circuit, wtns });

  await assert.rejects(
    client.jobs.result(name),
    (error) => error instanceof WitnessError && error.reason === "WITNESS_UNSATISFIED",
  );
  const { state, error } = await client.jobs.get(name);
  assert.equal(state, "failed");
  assert(error instanceof WitnessError);
});

test("a job is given up, and says so", async () => {
  // The device is busy with the first ones, so that the last one has not ended.
  const jobs = await Promise.all(Array.from({ length: 12 }, () => client.jobs.create(work(), { priority: "low" })));
  const { name } = jobs.at(-1)!;
  await client.jobs.cancel(name);

  await assert.rejects(client.jobs.result(name), (error) => error instanceof ProofmillError && error.code === "CANCELLED");
  assert.equal((await client.jobs.get(name)).state, "cancelled");
});

test("whoever leaves a watch leaves the job alone, and an abort rejects with its reason", async () => {
  const jobs = await Promise.all(Array.from({ length: 6 }, () => client.jobs.create(work())));
  const { name } = jobs.at(-1)!;
  for await (const { state } of client.jobs.watch(name, { timeoutMs: 60_000 })) {
    assert.notEqual(state, "unknown");
    break;
  }
  const reason = new Error("changed my mind");

  await assert.rejects(client.jobs.result(name, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
  assert.equal(await isProof((await client.jobs.result(name)) as ProofResult), true);
});

test("another process tells where a job is: Node asks there, a browser cannot", async () => {
  const { name } = await other.jobs.create(work());
  const result = (await client.jobs.result(name)) as ProofResult;

  assert.equal(await isProof(result), true);
  assert.equal((await client.jobs.get(name)).state, "succeeded");
  await client.jobs.delete(name);
  await assert.rejects(other.jobs.get(name), { reason: "JOB_UNKNOWN" });
  const { name: next } = await other.jobs.create(work());
  const once = connectWeb({ target: gateway.url, retry: { attemptsMax: 1 } });
  await assert.rejects(once.jobs.get(next), (error) => error instanceof UnavailableError && error.address === second.target);
});
