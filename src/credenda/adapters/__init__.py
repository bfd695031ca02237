"""Adapters for agent frameworks. Each module needs its framework, which an extra of the same name installs.

| module | class | extra |
|---|---|---|
| `langgraph` | `CredendaStore`, a `BaseStore` | `langgraph` |
| `langchain` | `CredendaRetriever`, a `BaseRetriever` | `langchain` |
| `langchain_agents` | `CredendaMiddleware`, an `AgentMiddleware` | `langchain-agents` |
| `openai_agents` | `CredendaSession`, a `Session` | `openai-agents` |
| `google_adk` | `CredendaMemoryService`, a `BaseMemoryService` | `google-adk` |
| `llama_index` | `CredendaMemoryBlock`, a `BaseMemoryBlock` | `llama-index` |
| `pydantic_ai` | `CredendaMemoryStore`, a `MemoryStore` of the harness | `pydantic-ai` |
| `strands` | `CredendaMemoryStore`, a `MemoryStore` | `strands` |
| `agent_framework` | `CredendaMemoryStore` and `CredendaFileStore` | `agent-framework` |
| `claude_agent_sdk` | `make_hooks`, the hooks of an agent | `claude-agent-sdk` |
| `autogen` | `CredendaMemory`, a `Memory` | `autogen` |
| `agno` | `CredendaHooks`, hooks before and after a run | `agno` |
| `haystack` | `CredendaHook`, a `Hook` | `haystack` |
| `crewai` | `CredendaMemory`, a `Memory` | `crewai` |
"""
