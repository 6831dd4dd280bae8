import { z } from 'zod';
import { SPEND_LIMIT_HEADER, defineEndpoint } from '../endpoints';

/** A message of JSON-RPC 2.0 as far as the endpoint says; the protocol says the rest. */
const MessageSchema = z
  .looseObject({ jsonrpc: z.literal('2.0'), method: z.string() })
  .meta({ id: 'McpMessage', description: 'One message of the Model Context Protocol.' });

/** The one endpoint of the MCP server. Without sessions there is nothing to GET or to DELETE: both are answered with 405. */
export const postMcp = defineEndpoint({
  id: 'postMcp',
  method: 'post',
  path: '/mcp',
  tag: 'mcp',
  access: { by: 'surface', scope: 'jobs:read' },
  summary: 'Call the MCP server',
  description:
    'The Model Context Protocol over streamable HTTP, without sessions: each request is complete in itself and may reach any process. ' +
    'Tools that do more than read ask for the scope that the same request to the API asks for.',
  parameters: [SPEND_LIMIT_HEADER],
  rawBody: { contentType: 'application/json', schema: MessageSchema },
  answers: {
    200: {
      description: 'The answer as one event of a stream, progress before it.',
      content: { 'text/event-stream': { type: 'string' } },
    },
  },
  raw: true,
  errors: ['payload_too_large', 'unsupported_media_type', 'late_body'],
});
