// The client against a real server with tokens: CREDENDA_URL, and CREDENDA_TOKEN_ANA, _BEN and _READER.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { Conflict, Credenda, Forbidden, Invalid, NotFound, Unauthenticated, tools } from "../src/index.ts";

const url = process.env["CREDENDA_URL"] ?? assert.fail("CREDENDA_URL is missing");
const client = (name: string, token = process.env[`CREDENDA_TOKEN_${name}`] ?? "") => new Credenda({ url, token });
const ana = client("ANA");

before(async () => {
  const told = await ana.remember("I live in Linz.", { topic: "home", session: "s1" });
  assert.ok(told.job_id);
  assert.equal((await ana.finish(told.job_id)).state, "complete");
});

test("what was remembered is found, explained and listed", async () => {
  const found = await ana.search("Where do I live?");
  const hit = found.hits[0] ?? assert.fail("nothing was found");
  assert.match(hit.text, /^user: residence: Linz, told/);
  const memory = await ana.get(hit.id);
  assert.deepEqual([memory.entity, memory.attribute, memory.value, memory.topic], ["user", "residence", "Linz", "home"]);
  assert.equal((await ana.why(hit.id)).evidence[0]?.event.text, "I live in Linz.");
  assert.match((await ana.context("Where do I live?")).text, /residence: Linz/);
  const listed = [];
  for await (const one of ana.memories({ topic: "home", limit: 1 })) listed.push(one.id);
  assert.deepEqual(listed, [hit.id]);
});

test("a changed fact has a history, and a version guards an edit", async () => {
  const told = await ana.remember("My favourite colour is blue.");
  await ana.finish(told.job_id ?? assert.fail());
  const [first] = (await ana.call("list", { attribute: "favourite_colour" })).items.length
    ? (await ana.call("list", { attribute: "favourite_colour" })).items
    : (await ana.search("What is my favourite colour?")).hits.map((hit) => ({ id: hit.id }));
  assert.ok(first);
  const seen = await ana.answer("get", { id: first.id });
  assert.ok(seen.etag);
  const corrected = await ana.correct(first.id, { text: "My favourite colour is green." }, { ifMatch: seen.etag });
  assert.equal(corrected.text, "My favourite colour is green.");
  await assert.rejects(ana.correct(first.id, { text: "It is red." }, { ifMatch: seen.etag }), Conflict);
  assert.ok((await ana.history(corrected.id)).length >= 1);
});

test("the same key stores once, and other words under it are refused", async () => {
  const options = { idempotencyKey: "once" };
  const first = await ana.remember("I play chess.", {}, options);
  const second = await ana.remember("I play chess.", {}, options);
  assert.deepEqual(second.event_ids, first.event_ids);
  await assert.rejects(ana.remember("I play go.", {}, options), Invalid);
});

test("a token reaches its own memory only, within its scopes", async () => {
  assert.deepEqual((await client("BEN").search("Where do I live?")).hits, []);
  const hit = (await ana.search("Where do I live?")).hits[0] ?? assert.fail();
  await assert.rejects(client("BEN").get(hit.id), NotFound);
  assert.equal((await client("READER").get(hit.id)).id, hit.id);
  await assert.rejects(client("READER").remember("I live in Rome."), Forbidden);
  await assert.rejects(client("ANA", "wrong").stats(), Unauthenticated);
  await assert.rejects(client("ANA", "").stats(), Unauthenticated);
  let asked = 0;
  const lazy = new Credenda({ url, token: async () => ((asked += 1), process.env["CREDENDA_TOKEN_ANA"] ?? "") });
  assert.ok((await lazy.stats()) && asked === 1);
});

test("errors say what, why and what to do", async () => {
  const error = await ana.search("  ").catch((found: unknown) => found);
  assert.ok(error instanceof Invalid);
  assert.equal(error.status, 422);
  assert.ok(error.fix);
  await assert.rejects(ana.get("m99-000000"), NotFound);
});

test("a long call is a job whose events are followed", async () => {
  const job = await ana.start("consolidate", { dry_run: true, force: true });
  const states = [];
  for await (const one of ana.follow(job.id)) states.push(one.state);
  assert.equal(states.at(-1), "complete");
  const ended = await ana.finish(job.id);
  assert.equal(typeof ended.result?.["ran"], "boolean");
});

test("an export is a stream, and an import takes it in", async () => {
  const stream = await ana.export({ format: "mcp-memory" });
  const text = await new Response(stream).text();
  assert.match(text, /Linz/);
  const ben = client("BEN");
  const report = await ben.import(new File([text], "memory.jsonl"));
  assert.equal(report.format, "mcp-memory");
  assert.ok(report.turns > 0);
  assert.equal((await ben.import(new File([text], "memory.jsonl"))).turns, 0);
});

test("a model uses the tools", async () => {
  const made = tools(ana, { session: "s2", agent: "assistant" });
  const stored = await made.store_memory.execute({ text: "I am allergic to nuts.", topic: "health" });
  assert.deepEqual(stored, { stored: 1, cached: false, refused: [] });
  const found = await made.search_memories.execute({ query: "What am I allergic to?" });
  assert.ok("results" in found && found.results.some((one) => one.text.includes("nuts")));
  assert.ok("text" in (await made.get_context.execute({ query: "nuts" })));
});

test("what is deleted is gone", async () => {
  const told = await ana.remember("My cat is called Miso.");
  await ana.finish(told.job_id ?? assert.fail());
  const hit = (await ana.search("What is my cat called?")).hits[0] ?? assert.fail();
  await ana.delete(hit.id);
  assert.ok(!(await ana.search("Miso")).hits.some((one) => one.text.includes("Miso")));
  await ana.delete(hit.id);
});
