import { FakeHost } from '../fixtures/fake-host';
import { JOB_ID, JOB_PATH, jobOf, succeeded } from '../fixtures/sample-jobs';
import { events, json, refusal, StandInService, type Answer } from '../fixtures/stand-in-service';
import { runCli } from '../program';

const EVENTS = `GET ${JOB_PATH}/events`;
const READ = `GET ${JOB_PATH}`;
const RUNNING = jobOf({ status: 'running' });
const torn: Answer = (response) => void response.destroy();

let service: StandInService;
let host: FakeHost;

beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 500 });
  service.on(READ, json(200, RUNNING));
});

afterEach(() => service.close());

function watch(): Promise<number> {
  return runCli(['watch', JOB_ID], host);
}

describe('watching a job to its end', () => {
  it('needs no stream at all: a service that has none is polled', async () => {
    service.on(EVENTS, refusal(404, 'not_found', 'No stream here.'));
    service.on(READ, json(200, RUNNING), json(200, RUNNING), json(200, RUNNING), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(1);
  });

  it('goes on by polls when the stream is cut, and finds the end that the stream did not bring', async () => {
    service.on(EVENTS, events([['status', RUNNING]], 'cut'), torn);
    service.on(READ, json(200, RUNNING), json(200, RUNNING), json(200, succeeded()));
    expect(await watch()).toBe(0);
  });

  it('opens the stream again after a cut', async () => {
    service.on(EVENTS, torn, events([['status', RUNNING]], 'cut'), events([['status', succeeded()]]));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(3);
  });

  it('asks when the stream is open and silent', async () => {
    service.on(EVENTS, events([['status', RUNNING]], 'open'));
    service.on(READ, json(200, RUNNING), json(200, RUNNING), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(1);
  });

  it('polls when the stream sends heartbeats and no events', async () => {
    service.on(EVENTS, events([['status', RUNNING]], 'beat'));
    service.on(READ, json(200, RUNNING), json(200, RUNNING), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(1);
  });

  it('gives up a stream that has not sent a byte, and opens another', async () => {
    service.on(EVENTS, events([['status', RUNNING]], 'open'), events([['status', succeeded()]]));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(2);
  });

  it('survives a service that is away for a while', async () => {
    service.on(EVENTS, torn, torn, events([['status', succeeded()]]));
    service.on(READ, json(200, RUNNING), torn, json(503, {}), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(host.noted).toContain('unreachable');
  });

  it('goes on after the machine has slept, although the first read fails and the next one, too', async () => {
    service.on(EVENTS, torn, torn, torn, events([['status', succeeded()]]));
    const wakes: Answer = (response) => {
      host.jump(600_000);
      response.destroy();
    };
    service.on(READ, json(200, RUNNING), wakes, wakes, json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(host.noted).not.toContain('five minutes');
  });

  it('waits as long as it is asked to before it opens one stream too many again', async () => {
    service.on(EVENTS, refusal(429, 'too_many_streams', 'Too many.', { headers: { 'retry-after': '60' } }));
    service.on(READ, ...Array.from({ length: 4 }, () => json(200, RUNNING)), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(service.requests(EVENTS)).toHaveLength(1);
  });

  it('is not misled by an answer that is older than what it has seen', async () => {
    service.on(EVENTS, events([['status', RUNNING]]), events([['status', succeeded()]]));
    service.on(READ, json(200, RUNNING), json(200, jobOf()), json(200, succeeded()));
    expect(await watch()).toBe(0);
    expect(host.noted.split('\n').filter((line) => line === 'queued')).toHaveLength(0);
  });

  it('ends when the job is gone', async () => {
    service.on(EVENTS, torn);
    service.on(READ, json(200, RUNNING), refusal(404, 'not_found', 'No such job.'));
    expect(await watch()).toBe(3);
  });

  it('goes on by polls where the key may not open the stream', async () => {
    service.on(EVENTS, refusal(403, 'forbidden', 'Not this.'));
    service.on(READ, json(200, RUNNING), json(200, RUNNING), json(200, succeeded()));
    expect(await watch()).toBe(0);
  });

  it('says how to take it up again where the key ends meanwhile, as nothing else can be done with it', async () => {
    service.on(EVENTS, refusal(401, 'unauthorized', 'The key has ended.'));
    service.on(READ, json(200, RUNNING), refusal(401, 'unauthorized', 'The key has ended.'));
    expect(await watch()).toBe(3);
    expect(host.noted).toMatch(
      new RegExp(`→ Give a key that works[^]*The job itself continues\\. .*millrace watch ${JOB_ID}`),
    );
  });

  it('stops after five minutes without any answer, and says that the job goes on', async () => {
    host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 5000 });
    service.on(EVENTS, torn);
    service.on(READ, json(200, RUNNING), torn);
    expect(await watch()).toBe(6);
    expect(host.noted).toMatch(/has not answered for five minutes[^]*millrace watch/);
    expect(host.noted.match(/is unreachable/g)).toHaveLength(1);
  });

  it('takes a stream that talks nonsense for a broken one', async () => {
    service.on(EVENTS, events([['status', { id: 'no job' }]], 'open'), events([['status', succeeded()]]));
    expect(await watch()).toBe(0);
  });
});
