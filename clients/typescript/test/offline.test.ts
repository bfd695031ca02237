// What the client does without a server: repetitions, errors of proxies, streams that are cut, cancellation.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Conflict, Credenda, CredendaError, Forbidden, Invalid, Unavailable, readEvents, readingTools, tools } from "../src/index.ts";
import { readRetryAfter } from "../src/errors.ts";

type Sent = { url: string; init: RequestInit & { headers: Headers } };

/** A client whose server gives these answers, one a request, and what was sent to it. */
function scripted(...answers: (Response | Error)[]): { memory: Credenda; sent: Sent[] } {
  const sent: Sent[] = [];
  const answer = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(url), init: { ...init, headers: new Headers(init.headers) } });
    const next = answers.shift();
    if (next === undefined) throw new Error("the script is at its end");
    if (next instanceof Error) throw next;
    return next;
  };
  return { memory: new Credenda({ url: "http://host/", token: "t", fetch: answer }), sent };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
const problem = (status: number, code: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  json({ title: "no", status, code, retryable: status === 503, ...more }, status, headers);
const receipt = { job_id: null, event_ids: ["e1"], queued: true, cached: false, refused: [], unread: [], claims: [] };

function stream(...parts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
}

test("a request that may pass is repeated with the same key, after the time that the server asks for", async () => {
  const { memory, sent } = scripted(problem(503, "unavailable", {}, { "retry-after": "0" }), new TypeError("reset"), json(receipt, 202));
  assert.deepEqual((await memory.remember("I live in Linz.", { topic: "home" })).event_ids, ["e1"]);
  const keys = sent.map((one) => one.init.headers.get("idempotency-key"));
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(JSON.parse(String(sent[0]?.init.body)), { content: "I live in Linz.", topic: "home" });
  assert.equal(sent[0]?.init.headers.get("authorization"), "Bearer t");
});

test("a call that is not safe to repeat is not repeated when the connection breaks", async () => {
  const { memory, sent } = scripted(new TypeError("reset"), json({}));
  await assert.rejects(memory.call("consolidate", {}), Unavailable);
  assert.equal(sent.length, 1);
  const again = scripted(problem(503, "unavailable", {}, { "retry-after": "0" }), json({ ran: false }));
  await again.memory.call("consolidate", {});
  assert.equal(again.sent.length, 2);
});

test("repetitions end at their bound, and with none there is one request", async () => {
  const answers = () => Array.from({ length: 9 }, () => problem(503, "unavailable", {}, { "retry-after": "0" }));
  const three = scripted(...answers());
  await assert.rejects(three.memory.stats(), Unavailable);
  assert.equal(three.sent.length, 4);
  const none = scripted(...answers());
  await assert.rejects(none.memory.stats({ retries: 0 }), Unavailable);
  assert.equal(none.sent.length, 1);
});

test("errors are classes with the parts of the problem", async () => {
  const { memory } = scripted(problem(412, "conflict", { detail: "it changed", fix: "read it again", ids: { version: "2" } }));
  const error = await memory.correct("m1", { value: "x" }, { ifMatch: '"1"' }).catch((found: unknown) => found);
  assert.ok(error instanceof Conflict);
  assert.deepEqual([error.status, error.code, error.why, error.fix, error.ids.version], [412, "conflict", "it changed", "read it again", "2"]);
  assert.equal(error.message, "no; it changed; read it again");
  assert.equal(error.name, "Conflict");
});

test("an error of a proxy has a class too, whatever its body", async () => {
  for (const [status, kind] of [[403, Forbidden], [422, Invalid], [502, Unavailable], [418, CredendaError]] as const) {
    const { memory } = scripted(new Response("<html>no</html>", { status }));
    await assert.rejects(memory.stats({ retries: 0 }), (error) => error instanceof kind && error.status === status);
  }
});

test("Retry-After is a number or a date", () => {
  const now = Date.parse("2026-03-01T00:00:00Z");
  assert.equal(readRetryAfter("7"), 7);
  assert.equal(readRetryAfter("Sun, 01 Mar 2026 00:00:09 GMT", now), 9);
  assert.equal(readRetryAfter("Sun, 01 Mar 2020 00:00:00 GMT", now), 0);
  assert.equal(readRetryAfter("soon"), undefined);
  assert.equal(readRetryAfter(null), undefined);
});

test("an aborted call ends with the reason of its signal, also while it waits", async () => {
  const aborted = AbortSignal.abort(new Error("enough"));
  await assert.rejects(scripted(json({})).memory.stats({ signal: aborted }), /enough/);
  const controller = new AbortController();
  const { memory, sent } = scripted(problem(503, "unavailable", {}, { "retry-after": "25" }), json({}));
  const waiting = memory.stats({ signal: controller.signal });
  setImmediate(() => controller.abort(new Error("no longer")));
  await assert.rejects(waiting, /no longer/);
  assert.equal(sent.length, 1);
});

test("a request that takes too long is unavailable", async () => {
  const never: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const memory = new Credenda({ fetch: never, timeoutMs: 5, retries: 0 });
  await assert.rejects(memory.stats(), (error) => error instanceof Unavailable && /cannot be reached/.test(error.message));
});

test("inputs go to path, query and body, and a foreign one is refused", async () => {
  const { memory, sent } = scripted(json({}), json({ items: [], next_cursor: null }));
  await memory.get("m1/../x");
  await memory.call("list", { limit: 5, topic: "a&b" });
  assert.deepEqual(sent.map((one) => one.url), ["http://host/v1/memories/m1%2F..%2Fx", "http://host/v1/memories?topic=a%26b&limit=5"]);
  await assert.rejects(memory.get(""), TypeError);
  await assert.rejects(memory.get(".."), TypeError);
  await assert.rejects(memory.call("stats", { nonsense: 1 } as never), TypeError);
});

test("pages follow one another to the last", async () => {
  const { memory, sent } = scripted(json({ items: [{ id: "m2" }], next_cursor: "c/1" }), json({ items: [{ id: "m1" }], next_cursor: null }));
  const ids: string[] = [];
  for await (const one of memory.memories({ topic: "home" })) ids.push(one.id);
  assert.deepEqual(ids, ["m2", "m1"]);
  assert.match(sent[1]?.url ?? "", /topic=home&.*cursor=c%2F1/);
});

test("events are read across cuts, comments and line ends", async () => {
  const found = [];
  for await (const one of readEvents(stream(": hi\n\nid: 1\r\nev", "ent: a\r\ndata: x\r", "\ndata: y\n\ndata: {\"z\":1}\n\n", "data: cut"))) found.push(one);
  assert.deepEqual(found, [
    { id: "1", event: "a", data: "x\ny" },
    { id: "1", event: "message", data: '{"z":1}' },
  ]);
});

test("a job is followed over broken connections until it has ended", async () => {
  const event = (id: string, state: string) => `id: ${id}\nevent: ${state}\ndata: ${JSON.stringify({ id: "j1", state })}\n\n`;
  const events = (...parts: string[]) => new Response(stream(...parts), { headers: { "content-type": "text/event-stream" } });
  const { memory, sent } = scripted(events(event("a", "queued")), events(event("b", "processing"), event("c", "complete")));
  const states = [];
  for await (const job of memory.follow("j1")) states.push(job.state);
  assert.deepEqual(states, ["queued", "processing", "complete"]);
  assert.deepEqual(sent.map((one) => one.init.headers.get("last-event-id")), [null, "a"]);
});

test("tools return errors of the server as data, and have the schema that the AI SDK looks for", async () => {
  const { memory } = scripted(problem(422, "invalid", { fix: "ask with words" }));
  const made = tools(memory);
  assert.deepEqual(Object.keys(made), ["search_memories", "get_context", "store_memory", "correct_memory"]);
  assert.deepEqual(Object.keys(readingTools(memory)), ["search_memories", "get_context"]);
  assert.deepEqual(await made.search_memories.execute({ query: " " }), { error: "no; ask with words" });
  const schema = made.search_memories.inputSchema as unknown as Record<symbol, unknown>;
  assert.equal(schema[Symbol.for("vercel.ai.schema")], true);
  assert.equal(made.search_memories.inputSchema.validate({}).success, false);
  assert.equal(made.search_memories.inputSchema.validate({ query: "x" }).success, true);
});
