import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { FakeHost } from './fixtures/fake-host';
import { type Answer, events, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const BATCHES = '/api/v2/batches';
const ID = newId();
const counts = { queued: 1, succeeded: 2, failed: 0 };
const BATCH = {
  id: ID,
  status: 'active',
  job_count: 3,
  refused_count: 1,
  progress: 0.667,
  counts,
  charged_micros: 5_000,
};

let service: StandInService;
let host: FakeHost;
let folder: string;
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url } });
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-batch-'));
  service.on(`GET ${BATCHES}/${ID}/jobs`, json(200, { jobs: [] }));
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const millrace = (...args: string[]): Promise<number> => runCli(['batch', ...args], host);
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

describe('millrace batch', () => {
  it('submits a graph with a table, character for character, and prints the id alone', async () => {
    service.on(`POST ${BATCHES}`, json(201, BATCH));
    const graph = fileOf('graph.json', '{"1": {"inputs": {"seed": 18446744073709551615}}}');
    const table = fileOf('table.json', '{"1.seed": [18446744073709551614, 1.0]}');
    expect(
      await millrace('submit', graph, '--table', table, '--combine', 'cross', '--each', '--idempotency-key', 'k1'),
    ).toBe(0);
    expect(String(service.received[0]?.body)).toBe(
      '{"workflow":{"1": {"inputs": {"seed": 18446744073709551615}}},"table":{"1.seed": [18446744073709551614, 1.0]},' +
        '"combine":"cross","admission":"each"}',
    );
    expect(service.received[0]?.headers['idempotency-key']).toBe('k1');
    expect(host.printed).toBe(`${ID}\n`);
    const body = '{"jobs": [{"workflow": {}}]}';
    expect(await millrace('submit', fileOf('body.json', body))).toBe(0);
    expect(String(service.received[1]?.body)).toBe(body);
    expect(await millrace('submit', graph, '--each')).toBe(2);
  });

  it.each([
    ['submit', `POST ${BATCHES}`, /Whether a batch was made is not known\..*--idempotency-key my-key makes/],
    [
      'retry',
      `POST ${BATCHES}/${ID}/retry`,
      /Whether the jobs are tried again is not known\..*--idempotency-key my-key/,
    ],
  ])('says, where no answer to a %s came, that its outcome is not known, and the key', async (verb, route, said) => {
    const what = verb === 'submit' ? fileOf('body.json', '{}') : ID;
    service.on(route, (response) => void response.destroy());
    expect(await millrace(verb, what, '--idempotency-key', 'my-key')).toBe(6);
    expect(new Set(service.requests(route).map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set(['my-key']),
    );
    expect(host.noted).toMatch(said);
  });

  it('waits for the answer to a submission at Ctrl-C, and leaves at a second one with the key', async () => {
    const file = fileOf('body.json', '{}');
    let admit = (): void => undefined;
    service.on(`POST ${BATCHES}`, (response, request) => {
      admit = () => void json(201, BATCH)(response, request);
    });
    const waiting = millrace('submit', file);
    await service.asked(`POST ${BATCHES}`);
    host.pressCtrlC();
    expect(host.noted).toContain('Waiting for the answer');
    admit();
    expect([await waiting, host.printed]).toEqual([0, `${ID}\n`]);
    const leaving = millrace('submit', file, '--idempotency-key', 'my-key');
    await service.asked(`POST ${BATCHES}`, 2);
    host.pressCtrlC();
    host.pressCtrlC();
    expect(await leaving).toBe(130);
    expect(host.noted).toMatch(/not known\..*--idempotency-key my-key/);
  });

  it('shows, lists, cancels and waits for batches', async () => {
    service.on(`GET ${BATCHES}/${ID}`, json(200, BATCH));
    service.on(`GET ${BATCHES}`, json(200, { batches: [BATCH], next_cursor: 'c' }));
    service.on(`POST ${BATCHES}/${ID}/cancel`, json(200, { ...BATCH, counts: { canceled: 3 } }));
    expect(await millrace('show', ID)).toBe(0);
    expect(host.printed).toMatch(/progress +66%\n.*queued +1\n.*succeeded +2\n.*refused +1\n.*cost +0.005 credits/);
    expect(await millrace('ls', '--limit', '5')).toBe(0);
    expect(service.received.at(-1)?.path.split('?')[1]).toBe('limit=5');
    expect(await millrace('cancel', ID)).toBe(0);
    expect(host.printed).toMatch(/canceled +3/);
    service.on(`GET ${BATCHES}/${ID}`, json(200, { ...BATCH, status: 'completed', counts: { succeeded: 3 } }));
    expect(await millrace('wait', ID)).toBe(0);
    service.on(
      `GET ${BATCHES}/${ID}`,
      json(200, { ...BATCH, status: 'completed', counts: { succeeded: 2, failed: 1 } }),
    );
    expect(await millrace('wait', ID)).toBe(1);
    expect(await millrace('show', 'nothing')).toBe(2);
  });

  it.each(['wait', 'watch'])('ends %s with 0 where jobs that had ended are gone, and says how many', async (verb) => {
    const ended = { ...BATCH, status: 'completed', progress: 1, counts: { succeeded: 2, failed: 0 } };
    service.on(`GET ${BATCHES}/${ID}/events`, events([['status', ended]]));
    service.on(`GET ${BATCHES}/${ID}`, json(200, ended));
    expect(await millrace(verb, ID)).toBe(0);
    expect(host.printed).toMatch(/succeeded +2\n.*gone +1\n/);
  });

  it.each(['failed', 'canceled', 'expired'])('ends with 1 where a job is %s', async (state) => {
    service.on(
      `GET ${BATCHES}/${ID}`,
      json(200, { ...BATCH, status: 'completed', counts: { succeeded: 2, [state]: 1 } }),
    );
    expect(await millrace('wait', ID)).toBe(1);
  });

  it('watches a batch: a line for each job that ends, through streams that break', async () => {
    const ended = (index: number): [string, unknown] => [
      'job',
      { id: newId(), batch_index: index, status: 'succeeded' },
    ];
    const completed = { ...BATCH, status: 'completed', progress: 1, counts: { succeeded: 3 } };
    let opened = 0;
    service.on(`GET ${BATCHES}/${ID}/events`, (response, ...rest) => {
      opened += 1;
      const first = events([['status', BATCH], ended(0)], 'cut');
      const second = events([['status', BATCH], ended(1), ['progress', { progress: 0.9 }], ['status', completed]]);
      return (opened === 1 ? first : second)(response, ...rest);
    });
    service.on(`GET ${BATCHES}/${ID}`, json(200, BATCH));
    expect(await millrace('watch', ID)).toBe(0);
    expect(host.printed).toMatch(/^0 {2}\S+ {2}succeeded\n1 {2}\S+ {2}succeeded\n +status +completed/);
    service.on(`GET ${BATCHES}/${ID}/events`, refusal(404, 'not_found', 'There is no such batch.'));
    expect(await millrace('watch', ID)).toBe(3);
  });

  it('prints each job once that ended before the watch, between two streams or with the batch', async () => {
    const job = (index: number, status: string): object => ({ id: `j${index}`, batch_index: index, status });
    const ended = [0, 1, 2, 3].map((index) => job(index, 'succeeded'));
    const at = (...jobs: (object | undefined)[]): Answer => json(200, { jobs });
    service.on(
      `GET ${BATCHES}/${ID}/events`,
      events(
        [
          ['status', BATCH],
          ['job', ended[1]],
        ],
        'cut',
      ),
      events(
        [
          ['status', BATCH],
          ['job', ended[2]],
        ],
        'cut',
      ),
      (response) => void response.destroy(),
    );
    service.on(
      `GET ${BATCHES}/${ID}/jobs`,
      json(200, { jobs: [ended[0]], next_cursor: 'c' }),
      at(job(1, 'running')),
      refusal(503, 'upstream_error', 'Later.'),
      at(ended[0], ended[1], ended[2], job(3, 'queued')),
      at(...ended),
    );
    const completed = { ...BATCH, status: 'completed', progress: 1, counts: { succeeded: 4 } };
    service.on(`GET ${BATCHES}/${ID}`, json(200, BATCH), json(200, BATCH), json(200, completed));
    expect(await millrace('watch', ID)).toBe(0);
    expect(host.printed.match(/^\d .*$/gm)).toEqual([0, 1, 2, 3].map((index) => `${index}  j${index}  succeeded`));
  });

  it.each(['wait', 'watch'])(
    'ends %s with 3 where the key ends meanwhile, and says that the batch goes on',
    async (verb) => {
      const refused = refusal(401, 'unauthorized', 'The key has ended.');
      service.on(`GET ${BATCHES}/${ID}/events`, events([['status', BATCH]], 'cut'), refused);
      service.on(`GET ${BATCHES}/${ID}`, json(200, BATCH), refused);
      expect(await millrace(verb, ID)).toBe(3);
      expect(host.noted).toMatch(/→ Give a key that works.* The batch itself continues\. Run the command again\./);
    },
  );

  it.each(['wait', 'watch'])('goes on to %s through an outage, and gives up after five minutes', async (verb) => {
    host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 5_000 });
    const away: Answer = (response) => void response.destroy();
    const full = refusal(429, 'rate_limited', 'Too many.', { headers: { 'retry-after': '30' } });
    const completed = json(200, { ...BATCH, status: 'completed', counts: { succeeded: 3 } });
    service.on(`GET ${BATCHES}/${ID}/events`, away);
    service.on(`GET ${BATCHES}/${ID}`, ...Array.from({ length: 9 }, () => away), full, completed);
    const startedMs = host.nowMs();
    expect(await millrace(verb, ID)).toBe(0);
    expect(host.nowMs() - startedMs).toBeGreaterThanOrEqual(30_000);
    service.on(`GET ${BATCHES}/${ID}`, away);
    expect(await millrace(verb, ID)).toBe(6);
    expect(host.noted).toMatch(/not answered for five minutes[^]*batch itself continues/);
  });

  it('tries jobs again, the failed ones or others too', async () => {
    service.on(`POST ${BATCHES}/${ID}/retry`, json(200, { ...BATCH, counts: { queued: 3 } }));
    expect(await millrace('retry', ID)).toBe(0);
    expect(host.printed).toMatch(/queued +3/);
    expect(JSON.parse(String(service.received[0]?.body))).toEqual({ statuses: ['failed'], admission: 'all' });
    expect(await millrace('retry', ID, '--canceled', '--expired', '--each', '--idempotency-key', 'k1')).toBe(0);
    expect(service.received[1]?.headers['idempotency-key']).toBe('k1');
    expect(JSON.parse(String(service.received[1]?.body))).toEqual({
      statuses: ['failed', 'canceled', 'expired'],
      admission: 'each',
    });
  });

  it('prints results as they come, and saves the archive whole or not at all', async () => {
    service.on(`GET ${BATCHES}/${ID}/results`, (response) => void response.writeHead(200).end('{"a":1}\n{"a":2}\n'));
    expect(await millrace('results', ID)).toBe(0);
    expect(host.printed).toBe('{"a":1}\n{"a":2}\n');
    service.on(`GET ${BATCHES}/${ID}/outputs.zip`, (response) => void response.writeHead(200).end('PK-bytes'));
    const out = join(folder, 'a.zip');
    expect(await millrace('download', ID, '--out', out)).toBe(0);
    expect(readFileSync(out, 'utf8')).toBe('PK-bytes');
    service.on(`GET ${BATCHES}/${ID}/outputs.zip`, (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('PK', () => response.destroy());
    });
    expect(await millrace('download', ID, '--out', join(folder, 'b.zip'))).toBe(6);
    expect(readdirSync(folder)).toEqual(['a.zip']);
  });

  it('says that results were cut off, and nothing is left of an archive at Ctrl-C', async () => {
    const begun: Answer = (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"a":1}\n', () => response.destroy());
    };
    service.on(`GET ${BATCHES}/${ID}/results`, begun);
    expect(await millrace('results', ID)).toBe(6);
    expect(host.noted).toContain('download_cut');
    service.on(`GET ${BATCHES}/${ID}/outputs.zip`, (response) => void response.writeHead(200).write('PK'));
    const saving = millrace('download', ID, '--out', join(folder, 'c.zip'));
    await eventually('the archive to begin', () => readdirSync(folder).length === 1);
    host.pressCtrlC();
    expect([await saving, readdirSync(folder)]).toEqual([130, []]);
  });
});
