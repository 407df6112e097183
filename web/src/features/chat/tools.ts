// Reads the tools that a visitor offers to a model of the network: a list in the form of OpenAI's clients.

/** Reads a list of tools as JSON. An empty text lists no tools. If the text cannot be read, `failure` says why in one sentence. */
export function readTools(text: string): { readonly tools: readonly unknown[]; readonly failure: string | null } {
  if (text.trim() === '') return { tools: [], failure: null };
  try {
    const tools: unknown = JSON.parse(text);
    if (!Array.isArray(tools)) return { tools: [], failure: 'No tools are offered: they are a JSON list.' };
    const at = tools.findIndex((tool: { readonly function?: { readonly name?: unknown } } | null) => typeof tool?.function?.name !== 'string');
    return at < 0 ? { tools, failure: null } : { tools: [], failure: `No tools are offered: number ${at + 1} has no function.name.` };
  } catch (error) {
    return { tools: [], failure: `No tools are offered: ${error instanceof Error ? error.message : String(error)}` };
  }
}
