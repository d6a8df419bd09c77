// The client for Node: gRPC over HTTP/2, with TLS and client certificates.

import { readFile } from "node:fs/promises";
import type { SecureClientSessionOptions } from "node:http2";
import { isIP } from "node:net";
import type { Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { addHeaders, Client, type CommonOptions } from "./client.js";
import { DefaultClient } from "./default_client.js";

export * from "./common.js";

const DEFAULT_TARGET = "127.0.0.1:50051"; // of `proofmill serve`
const RECEIVE_BYTES_MAX = 64 << 20; // a page of verification keys; witnesses only go out
const KEEPALIVE_MS = 30_000; // the service refuses clients that ping more often than every 10 s
const KEEPALIVE_TIMEOUT_MS = 20_000;

/** TLS is on if any of these is given, or the target is an https URL. All contents are PEM. */
export interface TlsOptions {
  /** Roots that the server's certificate must lead to. Default: those of Node. */
  ca?: string | Buffer;
  /** This client's certificate and its key, for mutual TLS: both or neither. */
  cert?: string | Buffer;
  key?: string | Buffer;
  /** The name that the server's certificate must carry, if it is not the host of the target. */
  serverName?: string;
}

export interface ClientOptions extends CommonOptions {
  /** "host:port", or a URL of http or https. Default: the environment's PROOFMILL_TARGET, else 127.0.0.1:50051. */
  target?: string;
  tls?: TlsOptions;
  /** Sent as `authorization: Bearer KEY`, only over TLS or to a loopback address. Default: PROOFMILL_API_KEY, if set. */
  apiKey?: string;
}

function toBaseUrl(target: string, tls: TlsOptions | undefined): string {
  const text = /^https?:\/\//.test(target) ? target : `${tls === undefined ? "http" : "https"}://${target}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new TypeError(`target: expected an address such as 127.0.0.1:50051, got ${target}`, { cause });
  }
  if (tls !== undefined && url.protocol !== "https:") {
    throw new TypeError(`target: expected https, since TLS options are given, got ${target}`);
  }
  return url.origin;
}

function toSessionOptions(tls: TlsOptions): SecureClientSessionOptions {
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw new TypeError("tls: expected a client certificate and its key, got only one of them");
  }
  const { ca, cert, key, serverName } = tls;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}

// A connection to `baseUrl`, made when it is used.
function open(baseUrl: string, options: ClientOptions, tls: TlsOptions): { transport: Transport; session: Http2SessionManager } {
  const apiKey = options.apiKey ?? process.env["PROOFMILL_API_KEY"];
  const interceptors = [addHeaders(baseUrl, options.headers, apiKey)];
  const keepalive = { pingIntervalMs: KEEPALIVE_MS, pingTimeoutMs: KEEPALIVE_TIMEOUT_MS };
  const session = new Http2SessionManager(baseUrl, keepalive, toSessionOptions(tls));
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: session,
    interceptors,
    acceptCompression: [],
    readMaxBytes: RECEIVE_BYTES_MAX,
  });
  return { transport, session };
}

/** Makes a client; it connects when it is used. Throws a TypeError for options that cannot be used. */
export function connect(options: ClientOptions = {}): Client {
  const baseUrl = toBaseUrl(options.target ?? process.env["PROOFMILL_TARGET"] ?? DEFAULT_TARGET, options.tls);
  const { protocol, hostname } = new URL(baseUrl);
  const { transport, session } = open(baseUrl, options, options.tls ?? {});
  const sessions = [session];
  // It must show a certificate for the same name, so that whoever could make up an address gains nothing by it.
  const reach = (address: string): Transport => {
    const tls = isIP(hostname) === 0 ? { serverName: hostname, ...options.tls } : (options.tls ?? {});
    const replica = open(toBaseUrl(`${protocol}//${address}`, options.tls), options, tls);
    sessions.push(replica.session);
    return replica.transport;
  };
  return new Client(
    {
      transport,
      streamsUp: true,
      readFile: (name, signal) => readFile(name, signal === undefined ? {} : { signal }),
      reach,
      close: () => sessions.forEach((each) => each.abort()),
    },
    options,
  );
}

const standard = new DefaultClient<ClientOptions>(connect, {});

/** Says where the functions of `groth16` go. Without, the environment says it: PROOFMILL_TARGET and PROOFMILL_API_KEY. */
export function configure(options: ClientOptions): void {
  standard.configure(options);
}

export const groth16 = standard.groth16;
export const whir = standard.whir;
