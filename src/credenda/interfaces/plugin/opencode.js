// Written by `credenda plugin install opencode`; `credenda plugin remove opencode` takes it away.
import { spawn } from "node:child_process"

const PROGRAM = []
const OPTIONS = []
const SERVER = []
const SECONDS = 10

/** Run a hook, and return its text for the model: "" where it fails, so that a session goes on without its memory. */
function ask(event, told) {
  return new Promise((resolve) => {
    const words = [...PROGRAM.slice(1), "hook", event, ...OPTIONS]
    const child = spawn(PROGRAM[0], words, { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), SECONDS * 1000)
    let answer = ""
    child.stdout.on("data", (part) => (answer += part))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(""))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.stdin.end(JSON.stringify(told))
  })
}

const join = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

/** Return a prompt without the quotes that `opencode run` puts around it. */
const unquote = (prompt) => prompt.trim().match(/^"([^"]*)"$/)?.[1] ?? prompt

export const Credenda = async ({ client, directory }) => {
  /** Whether a session is that of a sub-agent, whose prompts the user did not write. */
  const isBelow = async (id) => Boolean((await client.session.get({ path: { id } })).data?.parentID)
  return {
    config: async (config) => {
      config.mcp = { credenda: { type: "local", command: SERVER, enabled: true }, ...config.mcp }
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (await isBelow(sessionID)) return
      const told = { session_id: sessionID, prompt_id: message.id, prompt: unquote(join(parts)), cwd: directory }
      const text = await ask("UserPromptSubmit", told)
      if (!text) return
      const id = `${parts.at(-1).id}m` // sorts after the last part
      parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      if (await isBelow(id)) return
      const last = (await client.session.messages({ path: { id } })).data?.at(-1)
      if (last?.info.role !== "assistant") return
      const told = { session_id: id, prompt_id: last.info.parentID, cwd: directory }
      await ask("Stop", { ...told, last_assistant_message: join(last.parts) })
    },
  }
}
