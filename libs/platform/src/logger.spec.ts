import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const MODULE = join(__dirname, '..', '..', '..', 'dist', 'libs', 'platform', 'src', 'logger.js');

/** What another process writes when it logs `record` with `message`. */
function logged(record: unknown, message: string): string {
  const script = `require(${JSON.stringify(MODULE)}).createLogger('api', 'info').info(JSON.parse(process.argv[1]), process.argv[2])`;
  return execFileSync(process.execPath, ['-e', script, JSON.stringify(record), message], { encoding: 'utf8' });
}

describe('a log line', () => {
  it('names its process, its time and its level, as one JSON object', () => {
    const line = JSON.parse(logged({ job: 'j-1' }, 'claimed')) as Record<string, unknown>;
    expect(line).toMatchObject({ level: 'info', role: 'api', job: 'j-1', msg: 'claimed' });
    expect(new Date(String(line.time)).getTime()).toBeGreaterThan(0);
  });

  it('hides credentials wherever they stand', () => {
    const secret = 'mr_live_secret';
    const record = {
      authorization: secret,
      request: { headers: { authorization: secret, cookie: secret }, token: secret },
      body: { extra_data: { api_key_vendor_org: secret } },
    };
    expect(logged(record, 'request failed')).not.toContain(secret);
  });

  it('cannot be forged by logged text: line breaks and terminal codes stay inside it', () => {
    const lines = logged({ name: 'a\r\n{"level":"fatal"}\u001b[2J' }, 'line\nbreak').trimEnd();
    expect(lines.split('\n')).toHaveLength(1);
    expect(lines).not.toContain('\u001b');
  });
});
