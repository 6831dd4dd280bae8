import { Controller, Inject } from '@nestjs/common';
import type { Request } from 'express';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, spendLimitOf, type InputOf } from '../endpoints';
import { assertNoForeignPage, inTurn, readBytes, targetOf } from '../http';
import { McpServers } from './mcp-servers';
import { postMcp } from './mcp.endpoints';
import { readMessage, type Message } from './message';
import { goneSignal, sendWebResponse, webRequestOf } from './web-exchange';

type Settings = Pick<
  ApiSettings,
  'publicUrl' | 'deploymentDomain' | 'mcpRequestBytes' | 'mcpSpendLimitMicros' | 'maxWorkflowBytes'
>;

/** The MCP server over HTTP: each request has a server of its own, so that nothing is kept from one to the next. */
@Controller()
export class McpController {
  constructor(
    private readonly servers: McpServers,
    @Inject(API_SETTINGS) private readonly settings: Settings,
  ) {}

  @Serves(postMcp)
  async call({ visitor, request, response }: InputOf<typeof postMcp>): Promise<void> {
    const { publicUrl, deploymentDomain, mcpRequestBytes, maxWorkflowBytes } = this.settings;
    assertNoForeignPage({ publicUrl, deploymentDomain }, targetOf(request).host, request.headers.origin);
    if (visitor.demo) throw new Refusal('forbidden', 'A demo deployment has no MCP server; use its API.');
    const spendLimitMicros = this.spendLimitOf(request);
    const signal = goneSignal(response);
    const body = await readBytes(request, mcpRequestBytes);
    const message = await inTurn(request, body, async (spend) => readingOf(body, spend));
    const asked = { visitor, request, signal, message, spendLimitMicros, maxWorkflowBytes };
    const handler = await this.servers.make(asked);
    const { surface } = visitor;
    const url = `${surface.origin}${surface.prefix}/mcp`;
    const answer = await handler.fetch(webRequestOf(request, url, signal), { parsedBody: message.value });
    await sendWebResponse(response, answer);
  }

  /** The lowest counts: who configures a client limits by the header what its model can spend. @throws Refusal `invalid_request`. */
  private spendLimitOf(request: Request): bigint {
    const most = BigInt(this.settings.mcpSpendLimitMicros);
    const sent = spendLimitOf(request);
    return sent !== undefined && sent < most ? sent : most;
  }
}

/** Read here and not in a thread: its whole time counts. @throws Refusal as `readMessage`. */
function readingOf(body: Buffer, spend: (ms: number) => void): Message {
  const beganAt = performance.now();
  try {
    return readMessage(body);
  } finally {
    spend(performance.now() - beganAt);
  }
}
