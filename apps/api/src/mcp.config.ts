import { integer, setting } from '@millrace/platform';

/** What one call of the MCP server may bring, take, hold and cost. */
export const mcpSettings = {
  mcpRequestBytes: setting(
    'MCP_REQUEST_BYTES',
    'Largest message to the MCP server, in bytes: a graph, or a file in base64. Larger files are uploaded by the API.',
    integer({ min: 65_536, max: 33_554_432 }).default(4_194_304),
  ),
  mcpContentBytes: setting(
    'MCP_CONTENT_BYTES',
    'Bytes of outputs that one answer of the MCP server carries itself, in bytes before base64; of the others it has links.',
    integer({ min: 0, max: 16_777_216 }).default(3_145_728),
  ),
  mcpWaitSeconds: setting(
    'MCP_WAIT_SECONDS',
    'Longest time that one call of the MCP server waits for a job, in seconds.',
    integer({ min: 1, max: 3_600 }).default(300),
  ),
  mcpSpendLimitMicros: setting(
    'MCP_SPEND_LIMIT_MICROS',
    'The most that a job may cost that is submitted through the MCP server, in micro-credits. Its caller can set a lower limit.',
    integer({ min: 1 }).default(10_000_000),
  ),
};
