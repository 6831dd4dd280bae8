import pino from 'pino';
import { Shutdown } from './shutdown';

const silent = pino({ level: 'silent' });

describe('stopping a process', () => {
  it('closes what was opened last first, and goes on where a step fails', async () => {
    const shutdown = new Shutdown(silent);
    const closed: string[] = [];
    shutdown.add('database', () => void closed.push('database'));
    shutdown.add('broken', () => Promise.reject(new Error('it does not close')));
    shutdown.add('listener', async () => {
      await Promise.resolve();
      closed.push('listener');
    });
    expect(shutdown.begun).toBe(false);
    await shutdown.run('a test');
    expect(closed).toEqual(['listener', 'database']);
    expect(shutdown.begun).toBe(true);
  });

  it('happens once, however often it is asked for', async () => {
    const shutdown = new Shutdown(silent);
    let times = 0;
    shutdown.add('listener', () => void (times += 1));
    await Promise.all([shutdown.run('first'), shutdown.run('second')]);
    expect(times).toBe(1);
  });

  it('opens nothing more once it has begun, and does not come up', async () => {
    const shutdown = new Shutdown(silent);
    await shutdown.run('a test');
    expect(() => shutdown.add('listener', () => undefined)).toThrow('is stopping');
    expect(() => shutdown.up(60_000)).toThrow('is stopping');
  });
});
