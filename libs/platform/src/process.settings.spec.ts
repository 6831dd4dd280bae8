import { createLogger } from './logger';
import { processSettings, startingLogLevel } from './process.settings';
import { readSettings } from './settings';

it('begins with the level that is asked for', () => {
  expect(startingLogLevel({ MILLRACE_LOG_LEVEL: 'debug' })).toBe('debug');
  expect(startingLogLevel({})).toBe('info');
});

it.each(['verbose', 'INFO', ''])(
  'begins where the level is %j, and names it among the settings that are wrong',
  (level) => {
    const environment = { MILLRACE_LOG_LEVEL: level, MILLRACE_OPS_PORT: 'none' };
    expect(() => createLogger('test', startingLogLevel(environment))).not.toThrow();
    const read = (): unknown => readSettings(processSettings, environment);
    expect(read).toThrow('MILLRACE_OPS_PORT');
    if (level !== '') expect(read).toThrow('MILLRACE_LOG_LEVEL');
  },
);
