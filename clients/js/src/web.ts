// The client for browsers: gRPC-Web or Connect to a gateway in front of the service.

import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { addHeaders, Client, type CommonOptions } from "./client.js";
import { DefaultClient } from "./default_client.js";

export * from "./common.js";

export interface ClientOptions extends CommonOptions {
  /** The URL of the gateway. Default: where the page came from. */
  target?: string;
  /** What the gateway speaks. Default: "grpc-web", as Envoy does. */
  protocol?: "grpc-web" | "connect";
  /** Sent as `authorization: Bearer KEY`, only over https or to a loopback address. Whoever has the page has the key. */
  apiKey?: string;
  /** How requests are made, for instance with credentials. Default: fetch. */
  fetch?: typeof globalThis.fetch;
}

async function download(url: string, signal?: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (!response.ok) throw new Error(`${url}: expected a file, got HTTP status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Makes a client; it connects when it is used. Throws a TypeError for options that cannot be used. */
export function connect(options: ClientOptions = {}): Client {
  const baseUrl = new URL(options.target ?? "/", globalThis.location?.href).href.replace(/\/$/, "");
  const make = options.protocol === "connect" ? createConnectTransport : createGrpcWebTransport;
  const transport = make({
    baseUrl,
    useBinaryFormat: true,
    interceptors: [addHeaders(baseUrl, options.headers, options.apiKey)],
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  return new Client({ transport, streamsUp: false, readFile: download, close: () => {} }, options);
}

const standard = new DefaultClient<ClientOptions>(connect, {});

/** Says where the functions of `groth16` go. Without, they go where the page came from. */
export function configure(options: ClientOptions): void {
  standard.configure(options);
}

export const groth16 = standard.groth16;
export const whir = standard.whir;
