// Server-sent events: the subset of the standard that a stream of jobs needs.

/** One event of a stream. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Read the events of a stream until it ends; an event that is cut off at the end is dropped. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let buffer = "";
  let current: ServerEvent = { id: "", event: "message", data: "" };
  const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffer += value;
      const lines = buffer.split(/\r\n|\n|\r(?!$)/);
      buffer = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          takeField(current, line);
          continue;
        }
        if (current.data !== "") yield { ...current, data: current.data.slice(0, -1) };
        current = { id: current.id, event: "message", data: "" };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function takeField(event: ServerEvent, line: string): void {
  const colon = line.indexOf(":");
  if (colon === 0) return; // a comment, which keeps the connection open
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") event.data += `${value}\n`;
  else if (name === "event") event.event = value;
  else if (name === "id" && !value.includes("\0")) event.id = value;
}
