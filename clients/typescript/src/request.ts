// One call of an operation: its address, body and headers, repeated where that is safe.

import { makeConnectionError, readError, type CredendaError } from "./errors.ts";
import { ROUTES, type Operations } from "./generated.ts";

export type OperationName = keyof Operations;

/** How a client reaches a server. */
export interface ClientOptions {
  /** Address of the server. Default: http://127.0.0.1:8765 */
  url?: string;
  /** Access token, or a function that returns one for each request. */
  token?: string | (() => string | Promise<string>);
  /** How often a request is repeated that failed for a reason that may pass. Default: 3 */
  retries?: number;
  /** Milliseconds that one request may take, without its repetitions; 0 for no bound. Default: 30,000 */
  timeoutMs?: number;
  /** Replaces the global fetch. */
  fetch?: typeof globalThis.fetch;
  /** Headers of each request. */
  headers?: Readonly<Record<string, string>>;
}

/** How one call is made. */
export interface CallOptions {
  signal?: AbortSignal;
  /** A repeated call with this key is answered as the first one was. Default: a new key for each call that changes something */
  idempotencyKey?: string;
  /** The `etag` of an earlier answer: nothing is changed if the row has changed since. */
  ifMatch?: string;
  /** Answer with a job at once, where the operation can. */
  respondAsync?: boolean;
  /** The id of the last event, to go on with a stream. */
  lastEventId?: string;
  retries?: number;
  timeoutMs?: number;
}

/** An answer with its headers. */
export interface Answer<T> {
  data: T;
  status: number;
  /** The version of the row, for `ifMatch`. */
  etag: string | undefined;
  /** The path of the job of a call that runs in the background. */
  location: string | undefined;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;

export class Connection {
  readonly url: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.url = (options.url ?? "http://127.0.0.1:8765").replace(/\/+$/, "");
    this.#options = options;
  }

  /** Call an operation; throws a `CredendaError`, or the reason of an aborted signal. */
  async call<N extends OperationName>(
    name: N,
    input: Operations[N]["input"],
    options: CallOptions = {},
  ): Promise<Answer<Operations[N]["output"]>> {
    const route = ROUTES[name];
    const headers = new Headers(this.#options.headers);
    const [path, body] = placeInputs(name, input as Record<string, unknown>, headers);
    headers.set("accept", route.answer === "json" ? "application/json" : "*/*");
    if (route.keyed) headers.set("idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
    else if (options.idempotencyKey !== undefined) headers.set("idempotency-key", options.idempotencyKey);
    if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
    if (options.respondAsync) headers.set("prefer", "respond-async");
    if (options.lastEventId !== undefined) headers.set("last-event-id", options.lastEventId);
    const safe = route.method === "GET" || route.method === "DELETE" || headers.has("idempotency-key") || options.ifMatch !== undefined;
    const response = await this.#repeat(path, { method: route.method, headers, ...body }, options, safe);
    return {
      data: (await readBody(response, route.answer)) as Operations[N]["output"],
      status: response.status,
      etag: response.headers.get("etag") ?? undefined,
      location: response.headers.get("location") ?? undefined,
    };
  }

  async #repeat(path: string, request: RequestInit, options: CallOptions, safe: boolean): Promise<Response> {
    const most = options.retries ?? this.#options.retries ?? 3;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#send(path, request, options);
      if (answer instanceof Response) return answer;
      // The server refuses before it begins with 429 and 503, so that repeating them does nothing twice.
      const refused = answer.status === 429 || answer.status === 503;
      if (attempt >= most || !answer.retryable || !(safe || refused)) throw answer;
      const pause = answer.retryAfter === undefined ? FIRST_PAUSE_MS * 2 ** attempt : answer.retryAfter * 1000;
      await wait(Math.min(pause, LONGEST_PAUSE_MS) * (1 + Math.random() / 10), options.signal);
    }
  }

  async #send(path: string, request: RequestInit, options: CallOptions): Promise<Response | CredendaError> {
    options.signal?.throwIfAborted();
    const limit = options.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const timer = new AbortController();
    const alarm = limit > 0 ? setTimeout(() => timer.abort(new Error(`no answer within ${limit} ms`)), limit) : undefined;
    const signal = options.signal ? AbortSignal.any([options.signal, timer.signal]) : timer.signal;
    try {
      const headers = new Headers(request.headers);
      const token = this.#options.token;
      const secret = typeof token === "function" ? await token() : token;
      if (secret) headers.set("authorization", `Bearer ${secret}`);
      const send = this.#options.fetch ?? globalThis.fetch;
      const response = await send(this.url + path, { ...request, headers, signal, redirect: "error" });
      return response.ok ? response : await readError(response);
    } catch (error) {
      options.signal?.throwIfAborted();
      return makeConnectionError(this.url, timer.signal.aborted ? timer.signal.reason : error);
    } finally {
      clearTimeout(alarm);
    }
  }
}

/** Put each input where the route has it: in the path, the query, or the body. */
function placeInputs(name: OperationName, input: Record<string, unknown>, headers: Headers): [string, RequestInit] {
  const route = ROUTES[name];
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = route.path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = left.get(key);
    left.delete(key);
    if (typeof value !== "string" || value === "" || value === "." || value === "..") {
      throw new TypeError(`${name} needs ${key}, a text that is not empty`);
    }
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const key of route.query as readonly string[]) {
    const value = left.get(key);
    left.delete(key);
    for (const one of Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]) {
      query.append(key, typeof one === "object" ? JSON.stringify(one) : String(one));
    }
  }
  const address = query.size > 0 ? `${path}?${query.toString()}` : path;
  if (route.body === "none") {
    const [extra] = left.keys();
    if (extra !== undefined) throw new TypeError(`${name} takes no ${extra}`);
    return [address, {}];
  }
  if (route.body === "json") {
    headers.set("content-type", "application/json");
    return [address, { body: JSON.stringify(Object.fromEntries(left)) }];
  }
  const form = new FormData();
  for (const [key, value] of left) {
    if (value instanceof Blob) form.append(key, value, value instanceof File ? value.name : "file");
    else if (value !== null) form.append(key, String(value));
  }
  return [address, { body: form }];
}

async function readBody(response: Response, answer: "json" | "stream"): Promise<unknown> {
  if (response.status === 204) return null;
  if (answer === "stream") return response.body;
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
