import fc from 'fast-check';
import { RunLog, type RunLogOptions } from './run-log';

function logOf(
  writes: string[],
  options: Partial<RunLogOptions> = {},
  begins = false,
): { text: string; events: string[]; deadThreads: number; driverErrors: string[] } {
  const events: string[] = [];
  const driverErrors: string[] = [];
  let deadThreads = 0;
  const listener = {
    onText: (text: string) => events.push(text),
    onDeadThread: () => (deadThreads += 1),
    onDriverError: (message: string) => driverErrors.push(message),
  };
  const log = new RunLog(listener, { tailBytes: 1_000, scrub: (text) => text, beginsAtPost: true, ...options });
  if (begins) log.begin();
  for (const text of writes) log.write(text);
  log.close();
  return { text: events.join(''), events, deadThreads, driverErrors };
}

describe('the log of a run', () => {
  it('is what is printed between the server’s own words', () => {
    const server = ['earlier\ngot prompt\n', 'a\n', 'b\nPrompt executed in 0.11 seconds\n', 'later\n'];
    expect(logOf(server).text).toBe('a\nb\n');
  });

  it('ends with what has no line break, in front of the server’s word too', () => {
    expect(logOf(['got prompt\na', 'bPrompt executed in 00:12:01\n']).text).toBe('ab');
    expect(logOf(['got prompt\nab']).text).toBe('ab');
  });

  it('begins with the run’s own message where others post too', () => {
    const writes = ['got prompt\ntheirs\n'];
    expect(logOf(writes, { beginsAtPost: false }).text).toBe('');
    expect(logOf(['mine\n'], { beginsAtPost: false }, true).text).toBe('mine\n');
  });

  it('is the same where the server colours its own words and tags each line with its level', () => {
    const [esc, tag] = ['\u001b', '\u001b[32m[INFO]\u001b[0m '];
    const server = [`${tag}got prompt\n`, `a\n${tag}b\n`, `${esc}[1m${esc}[33m[WARNING]${esc}[0m c\n`];
    const end = `${tag}${esc}[32mPrompt executed in 0.11 seconds${esc}[0m\n`;
    expect(logOf([...server, `d${end}`, 'later\n']).text).toBe('a\nb\nc\nd');
    expect(logOf([...server, end, 'later\n']).text).toBe('a\nb\nc\n');
    expect(logOf([`${tag}got prompt\n`, `${tag}no break`]).text).toBe('no break');
    expect(logOf([`${tag}got prompt\n`, `${esc}[31mof the code${esc}[0m\n`]).text).toBe(
      `${esc}[31mof the code${esc}[0m\n`,
    );
  });

  it('has the last version of a line that is written over', () => {
    expect(logOf(['got prompt\n', '\r 0%|  |', '\r 50%|█ |', '\r100%|██|\nnext\r\n']).text).toBe('100%|██|\nnext\n');
  });

  it('is the same however the text arrives in pieces', () => {
    const whole = 'got prompt\none\ntwo é\n\rthree\n\nPrompt executed in 1.00 seconds\n';
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end));
        expect(logOf(pieces).text).toBe('one\ntwo é\nthree\n\n');
      }),
    );
  });

  it('keeps the end of what is too long, cut between characters', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at} é\n`).join('');
    const { text } = logOf(['got prompt\n', lines], { tailBytes: 100 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100);
    expect(lines.endsWith(text)).toBe(true);
    expect(text.endsWith('line 499 é\n')).toBe(true);
    expect(logOf(['got prompt\n', 'é'.repeat(500)], { tailBytes: 5 }).text).toBe('éé');
  });

  it('is scrubbed no further than it is kept', () => {
    const scrubbed: number[] = [];
    const scrub = (text: string): string => (scrubbed.push(text.length), text);
    const slashes = '/'.repeat(1_000_000);
    logOf(['got prompt\n', slashes, `${slashes}\n`, slashes], { tailBytes: 100, scrub });
    expect(Math.max(...scrubbed)).toBeLessThanOrEqual(200);
  });

  it('hides a secret before it cuts', () => {
    const scrub = (text: string): string => text.replaceAll('secret', '[x]');
    expect(logOf(['got prompt\n', 'a secret\n'], { tailBytes: 5, scrub }).text).toBe('[x]\n'.padStart(5));
  });

  it('reports the end of the thread that runs prompts', () => {
    expect(logOf(['Exception in thread Thread-1 (prompt_worker):\n']).deadThreads).toBe(1);
    expect(logOf(['Exception in thread Thread-7 (other):\n']).deadThreads).toBe(0);
  });

  it('reports what the driver of the GPU said as the process ended', () => {
    const printed = "terminate called after throwing an instance of 'c10::AcceleratorError'\n  what():  ";
    const errorsIn = (text: string): string[] => logOf(['got prompt\n', `${printed}${text}\n`]).driverErrors;
    expect(errorsIn('CUDA error: device-side assert triggered')).toEqual(['CUDA error: device-side assert triggered']);
    expect(errorsIn('std::bad_alloc')).toEqual([]);
  });

  it('is waited for until it shows the end', async () => {
    const log = new RunLog(
      { onText: () => undefined, onDeadThread: () => undefined, onDriverError: () => undefined },
      { tailBytes: 9, scrub: String, beginsAtPost: true },
    );
    log.write('got prompt\n');
    const ended = log.whenEnded(3_600_000);
    log.write('Prompt executed in 0.01 seconds\n');
    await ended;
    log.close();
  });
});
