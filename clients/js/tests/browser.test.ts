// The example page in headless Chromium, through the gateway, against the real service. Screenshots: build/page-*.png.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, beforeEach, afterEach, describe, test } from "node:test";
import { connect } from "@proofmill/client";
import { chromium, type Browser, type Page } from "playwright-core";
import * as snarkjs from "snarkjs";
import { startGateway } from "../examples/gateway.mjs";
import { startService, type Case, type Service } from "./service_process.js";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
// Chromium looks for nothing outside; --no-sandbox lets root run it.
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const built = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const JOBS_AHEAD = 8;
// Nobody listens there.
const NOWHERE = "http://127.0.0.1:1";

function withBrokenCircuit(folder: string): string[] {
  mkdirSync(join(folder, "circuits/broken"));
  writeFileSync(join(folder, "circuits/broken/circuit.zkey"), "no key");
  return [];
}

let service: Service;
let gateway: { url: string; close(): Promise<void> };
let browser: Browser;
let page: Page;
let faults: string[];
before(async () => {
  service = await startService(withBrokenCircuit);
  gateway = await startGateway({ target: `http://${service.target}`, folder: built("page") });
  browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
});
after(async () => {
  await browser?.close();
  await gateway?.close();
  await service?.stop();
  await (await snarkjs.curves.getCurveFromName("bn128")).terminate();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 900, height: 1000 } });
  faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(gateway.url);
  await page.locator("#circuit option").first().waitFor({ state: "attached" });
});
afterEach(async () => {
  await page.close();
  assert.deepEqual(faults, []);
});

async function chooseWitness(circuit: string, witness: string): Promise<void> {
  await page.selectOption("#circuit", circuit);
  await page.setInputFiles("#witness", witness);
}

// Puts jobs ahead of the page's next one, so that it has not ended before the page watches it.
async function keepDeviceBusy({ circuit, witness }: Case): Promise<void> {
  const client = connect({ target: service.target });
  await page.route("**/proofmill.v1.JobService/CreateJob", async (route) => {
    await Promise.all(Array.from({ length: JOBS_AHEAD }, () => client.jobs.create({ circuit, wtns: witness })));
    client.close();
    await route.continue();
  });
}

async function proveAndJudge(known: Case): Promise<{ steps: string[]; publicSignals: string[] }> {
  await page.click("#prove");
  await page.locator("#result, #error:not(:empty)").filter({ visible: true }).first().waitFor();
  assert.equal(await page.textContent("#error"), "");
  assert.equal(await page.textContent("#verdict"), "The proof holds: checked in this page.");
  const { proof, publicSignals } = JSON.parse((await page.textContent("#result"))!);
  assert.equal(await snarkjs.groth16.verify(await snarkjs.zKey.exportVerificationKey(known.key), publicSignals, proof), true);
  return { steps: await page.locator("#steps li").allTextContents(), publicSignals };
}

test("the gateway serves the page's files, and nothing else", async () => {
  const paths = ["/page.js", "/no-such-file", "/..%2f..%2fpackage.json", "/%E0%A4%A", "/%00", "/"];
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(gateway.url + path)).status));

  assert.deepEqual(statuses, [200, 404, 404, 404, 404, 200]);
});

describe("in Chromium", () => {
  test("the page proves a witness, shows each step, and snarkjs accepts the proof", async () => {
    const known = service.semaphore ?? service.bundled;
    await chooseWitness(known.circuit, known.witness);
    await keepDeviceBusy(known);
    const { steps } = await proveAndJudge(known);

    const size = readFileSync(known.witness).length;
    assert(steps.includes(`Sending the witness: ${size} of ${size} bytes`), steps.join("; "));
    assert(
      steps.some((step) => step.startsWith("Proving")),
      steps.join("; "),
    );
    assert.equal(await page.locator("#bar").evaluate((bar) => (bar as HTMLProgressElement).value), 1);
    await page.screenshot({ path: built("page-proved.png"), fullPage: true });
    console.log(`${known.circuit} in Chromium: snarkjs says OK; steps: ${steps.join("; ")}`);
  });

  test("the page computes a witness from inputs", async () => {
    await page.selectOption("#circuit", "product");
    await page.setInputFiles("#wasm", service.product.wasm!);
    await page.fill("#input", JSON.stringify(service.product.input));
    const { steps, publicSignals } = await proveAndJudge(service.product);

    assert.equal(steps[0], "Computing the witness");
    assert.deepEqual(publicSignals, ["30000000210"]);
  });

  test("a proof that is given up is given up at the service too", async () => {
    await page.route("**/proofmill.v1.JobService/WatchJob", () => {}); // never answered
    await chooseWitness("epoch-key-lite", service.bundled.witness);
    const watching = page.waitForRequest("**/proofmill.v1.JobService/WatchJob");
    await page.click("#prove");
    await watching;
    await page.screenshot({ path: built("page-proving.png"), fullPage: true });
    const cancelling = page.waitForResponse("**/proofmill.v1.JobService/CancelJob");
    await page.click("#cancel");

    assert.equal((await cancelling).status(), 200);
    await page.locator("#error:not(:empty)").waitFor();
    assert.equal(await page.textContent("#phase"), "Not proved.");
  });

  test("a network that fails is tried again", async () => {
    let failures = 2;
    await page.route("**/proofmill.v1.JobService/CreateJob", (route) =>
      failures-- > 0 ? route.abort("connectionfailed") : route.continue(),
    );
    await chooseWitness("epoch-key-lite", service.bundled.witness);
    const { steps } = await proveAndJudge(service.bundled);

    assert.equal(steps.filter((step) => step.startsWith("Waiting to try again")).length, 2, steps.join("; "));
  });

  test("circuits that cannot be chosen are shown with the reason", async () => {
    const disabled = await page.locator("#circuit option:disabled").allTextContents();
    const reasons = await page.locator("#unusable li").allTextContents();

    assert.deepEqual(disabled, ["broken", "poly"]);
    assert.equal(reasons.length, 2);
    assert.match(reasons[0]!, /^broken: failed: .+/);
    assert.match(reasons[1]!, /^poly: .*whir/);
    assert.equal(await page.textContent("#phase"), "Ready.");
    assert.notEqual(await page.locator("#circuit").inputValue(), "broken");
    await page.screenshot({ path: built("page-circuits.png"), fullPage: true });
  });

  test("a service that is not there is told, with its address", async () => {
    const alone = await startGateway({ target: NOWHERE, folder: built("page") });
    await page.goto(alone.url);
    await page.locator("#error:not(:empty)").waitFor();

    assert.match((await page.textContent("#error"))!, /^UnavailableError: no service answers at http:\/\/127\.0\.0\.1:1: /);
    assert.equal(await page.locator("#prove").isDisabled(), true);
    await page.screenshot({ path: built("page-alone.png"), fullPage: true });
    await alone.close();
  });

  test("a refusal is shown with its reason", async () => {
    await chooseWitness("product", service.bundled.witness);
    await page.click("#prove");
    await page.locator("#error:not(:empty)").waitFor();

    assert.match((await page.textContent("#error"))!, /^WitnessError WITNESS_LENGTH: /);
  });
});
