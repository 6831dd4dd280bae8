import { attack } from './attack';

/** Fewer than an account may have waiting, so that one at least is accepted. */
const BATCH_JOBS = 50;
const REFUSED_JOBS = 1_000;
const PART_BYTES = 1_048_576;

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

function batch(count: number, classType: string): Buffer {
  const workflow = {
    '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
    '2': { class_type: classType, inputs: { source: ['1', 0] } },
  };
  return json({ jobs: Array.from({ length: count }, () => ({ workflow })) });
}

export const BULK_ATTACKS = [
  attack(
    'event loop',
    `8 batches at a time, of ${BATCH_JOBS} jobs, and of ${REFUSED_JOBS.toLocaleString('en')} that are refused`,
    { 201: 1, 422: 1 },
    (ground, until) => {
      const bodies = [batch(BATCH_JOBS, 'PreviewAny'), batch(REFUSED_JOBS, `Image${'q'.repeat(200)}`)];
      let turn = 0;
      return ground.press(8, until, () => ground.send('POST', '/api/v2/batches', bodies[(turn += 1) % 2]));
    },
  ),
  attack('event loop', '16 calls of the MCP server at a time', { 200: 20 }, (ground, until) => {
    const bodies = [
      json({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      json({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_jobs', arguments: {} } }),
    ];
    const headers = { accept: 'application/json, text/event-stream' };
    let turn = 0;
    return ground.press(16, until, () => ground.send('POST', '/mcp', bodies[(turn += 1) % 2], headers));
  }),
  attack('storage', '8 uploads in parts at a time that are never completed', { 201: 1, 204: 1 }, (ground, until) => {
    const begin = json({ size_bytes: PART_BYTES, content_type: 'application/octet-stream', file_path: 'a.bin' });
    const part = Buffer.alloc(PART_BYTES, 'a');
    return ground.press(8, until, async () => {
      const begun = await ground.send('POST', '/api/v2/uploads', begin);
      if (begun.status !== 201) return begun;
      const { parts } = JSON.parse(begun.body) as { parts: { url: string }[] };
      const { pathname, search } = new URL(parts[0]?.url ?? '', ground.stack.publicUrl);
      const headers = { authorization: '', 'content-type': 'application/octet-stream' };
      return ground.send('PUT', `${pathname}${search}`, part, headers);
    });
  }),
];
