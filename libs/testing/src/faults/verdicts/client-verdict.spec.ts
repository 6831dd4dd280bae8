import { History, StreamReading } from '../load';
import { clientVerdicts } from './client-verdict';

let history: History;
beforeEach(() => {
  history = new History();
});

const of = (check: string): { checked: number | null; details: string[] } | undefined => {
  const found = clientVerdicts(history).find(({ invariant }) => invariant === check);
  return found && { checked: found.checked, details: found.breaches.map(({ detail }) => detail) };
};
const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

it('clients that saw nothing have checked nothing', () => {
  expect(clientVerdicts(history).filter(({ checked }) => checked !== 0)).toEqual([]);
});

it('an answer to one call is a check of no stream, cancel or progress', () => {
  history.look('answers-are-json', '/api/v2/jobs', null);
  expect(clientVerdicts(history).filter(({ checked }) => checked !== 0)).toMatchObject([
    { invariant: 'answers-are-json', checked: 1 },
  ]);
});

describe('a cancel that was accepted', () => {
  it.each([
    ['canceling', 'canceled', []],
    ['canceled', 'canceled', []],
    ['canceling', 'succeeded', ['was canceling and ended succeeded']],
  ] as const)('that was answered with %s is checked when the job is seen %s', (answer, status, details) => {
    history.saw('a job', answer, null);
    expect(of('accepted-cancel-ends-canceled')).toEqual({ checked: 0, details: [] });
    history.saw('a job', status, null);
    expect(of('accepted-cancel-ends-canceled')).toEqual({ checked: 1, details });
  });
});

describe('a stream of events', () => {
  it('is read in pieces of any size, and its end is counted once', () => {
    const reading = new StreamReading('a job', history);
    const sent = `: alive\n\n${event('status', { status: 'running' })}${event('progress', { value: 0.5 })}${event('status', { status: 'succeeded' })}`;
    for (const unit of sent) reading.take(unit);
    expect(reading.hasEnded).toBe(true);
    expect(of('end-is-last')).toEqual({ checked: 1, details: [] });
    expect(of('events-are-json')).toEqual({ checked: 3, details: [] });
  });

  it.each(['event: status\ndata: {"status":\n\n', 'event: status\n\n', 'data: {}\n\n', 'event: status\ndata: 7\n\n'])(
    'that sends a malformed event breaks a promise: %j',
    (frame) => {
      new StreamReading('a job', history).take(frame);
      expect(of('events-are-json')?.details).toHaveLength(1);
    },
  );

  it('that goes on after the end, or back in progress, breaks a promise', () => {
    const reading = new StreamReading('a job', history);
    reading.take(event('progress', { value: 0.5 }) + event('progress', { value: 0.4 }));
    reading.take(event('status', { status: 'failed' }) + event('output', {}));
    expect(of('stream-never-goes-back')).toEqual({ checked: 2, details: ['sent 0.5 and then 0.4'] });
    expect(of('end-is-last')?.details).toEqual(['output came after the end']);
  });
});
