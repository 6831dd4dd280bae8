import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';

/** An answer of a tool: its object, and whether it is a refusal. */
export interface ToolSeen {
  /** Of any shape: a test says which one it expects. */
  value: Record<string, unknown>;
  text: string;
  isError: boolean;
  content: CallToolResult['content'];
}

/** The official client of the protocol, connected. */
export class McpClient {
  private constructor(readonly client: Client) {}

  /** @param headers beyond the credential. @param era of the protocol that it speaks. */
  static async connect(
    url: string,
    key: string | null,
    { headers = {}, era = 'modern' }: { headers?: Record<string, string>; era?: 'modern' | 'legacy' } = {},
  ): Promise<McpClient> {
    const client = new Client(
      { name: 'a-test', version: '1.0.0' },
      era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const credential: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    const requestInit = { headers: { ...credential, ...headers } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return new McpClient(client);
  }

  async call(name: string, args: object, options: Parameters<Client['callTool']>[1] = {}): Promise<ToolSeen> {
    const result = await this.client.callTool({ name, arguments: args as Record<string, unknown> }, options);
    const [first] = result.content;
    return {
      value: (result.structuredContent ?? {}) as Record<string, unknown>,
      text: first?.type === 'text' ? first.text : '',
      isError: result.isError ?? false,
      content: result.content.slice(1),
    };
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
