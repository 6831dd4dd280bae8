import { z } from 'zod';
import { integer, readSettings, secretSetting, setting, sharedSetting, SettingsError } from './settings';

const shape = {
  lease: setting('LEASE_SECONDS', 'Seconds.', integer({ min: 3, max: 60 }).default(10)),
  token: secretSetting('TOKEN', 'A token.', z.string().min(8, 'must be at least 8 characters').optional()),
  database: sharedSetting('DATABASE_URL', 'Where.', z.string()),
};

const faultsOf = (env: NodeJS.ProcessEnv): string[] => {
  try {
    readSettings(shape, env);
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
  }
  return [];
};

describe('the settings of a process', () => {
  it('are read by their full names, with defaults where they are unset', () => {
    const env = { DATABASE_URL: 'postgres://x', MILLRACE_LEASE_SECONDS: '15', MILLRACE_TOKEN: '' };
    expect(readSettings(shape, env)).toEqual({ lease: 15, token: undefined, database: 'postgres://x' });
    expect(readSettings(shape, { DATABASE_URL: 'postgres://x' }).lease).toBe(10);
  });

  it('are refused all at once, each in a sentence with its name', () => {
    expect(faultsOf({ MILLRACE_LEASE_SECONDS: 'soon' })).toEqual([
      'MILLRACE_LEASE_SECONDS=soon is not valid: must be a whole number.',
      'DATABASE_URL is not set, and has no default.',
    ]);
  });

  it.each([
    ['2', 'must be at least 3'],
    ['61', 'must be at most 60'],
    ['10.5', 'must be a whole number'],
    ['1e1', 'must be a whole number'],
    [' 10', 'must be a whole number'],
  ])('take whole numbers within their bounds: %p', (text, reason) => {
    expect(faultsOf({ DATABASE_URL: 'x', MILLRACE_LEASE_SECONDS: text })[0]).toContain(reason);
  });

  it('never show a secret, not even a wrong one', () => {
    expect(faultsOf({ DATABASE_URL: 'x', MILLRACE_TOKEN: 'hunter2' })).toEqual([
      'MILLRACE_TOKEN is not valid: must be at least 8 characters.',
    ]);
  });
});
