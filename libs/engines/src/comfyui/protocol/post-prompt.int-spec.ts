import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ComfyuiClient } from './comfyui.client';
import { mapExtraData, postPrompt, promptBody, type PostResult } from './post-prompt';

interface Recorded {
  case: string;
  status: number;
  body: unknown;
}

const recorded = JSON.parse(
  readFileSync(join(__dirname, '../../../fixtures/captures/validation.json'), 'utf8'),
) as Recorded[];

const PROMPT = { promptId: 'p', clientId: 'c', graph: '{}', extraData: {} };
const CLASSES = new Map(['1', '2', '3', '4'].map((id) => [id, `Class${id}`]));

describe('the answer to a post', () => {
  let server: Server;
  let client: ComfyuiClient;
  let answer: Recorded;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const isPost = request.url === '/prompt';
      const body = request.url === '/queue' ? '{"queue_running":[],"queue_pending":[]}' : '{}';
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      request.resume().once('end', () => response.writeHead(isPost ? answer.status : 200).end(isPost ? text : body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = new ComfyuiClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      headers: {},
      timeoutMs: 60_000,
    });
  });

  afterAll(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  async function given(status: number, body: unknown): Promise<PostResult> {
    answer = { case: '', status, body };
    return await postPrompt(client, PROMPT, CLASSES, 60_000);
  }

  it.each(recorded.map((entry) => [entry.case, entry] as const))(
    'is understood as recorded: %s',
    async (_name, { status, body }) => {
      const result = await given(status, body);
      const isPartial = status === 200 && JSON.stringify(body).includes('"errors"');
      expect(result.status).toBe(isPartial ? 'partly_accepted' : status === 200 ? 'accepted' : 'refused');
      if (result.status !== 'refused') return;
      const faulty = Object.keys((body as { node_errors?: object }).node_errors ?? {});
      expect(result.failure.nodeId).toBe(faulty[0] ?? null);
      expect(result.failure.code).toBe(faulty.length > 0 ? 'node_execution_error' : 'engine_error');
      expect(result.failure.message).toMatch(/^ComfyUI refused the workflow: \w/);
    },
  );

  it('names the node at fault, with the class that was submitted, though the general part is empty', async () => {
    const missing = recorded.find((entry) => entry.case === 'missing required input');
    expect(await given(400, missing?.body)).toMatchObject({
      failure: {
        nodeId: '1',
        classType: 'Class1',
        message: 'ComfyUI refused the workflow: Required input is missing: width',
      },
    });
  });

  it('is the gateway’s where a gateway gives it', async () => {
    for (const status of [502, 503, 504]) expect(await given(status, '')).toMatchObject({ status: 'lost' });
  });
});

describe('the body of a post', () => {
  it('holds the graph to the letter', () => {
    const graph = '{"1": {"seed": 18446744073709551615, "x": 1.0}}';
    expect(promptBody({ ...PROMPT, graph, extraData: { a: 'b' } })).toBe(
      `{"prompt":${graph},"prompt_id":"p","client_id":"c","extra_data":{"a":"b"}}`,
    );
  });

  it('hands on credentials under the names that nodes look for, and nothing else', () => {
    const given = { api_key_vendor_org: 'a', auth_token_comfy_org: 'b', extra_pnginfo: 'c', __proto__: 'd' };
    expect(mapExtraData(given)).toEqual({ api_key_comfy_org: 'a', auth_token_comfy_org: 'b' });
    expect(mapExtraData({ api_key_comfy_org: 'x' })).toEqual({ api_key_comfy_org: 'x' });
  });
});
