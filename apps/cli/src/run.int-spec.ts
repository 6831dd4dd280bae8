import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FakeHost } from './fixtures/fake-host';
import { assetOf, JOB_ID, JOB_PATH, jobOf, outputOf, succeeded } from './fixtures/sample-jobs';
import { bytes, events, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const GRAPH =
  '{"1":{"class_type":"LoadImage","inputs":{"image":"x"}},"3":{"class_type":"ImageScale","inputs":{"seed":18446744073709551615,"f":1.0}}}';
const PICTURE = Buffer.from('a picture');
const PROGRESS = { value: 0.5, nodes_done: 1, nodes_total: 2, current_node: '3', current_node_class: 'ImageScale' };

let service: StandInService;
let folder: string;
let host: FakeHost;
let graph: string;

beforeEach(async () => {
  service = await StandInService.start();
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'));
  host = new FakeHost({ env: { MILLRACE_URL: service.url, MILLRACE_API_KEY: 'mr_key' }, homeDir: folder });
  graph = join(folder, 'graph.json');
  await writeFile(graph, GRAPH);
  service
    .on('POST /api/v2/jobs', json(201, jobOf()))
    .on(`POST ${JOB_PATH}/cancel`, json(200, jobOf({ status: 'canceling' })));
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** The service brings the job to this end, by stream and by read. */
function ending(job: ReturnType<typeof jobOf>): void {
  service.on(
    `GET ${JOB_PATH}/events`,
    events([
      ['status', jobOf({ status: 'running' })],
      ['progress', PROGRESS],
      ['status', job],
    ]),
  );
  service.on(`GET ${JOB_PATH}`, json(200, job));
}

function run(...args: string[]): Promise<number> {
  return runCli(['run', graph, '--out', join(folder, 'out'), ...args], host);
}

describe('a run that succeeds', () => {
  beforeEach(() => {
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 0)));
    service.on('GET /files/1', bytes(PICTURE));
    service.on(
      `GET ${JOB_PATH}/nodes`,
      json(200, { nodes: [{ node_id: '3', class_type: 'ImageScale', state: 'succeeded', ms: 4200 }] }),
    );
    ending(succeeded({ outputs: [outputOf(service.url, 1, PICTURE)] }));
  });

  it('submits the graph to the byte, with the input uploaded and the values in place', async () => {
    await writeFile(join(folder, 'photo.png'), 'pixels');
    const code = await run(
      '--input',
      `1.image=${join(folder, 'photo.png')}`,
      '--set',
      '3.f=2.0',
      '--label',
      'user=ada',
    );
    expect(code).toBe(0);
    const reference = '{"__type":"core/ASSET","info":{"id":"0193d5c2-7a3e-7c41-9d0a-000000000000"}}';
    const [submission] = service.requests('POST /api/v2/jobs');
    expect(submission?.body.toString()).toBe(
      `{"workflow":${GRAPH.replace('"x"', reference).replace('1.0', '2.0')},"metadata":{"user":"ada"}}`,
    );
    const [upload] = service.requests('POST /api/v2/assets');
    expect(upload?.body.toString()).toMatch(
      /name="file_path"\r\n\r\nphoto\.png[^]*name="expected_hash"\r\n\r\nblake3:[0-9a-f]{64}[^]*pixels/,
    );
  });

  it('says where a value is for an input that its node did not have', async () => {
    expect(await run('--set', '3.stepz=3', '--set', '3.f=2.0')).toBe(0);
    expect(host.noted).toContain('node 3 had no input "stepz"; added\n');
    expect(host.noted).not.toContain('"f"');
  });

  it('sends the key to the service and to no other host', async () => {
    const elsewhere = await StandInService.start();
    elsewhere.on('GET /files/1', bytes(PICTURE));
    ending(succeeded({ outputs: [outputOf(elsewhere.url, 1, PICTURE)] }));
    expect(await run()).toBe(0);
    expect(service.requests('POST /api/v2/jobs')[0]?.headers.authorization).toBe('Bearer mr_key');
    expect(elsewhere.requests('GET /files/1')[0]?.headers.authorization).toBeUndefined();
    await elsewhere.close();
  });

  it('saves the outputs and prints what it took', async () => {
    expect(await run()).toBe(0);
    expect(await readFile(join(folder, 'out', 'picture_00001_.png'))).toEqual(PICTURE);
    const { hash } = outputOf(service.url, 1, PICTURE);
    for (const fact of [
      JOB_ID,
      'succeeded',
      '120 ms',
      '6.4 s',
      '0.0064 credits',
      'ImageScale',
      '4.2 s',
      'image/png',
      '9 B',
      hash,
    ])
      expect(host.printed).toContain(fact);
    expect(host.noted).toContain('50%  1 of 2 nodes  3  ImageScale');
  });

  it('prints one JSON document under --json, and nothing else on standard output', async () => {
    expect(await run('--json')).toBe(0);
    expect(JSON.parse(host.printed)).toMatchObject({
      job: { id: JOB_ID, status: 'succeeded' },
      nodes: [{ node_id: '3', ms: 4200 }],
      charged_micros: 6400,
      files: [{ name: 'picture_00001_.png', path: join(folder, 'out', 'picture_00001_.png'), size_bytes: 9 }],
      failures: [],
    });
  });

  it('shows the times that it observed where the service reports none', async () => {
    service.on(`GET ${JOB_PATH}/nodes`, refusal(404, 'not_found', 'No such operation.'));
    expect(await run()).toBe(0);
    expect(host.printed).toMatch(/times observed by this client[^]*3 {2}ImageScale/);
  });

  it('never replaces a file nor leaves the folder, for any name of an output', async () => {
    const names = ['../../x', 'a\u001b[31m', 'same.png', 'same.png', '/etc/passwd', '..'];
    service.on('GET /files/1', bytes(PICTURE));
    const outputs = names.map((name) => outputOf(service.url, 1, PICTURE, { name }));
    ending(succeeded({ outputs }));
    expect(await run()).toBe(0);
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(
      ['a_[31m', `file-${outputs[0]?.id}`, 'passwd', 'same-2.png', 'same.png', 'x'].sort(),
    );
    expect(host.printed + host.noted).not.toContain('\u001b');
    expect((await readdir(folder)).sort()).toEqual(['graph.json', 'out']);
  });

  it('only submits under --detach, and prints the id alone', async () => {
    expect(await run('--detach')).toBe(0);
    expect(host.printed).toBe(`${JOB_ID}\n`);
    expect(service.requests(`GET ${JOB_PATH}/events`)).toHaveLength(0);
  });
});

describe('what a submission says beside its graph', () => {
  it('goes into headers: which failures are tried again, and what the job may cost', async () => {
    service.on('POST /api/v2/jobs', json(201, jobOf()));
    ending(succeeded());
    expect(await run('--retry', 'max=1, on=(engine_error)', '--spend-limit', '0.5')).toBe(0);
    expect(service.requests('POST /api/v2/jobs')[0]?.headers).toMatchObject({
      'millrace-retry': 'max=1, on=(engine_error)',
      'millrace-spend-limit-micros': '500000',
    });
  });

  it('is checked where it can be before anything is sent', async () => {
    expect(await run('--spend-limit', 'much')).toBe(2);
    expect(service.received).toHaveLength(0);
  });
});

describe('a run whose bytes are not those that were promised', () => {
  it.each(['', '--json'])('saves none of them, says so and exits with 6 %s', async (flag) => {
    service.on('GET /files/1', bytes(Buffer.from('A picture')));
    service.on('GET /files/2', bytes(PICTURE));
    ending(succeeded({ outputs: [outputOf(service.url, 1, PICTURE), outputOf(service.url, 2, PICTURE)] }));
    expect(await run(...(flag ? [flag] : []))).toBe(6);
    expect(await readdir(join(folder, 'out'))).toEqual(['picture_00002_.png']);
    expect(host.noted).toContain('hash_mismatch');
    if (flag) expect(JSON.parse(host.printed)).toMatchObject({ failures: [{ code: 'hash_mismatch' }] });
  });

  it('fetches again what was cut off on the way', async () => {
    const cut = (response: Parameters<ReturnType<typeof bytes>>[0]): void => {
      response.writeHead(200, { 'content-length': String(PICTURE.byteLength) });
      response.write(PICTURE.subarray(0, 3), () => response.destroy());
    };
    service.on('GET /files/1', cut, bytes(PICTURE));
    ending(succeeded({ outputs: [outputOf(service.url, 1, PICTURE)] }));
    expect(await run()).toBe(0);
    expect(await readdir(join(folder, 'out'))).toEqual(['picture_00001_.png']);
  });

  it('asks for a fresh link when the old one has run out', async () => {
    service.on('GET /files/1', refusal(403, 'forbidden', 'The link has expired.'));
    service.on('GET /files/2', bytes(PICTURE));
    const output = outputOf(service.url, 1, PICTURE);
    service.on(`GET /api/v2/assets/${output.id}`, json(200, assetOf(service.url, 2)));
    ending(succeeded({ outputs: [output] }));
    expect(await run()).toBe(0);
  });
});

describe('a run whose outputs cannot be written', () => {
  const AGAIN = `Save the outputs again, here or elsewhere: millrace watch ${JOB_ID} --out <folder>`;
  /** The folder gives way to a file, in which nothing can be saved, not even by root. */
  const blockOut = async (): Promise<void> => {
    await rm(join(folder, 'out'), { recursive: true });
    await writeFile(join(folder, 'out'), '');
  };

  it.each([
    ['when the job ends', `GET ${JOB_PATH}/nodes`, json(200, { nodes: [] })],
    ['while they are saved', 'GET /files/1', bytes(PICTURE)],
  ])('%s exits with 7, and names the job whose outputs can still be saved', async (_when, route, answer) => {
    ending(succeeded({ outputs: [outputOf(service.url, 1, PICTURE)] }));
    service.on('GET /files/1', bytes(PICTURE)).on(route, async (response, request) => {
      await blockOut();
      return answer(response, request);
    });
    expect(await run('--json')).toBe(7);
    const cure = AGAIN;
    expect(JSON.parse(host.printed)).toMatchObject({ job: { id: JOB_ID }, failures: [{ code: 'not_saved', cure }] });
    expect(host.noted).toContain(AGAIN);
  });

  it('exits with 7 where standard output is on a full disk', async () => {
    ending(succeeded());
    const full = await open('/dev/full', 'w');
    const main = join(process.cwd(), 'dist/apps/cli/src/main.js');
    const env = { PATH: process.env.PATH, MILLRACE_URL: service.url };
    const child = spawn(process.execPath, [main, 'run', graph, '--no-out'], {
      env,
      stdio: ['ignore', full.fd, full.fd],
    });
    expect((await once(child, 'exit'))[0]).toBe(7);
    await full.close();
  });

  it('exits with 6 where they are cut off again and again, and names the job', async () => {
    ending(succeeded({ outputs: [outputOf(service.url, 1, PICTURE)] }));
    service.on('GET /files/1', (response) => {
      response.writeHead(200, { 'content-length': String(PICTURE.byteLength) });
      response.write(PICTURE.subarray(0, 3), () => response.destroy());
    });
    expect(await run()).toBe(6);
    expect(host.noted).toMatch(/download_cut/);
    expect(host.noted).toContain(AGAIN);
  });
});

describe('the rest of the outputs', () => {
  const watch = (): Promise<number> => runCli(['--json', 'watch', JOB_ID, '--out', join(folder, 'out')], host);
  const paths = (): unknown[] =>
    (JSON.parse(host.printed) as { files: { path: string }[] }).files.map(({ path }) => basename(path));
  const again = (): void => {
    host = new FakeHost({ env: host.env, homeDir: folder });
  };
  const others = ['another', 'a-pictur'].map((text) => Buffer.from(text));

  beforeEach(() => {
    const [first, second] = others as [Buffer, Buffer];
    service.on('GET /files/1', bytes(PICTURE)).on('GET /files/2', bytes(first)).on('GET /files/3', bytes(second));
    const name = 'same.png';
    ending(
      succeeded({
        outputs: [
          outputOf(service.url, 1, PICTURE, { name }),
          outputOf(service.url, 2, first, { name }),
          outputOf(service.url, 1, PICTURE, { name }),
          outputOf(service.url, 3, second),
        ],
      }),
    );
  });

  it('is nothing where all are there: a second watch leaves the folder as it is, and names its files', async () => {
    expect(await watch()).toBe(0);
    const names = paths();
    expect(names).toEqual(['same.png', 'same-2.png', 'same-3.png', 'picture_00003_.png']);
    const fetched = service.requests('GET /files/1').length;
    again();
    expect(await watch()).toBe(0);
    expect(paths()).toEqual(names);
    expect((await readdir(join(folder, 'out'))).sort()).toEqual([...names].sort());
    expect(service.requests('GET /files/1')).toHaveLength(fetched);
  });

  it('is fetched where others are there, beside files with other bytes', async () => {
    service.on('GET /files/2', refusal(503, 'upstream_error', 'A part of the service failed.'));
    expect(await watch()).toBe(6);
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['picture_00003_.png', 'same-2.png', 'same.png']);
    await writeFile(join(folder, 'out', 'picture_00003_.png'), 'A-pictur');
    service.on('GET /files/2', bytes(others[0] as Buffer));
    again();
    expect(await watch()).toBe(0);
    expect(paths()).toEqual(['same.png', 'same-3.png', 'same-2.png', 'picture_00003_-2.png']);
  });

  it('is not looked for by run: each job has its own files', async () => {
    expect([await run(), await run()]).toEqual([0, 0]);
    expect(await readdir(join(folder, 'out'))).toHaveLength(8);
  });
});

describe('the exit code', () => {
  const error = {
    code: 'node_execution_error',
    message: 'too small\u001b[2J',
    node_id: '3',
    class_type: 'ImageScale',
    traceback: 'line 1\nline 2',
  };

  it('is 1 for a job that failed, with the node, the message and the traceback', async () => {
    ending(succeeded({ status: 'failed', error }));
    expect(await run()).toBe(1);
    expect(host.printed).toMatch(
      /node_execution_error in node 3 \(ImageScale\)\n {2}too small\n {2}line 1\n {2}line 2/,
    );
  });

  it('is 4 for a canceled job and 5 for an expired one', async () => {
    ending(succeeded({ status: 'canceled' }));
    expect(await run()).toBe(4);
    ending(succeeded({ status: 'expired', error: { code: 'execution_timeout', message: 'out of time' } }));
    expect(await run()).toBe(5);
  });

  it('is 2 for what is wrong on this side, and nothing is sent', async () => {
    expect(await run('--set', '9.x=1')).toBe(2);
    expect(await run('--input', '1.image=/no/such.png')).toBe(2);
    expect(await run('--label', '=')).toBe(2);
    expect(await run('--no-such-flag')).toBe(2);
    expect(await run('--max-wait', 'long')).toBe(2);
    expect(service.received).toHaveLength(0);
  });

  it('is 2 for a file that is missing beside one that is there, which is not uploaded', async () => {
    expect(await run('--input', `1.image=${graph}`, '--input', '3.image=/no/such.png')).toBe(2);
    expect(host.noted).toContain('/no/such.png cannot be read: no such file.');
    expect(service.received).toHaveLength(0);
  });

  it('is 2 for a folder that nothing can be saved in, before anything is run', async () => {
    expect(await run('--out', join(graph, 'out'))).toBe(2);
    expect(host.noted).toMatch(/out cannot be written: .*\n.*→ Name another place/);
    expect(service.received).toHaveLength(0);
  });

  it.each([
    [401, 'unauthorized', true],
    [403, 'forbidden', true],
    [422, 'invalid_request', true],
    [404, 'not_found', false],
  ])(
    'is 3 where a running job can no longer be watched (%i), with its id, and whether it goes on',
    async (status, code, goesOn) => {
      const refused = refusal(status, code, 'No longer.');
      service.on(`GET ${JOB_PATH}/events`, refused).on(`GET ${JOB_PATH}`, refused);
      expect(await run('--json')).toBe(3);
      const { error } = JSON.parse(host.printed) as { error: { cure: string } };
      expect(error).toMatchObject({ code, job_id: JOB_ID });
      expect(error.cure.includes(`The job itself continues. Watch it again: millrace watch ${JOB_ID}`)).toBe(goesOn);
    },
  );

  it('is 6 when the service cannot be reached', async () => {
    await service.close();
    expect(await run()).toBe(6);
    expect(host.noted).toMatch(/cannot be reached[^]*Check the address/);
  });
});

describe('a refused submission', () => {
  it('shows each fault at its node and input, the cure and the request id, and exits with 3', async () => {
    const node_errors = {
      '3': [{ field: 'width', reason: 'below_min', message: 'width is 0; the least is 1.' }],
      '': [{ field: '', reason: 'no_outputs' }],
    };
    service.on(
      'POST /api/v2/jobs',
      refusal(422, 'invalid_workflow', 'Two faults.', {
        details: { node_errors },
        headers: { 'x-request-id': 'req-7' },
      }),
    );
    expect(await run()).toBe(3);
    for (const line of [
      /invalid_workflow \(422\) Two faults/,
      /node 3 \(ImageScale\)\n +width +below_min +width is 0/,
      /the graph\n +no_outputs/,
      /→ Correct these inputs/,
      /request id req-7/,
    ])
      expect(host.noted).toMatch(line);
  });

  it('is the error envelope on standard output under --json', async () => {
    service.on('POST /api/v2/jobs', refusal(402, 'insufficient_credits', 'No credits are left.'));
    expect(await runCli(['--json', 'run', graph], host)).toBe(3);
    expect(JSON.parse(host.printed)).toMatchObject({ error: { code: 'insufficient_credits', status: 402 } });
  });

  it('is tried again under the same key for as long as the service asks to wait', async () => {
    const full = refusal(429, 'queue_full', 'The queue is full.', { headers: { 'retry-after': '3' } });
    service.on('POST /api/v2/jobs', full, full, json(201, jobOf()));
    ending(succeeded());
    const startedMs = host.nowMs();
    expect(await run()).toBe(0);
    expect(host.nowMs() - startedMs).toBeGreaterThanOrEqual(5_900);
    const keys = service.requests('POST /api/v2/jobs').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(host.noted.match(/The queue is full/g)).toHaveLength(1);
  });

  it('is given up when the wait would be longer than --max-wait', async () => {
    service.on(
      'POST /api/v2/jobs',
      refusal(429, 'queue_full', 'The queue is full.', { headers: { 'retry-after': '30' } }),
    );
    expect(await run('--max-wait', '20')).toBe(3);
    expect(service.requests('POST /api/v2/jobs')).toHaveLength(1);
  });

  it('with an unknown outcome is not repeated; how to find the job is said', async () => {
    service.on('POST /api/v2/jobs', (response) => void response.destroy());
    expect(await run('--idempotency-key', 'my-key')).toBe(6);
    expect(service.requests('POST /api/v2/jobs')).toHaveLength(1);
    expect(host.noted).toMatch(/not known[^]*jobs ls[^]*--idempotency-key my-key/);
  });
});
