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

describe('a post whose answer is lost', () => {
  let server: Server;
  let client: ComfyuiClient;
  /** How requests are answered that are still to come, by path; a status, or a connection that breaks. Others find nothing. */
  let answers: Record<string, (number | 'reset')[]>;
  let posted: number;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      if (path === '/prompt') posted += 1;
      const given = answers[path]?.shift() ?? 200;
      const body = path === '/queue' ? '{"queue_running":[],"queue_pending":[]}' : '{}';
      request.resume().once('end', () => {
        if (given === 'reset') response.socket?.resetAndDestroy();
        else response.writeHead(given).end(given === 200 ? body : 'Service Unavailable');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    client = new ComfyuiClient({ url: `http://127.0.0.1:${port}`, headers: {}, timeoutMs: 60_000 });
  });

  afterAll(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });

  async function whenAnswered(given: typeof answers): Promise<PostResult> {
    answers = given;
    posted = 0;
    return await postPrompt(client, PROMPT, CLASSES, 60_000);
  }

  it.each([
    ['the history', { '/prompt': ['reset'], '/history/p': [503] }],
    ['the queue', { '/prompt': ['reset'], '/queue': [502] }],
    ['the second look', { '/prompt': ['reset'], '/history/p': [200, 200, 504] }],
    ['the history after an error of the server’s own', { '/prompt': [500], '/history/p': [503] }],
    ['the history after an answer of its own', { '/prompt': [504], '/history/p': [503] }],
  ] as [string, typeof answers][])(
    'is not repeated, and is lost, where a gateway answers for %s',
    async (_name, given) => {
      expect(await whenAnswered(given)).toMatchObject({ status: 'lost' });
      expect(posted).toBe(1);
    },
  );

  it('is not repeated, and is lost, where nobody can say whether the prompt arrived after an error of the server’s own', async () => {
    expect(await whenAnswered({ '/prompt': [500], '/history/p': ['reset', 'reset'] })).toMatchObject({
      status: 'lost',
    });
    expect(posted).toBe(1);
  });

  it('is looked for a second time where a gateway no longer waited for the answer', async () => {
    answers = { '/prompt': [504] };
    const history = jest.spyOn(client, 'history');
    history.mockResolvedValueOnce(null).mockResolvedValueOnce(null);
    history.mockResolvedValueOnce({ messages: [], completed: true, outputs: [] });
    expect(await postPrompt(client, PROMPT, CLASSES, 60_000)).toEqual({ status: 'accepted' });
    history.mockRestore();
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
