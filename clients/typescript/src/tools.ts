// Tools for models, in the shape of the AI SDK, which Mastra takes too.

import type { Credenda } from "./client.ts";
import { CredendaError } from "./errors.ts";
import type { Hit } from "./generated.ts";

/**
 * A JSON Schema with the marks by which the AI SDK and Mastra recognise their own. The marks are symbols that only their
 * packages can name in a type, so this one is open.
 */
export type ToolSchema = any;

type Checked = { success: true; value: unknown } | { success: false; error: Error };

/** A tool of the AI SDK. */
export interface Tool<I, O> {
  readonly description: string;
  readonly inputSchema: ToolSchema;
  readonly execute: (input: I, options?: { abortSignal?: AbortSignal }) => Promise<O>;
}

/** What `tools` may be told. */
export interface ToolsOptions {
  /** The conversation to which stored messages belong. */
  session?: string;
  /** The agent that stores them. */
  agent?: string;
  /** Maximum number of hits of a search. Default: 10 */
  limit?: number;
}

const SCHEMA = Symbol.for("vercel.ai.schema");
const VALIDATOR = Symbol.for("vercel.ai.validator");

type Field = { type: "string"; description: string };

function makeSchema(fields: Record<string, Field>, required: string[]): ToolSchema {
  const validate = (value: unknown): Checked => {
    const found = value as Record<string, unknown> | null;
    const wrong = required.find((name) => typeof found?.[name] !== "string" || found[name] === "");
    return wrong === undefined
      ? { success: true, value }
      : { success: false, error: new TypeError(`${wrong} must be a text that is not empty`) };
  };
  const jsonSchema = { type: "object", properties: fields, required, additionalProperties: false };
  return Object.assign({ jsonSchema, validate }, { [SCHEMA]: true, [VALIDATOR]: true, _type: undefined });
}

const text = (description: string): Field => ({ type: "string", description });

/** One line of a search for a model: the words, and since when they hold. */
export interface Recalled {
  id: string;
  text: string;
  since: string | null;
  flags: string[];
}

/** What a tool returns when the memory refuses or cannot be reached: the model reads it as data. */
export interface ToolProblem {
  error: string;
}

/** Make the tools that change nothing: `search_memories` and `get_context`. */
export function readingTools(memory: Credenda, options: ToolsOptions = {}) {
  const { limit = 10 } = options;
  return {
    search_memories: {
      description: "Search what is remembered about the user and their work. Returns dated facts; an empty list means unknown.",
      inputSchema: makeSchema({ query: text("A question, or the words to look for.") }, ["query"]),
      execute: (input: { query: string }, call?: { abortSignal?: AbortSignal }) =>
        attempt(async () => {
          const result = await memory.search(input.query, { limit }, pass(call));
          return { results: result.hits.map(describe), probability: result.probability, abstained: result.abstained };
        }),
    },
    get_context: {
      description: "Get the remembered facts that matter for a prompt, as one block of text.",
      inputSchema: makeSchema({ query: text("The prompt.") }, ["query"]),
      execute: (input: { query: string }, call?: { abortSignal?: AbortSignal }) =>
        attempt(async () => ({ text: (await memory.context(input.query, {}, pass(call))).text })),
    },
  };
}

/** Make all tools: those that read, `store_memory` and `correct_memory`. */
export function tools(memory: Credenda, options: ToolsOptions = {}) {
  const { session, agent } = options;
  const stamp = { ...(session === undefined ? {} : { session }), ...(agent === undefined ? {} : { agent }) };
  return {
    ...readingTools(memory, options),
    store_memory: {
      description: "Remember what the user said, in their own words.",
      inputSchema: makeSchema(
        { text: text("The user's words, unchanged."), topic: text("A broad namespace, such as work or health.") },
        ["text"],
      ),
      execute: (input: { text: string; topic?: string }, call?: { abortSignal?: AbortSignal }) =>
        attempt(async () => {
          const topic = input.topic === undefined ? {} : { topic: input.topic };
          const receipt = await memory.remember(input.text, { ...stamp, ...topic }, pass(call));
          return { stored: receipt.event_ids.length, cached: receipt.cached, refused: receipt.refused };
        }),
    },
    correct_memory: {
      description: "Correct a memory that was wrong from the start, after the user said so.",
      inputSchema: makeSchema(
        { id: text("The id from a search."), value: text("The right value."), reason: text("What the user said.") },
        ["id", "value"],
      ),
      execute: (input: { id: string; value: string; reason?: string }, call?: { abortSignal?: AbortSignal }) =>
        attempt(async () => {
          const { id, ...correction } = input;
          const corrected = await memory.correct(id, correction, pass(call));
          return { id: corrected.id, text: corrected.text };
        }),
    },
  };
}

function describe(hit: Hit): Recalled {
  const since = hit.memory?.valid_from ?? hit.event?.occurred_at ?? null;
  return { id: hit.id, text: hit.text, since, flags: [...hit.flags] };
}

function pass(call: { abortSignal?: AbortSignal } | undefined): { signal: AbortSignal } | undefined {
  return call?.abortSignal === undefined ? undefined : { signal: call.abortSignal };
}

/** Return the error of a server as data, so that a model can go on; anything else is thrown. */
async function attempt<T>(run: () => Promise<T>): Promise<T | ToolProblem> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CredendaError) return { error: error.message };
    throw error;
  }
}
