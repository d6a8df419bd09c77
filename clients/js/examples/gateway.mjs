// A small gateway for development and tests: translates gRPC-Web and Connect, which browsers speak, to gRPC, and serves the files
// of a page from the same origin. In production Envoy does this; see README.md.
//
//   node examples/gateway.mjs [TARGET [PORT [FOLDER]]]

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { connectNodeAdapter, createGrpcTransport } from "@connectrpc/connect-node";
import { CircuitService, JobService, ProverService, UploadService } from "@proofmill/client/v1";

const MESSAGE_BYTES_MAX = 16 << 20;
const PASSED_HEADERS = ["authorization", "traceparent"];
const CONTENT_TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

// The deadline, the cancellation and some headers of the call that came in, for the one that goes out.
function passOn(context) {
  const headers = PASSED_HEADERS.flatMap((name) =>
    context.requestHeader.has(name) ? [[name, context.requestHeader.get(name)]] : [],
  );
  return { signal: context.signal, timeoutMs: context.timeoutMs(), headers };
}

// The error with its details, without the headers that it came with: those belong to another protocol. Where nothing listens at
// `target`, in words for who started the one and not yet the other.
function passBack(reason, target) {
  const error = ConnectError.from(reason);
  if (error.cause?.code === "ECONNREFUSED") {
    const advice = "start one (proofmill serve), or start the gateway with the address of one";
    return new ConnectError(`no service answers at ${target}: ${advice}`, Code.Unavailable);
  }
  const out = new ConnectError(error.rawMessage, error.code);
  out.details = error.details;
  return out;
}

const forwardUnary = (method, target) => (request, context) =>
  method(request, passOn(context)).catch((reason) => {
    throw passBack(reason, target);
  });

const forwardStream = (method, target) =>
  async function* (request, context) {
    try {
      yield* method(request, passOn(context));
    } catch (reason) {
      throw passBack(reason, target);
    }
  };

function routes(target) {
  const transport = createGrpcTransport({ baseUrl: target });
  return (router) => {
    for (const service of [ProverService, UploadService, JobService, CircuitService]) {
      const client = createClient(service, transport);
      const methods = {};
      for (const { localName, methodKind } of service.methods) {
        if (methodKind === "unary") methods[localName] = forwardUnary(client[localName], target);
        if (methodKind === "server_streaming") methods[localName] = forwardStream(client[localName], target);
      }
      router.service(service, methods);
    }
  };
}

// The file that a request asks for, or undefined: no path leads out of the folder.
function fileOf(folder, request) {
  try {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    return path.includes("\0") ? undefined : join(folder, path.endsWith("/") ? `${path}index.html` : path);
  } catch {
    return undefined;
  }
}

function serveFiles(folder) {
  return async (request, response) => {
    const file = request.method === "GET" ? fileOf(folder, request) : undefined;
    const isFile =
      file !== undefined &&
      (await stat(file).then(
        (found) => found.isFile(),
        () => false,
      ));
    response.writeHead(isFile ? 200 : 404, { "content-type": CONTENT_TYPES[extname(file ?? "")] ?? "application/octet-stream" });
    if (isFile)
      createReadStream(file)
        .on("error", () => response.destroy())
        .pipe(response);
    else response.end();
  };
}

/** Starts a gateway to the service at `target` on loopback; port 0 takes a free one. Resolves to its URL and how to close it. */
export async function startGateway({ target, port = 0, folder }) {
  const fallback = serveFiles(folder);
  const server = createServer(connectNodeAdapter({ routes: routes(target), readMaxBytes: MESSAGE_BYTES_MAX, fallback }));
  await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [target = "http://127.0.0.1:50051", port = "8080", folder = fileURLToPath(new URL("../build/page", import.meta.url))] =
    process.argv.slice(2);
  const { url } = await startGateway({ target, port: Number(port), folder });
  console.log(`${url}/ -> ${target}`);
}
