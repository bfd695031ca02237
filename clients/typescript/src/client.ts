// The client: a method for each common operation, and `call` for every operation of the server.

import { readEvents } from "./events.ts";
import type {
  Context,
  ContestCase,
  DeletionReceipt,
  Explanation,
  ImportReport,
  JobInfo,
  Memory,
  Operations,
  Receipt,
  Resolution,
  SearchResult,
  SlotVersion,
  Stats,
} from "./generated.ts";
import { Connection, type Answer, type CallOptions, type ClientOptions, type OperationName } from "./request.ts";

type Input<N extends OperationName> = Operations[N]["input"];
type Rest<N extends OperationName, K extends keyof Input<N>> = Omit<Input<N>, K>;
/** The operations whose answers are pages. */
type Paged = {
  [N in OperationName]: Operations[N]["output"] extends { items: unknown[]; next_cursor: string | null } ? N : never;
}[OperationName];
type Item<N extends Paged> = Operations[N]["output"] extends { items: (infer T)[] } ? T : never;

const ENDED: ReadonlySet<string> = new Set(["complete", "dead", "cancelled"]);

/** A memory on a server. One client may make any number of calls at once. */
export class Credenda {
  readonly #connection: Connection;

  constructor(options: ClientOptions = {}) {
    this.#connection = new Connection(options);
  }

  /** Call any operation by its name in the OpenAPI document, and get its answer. */
  async call<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Operations[N]["output"]> {
    return (await this.#connection.call(name, input, options)).data;
  }

  /** Call any operation, and get its answer with version and status. */
  answer<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Answer<Operations[N]["output"]>> {
    return this.#connection.call(name, input, options);
  }

  /** Store a message. It is on disk when this resolves; beliefs follow shortly after. */
  remember(content: string, input: Rest<"remember", "content"> = {}, options?: CallOptions): Promise<Receipt> {
    const key = options?.idempotencyKey ?? input.idempotency_key ?? undefined;
    return this.call("remember", { ...input, content }, key === undefined ? options : { ...options, idempotencyKey: key });
  }

  /** Search memories and messages. */
  search(query: string, input: Rest<"search", "query"> = {}, options?: CallOptions): Promise<SearchResult> {
    return this.call("search", { ...input, query }, options);
  }

  /** Get a block of context for a prompt; without a query the core alone. */
  context(query?: string, input: Rest<"context", "query"> = {}, options?: CallOptions): Promise<Context> {
    return this.call("context", query === undefined ? input : { ...input, query }, options);
  }

  get(id: string, options?: CallOptions): Promise<Memory> {
    return this.call("get", { id }, options);
  }

  /** Get the evidence of a memory, and its changes. */
  why(id: string, options?: CallOptions): Promise<Explanation> {
    return this.call("why", { id }, options);
  }

  /** Get all values of the slot of a memory, oldest first. */
  history(id: string, options?: CallOptions): Promise<SlotVersion[]> {
    return this.call("history", { id }, options);
  }

  correct(id: string, input: Rest<"correct", "id">, options?: CallOptions): Promise<Memory> {
    return this.call("correct", { ...input, id }, options);
  }

  /** Forget a memory; it can be restored. */
  forget(id: string, reason = "", options?: CallOptions): Promise<Operations["forget"]["output"]> {
    return this.call("forget", { id, reason }, options);
  }

  /** Delete a memory or message for good. */
  delete(id: string, options?: CallOptions): Promise<DeletionReceipt> {
    return this.call("delete", { id }, options);
  }

  contests(options?: CallOptions): Promise<ContestCase[]> {
    return this.call("contests", {}, options);
  }

  resolve(id: string, answer: Rest<"resolve", "id">, options?: CallOptions): Promise<Resolution> {
    return this.call("resolve", { ...answer, id }, options);
  }

  stats(options?: CallOptions): Promise<Stats> {
    return this.call("stats", {}, options);
  }

  /** Go through the items of a list, page by page. */
  async *pages<N extends Paged>(name: N, input: Input<N>, options?: CallOptions): AsyncGenerator<Item<N>, void, undefined> {
    let given = input;
    for (;;) {
      const page = (await this.call(name, given, options)) as { items: Item<N>[]; next_cursor: string | null };
      yield* page.items;
      if (page.next_cursor === null) return;
      given = { ...input, cursor: page.next_cursor };
    }
  }

  /** Go through the memories, newest first. */
  memories(input: Input<"list"> = {}, options?: CallOptions): AsyncGenerator<Memory, void, undefined> {
    return this.pages("list", { limit: 50, ...input }, options);
  }

  /** Export the memory as a stream of bytes. */
  export(input: Input<"export"> = {}, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.call("export", input, { timeoutMs: 0, ...options });
  }

  /** Import a file of any format that the server knows. */
  import(file: Blob, input: Rest<"import", "file"> = {}, options?: CallOptions): Promise<ImportReport> {
    return this.call("import", { ...input, file }, { timeoutMs: 0, ...options });
  }

  /** Start an operation in the background, and get its job. */
  async start<N extends "consolidate" | "dream" | "reembed" | "compress">(
    name: N,
    input: Input<N>,
    options?: CallOptions,
  ): Promise<JobInfo> {
    return (await this.call(name, input, { ...options, respondAsync: true })) as JobInfo;
  }

  /** Follow a job until it has ended; the connection is made anew as often as needed. */
  async *follow(id: string, options?: CallOptions): AsyncGenerator<JobInfo, void, undefined> {
    let last = options?.lastEventId;
    for (;;) {
      const resumed = last === undefined ? {} : { lastEventId: last };
      const stream = await this.call("job-events", { id }, { timeoutMs: 0, ...options, ...resumed });
      if (stream === null) return;
      for await (const event of readEvents(stream)) {
        const job = JSON.parse(event.data) as JobInfo;
        last = event.id;
        yield job;
        if (ENDED.has(job.state)) return;
      }
      options?.signal?.throwIfAborted();
    }
  }

  /** Wait until a job has ended, and return it; `remember` names its job in `job_id`. */
  async finish(id: string, options?: CallOptions): Promise<JobInfo> {
    for await (const job of this.follow(id, options)) {
      if (ENDED.has(job.state)) return job;
    }
    return this.call("job", { id }, options);
  }
}
