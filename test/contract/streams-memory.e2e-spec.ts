import { execFile } from 'node:child_process';
import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { ApiClient, TestStack, eventually } from '@millrace/testing';
const STREAMS = 1_000;
const ALLOWED_MB = 40;
/** Streams opened at once, each of another job. */
const AT_ONCE = 50;

let stack: TestStack;
beforeAll(async () => {
  stack = await TestStack.start({ settings: { MILLRACE_MAX_STREAMS_PER_ACCOUNT: '5000' } });
  // The jobs stay queued: their streams are quiet and stay open.
  await stack.workers[0]?.end();
});
afterAll(() => stack.stop());

const residentMb = async (pid: number): Promise<number> => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1_024;
};

/** Two equal readings of the memory, half a second apart: no event says when a garbage collection is over. */
const settled = async (pid: number): Promise<number> => {
  let [before, now] = [0, await residentMb(pid)];
  await eventually('the memory to settle', async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    [before, now] = [now, await residentMb(pid)];
    return Math.abs(now - before) < 1;
  });
  return now;
};

describe('a thousand open streams', () => {
  it(`cost their process less than ${ALLOWED_MB} MB, and are all given back`, async () => {
    const account = await stack.createAccount(1_000_000_000_000, { queue_limit: 10_000 });
    const client = new ApiClient(stack.publicUrl, account.apiKey);
    const graph = {
      '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    };
    const ids: string[] = [];
    for (let nth = 0; nth < AT_ONCE; nth += 1) ids.push((await client.run(graph)).id);
    const openOne = async (nth: number): Promise<IncomingMessage> => {
      const url = `${stack.publicUrl}/api/v2/jobs/${ids[nth % ids.length]}/events`;
      const request = get(url, { agent: false, headers: { authorization: `Bearer ${account.apiKey}` } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
      return response.resume();
    };
    const open = async (count: number): Promise<IncomingMessage[]> => {
      const streams: IncomingMessage[] = [];
      while (streams.length < count) {
        streams.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => openOne(nth)))));
      }
      return streams;
    };
    const gauge = async (): Promise<string | undefined> => {
      const metrics = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
      return /^millrace_streams_open(?:\{[^}]*\})? (\d+)$/m.exec(metrics)?.[1];
    };
    for (const stream of await open(200)) stream.destroy();
    await eventually('the first to be gone', async () => (await gauge()) === '0');
    const before = await settled(stack.api.pid);
    const streams = await open(STREAMS);
    expect(await gauge()).toBe(String(STREAMS));
    const grownMb = (await settled(stack.api.pid)) - before;
    for (const stream of streams) stream.destroy();
    await eventually('all to be gone', async () => (await gauge()) === '0');
    process.stdout.write(`${STREAMS} open streams: ${grownMb.toFixed(1)} MB\n`);
    expect(grownMb).toBeLessThan(ALLOWED_MB);
  });
});
