import { RETRY_CODES, RETRY_LIMITS, REUSE_MODES } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import { type ApiClient, recordOf } from '../client';
import { UsageFailure } from '../process';
import type { Bind, CommandContext } from './command-context';
import { parserOf, wholeNumber } from './values/typed-value';

interface SetFlags {
  retryMax?: number;
  retryOn?: string[];
  retryPause?: number;
  reuse?: string;
}

const MAX = parserOf('--retry-max', wholeNumber(0, RETRY_LIMITS.retries));
const PAUSE = parserOf('--retry-pause', wholeNumber(0, RETRY_LIMITS.pauseSeconds, 'seconds'));

export function addDefaults(program: Command, bind: Bind): void {
  const defaults = program
    .command('defaults')
    .description('what applies to submissions of your account that do not say it')
    .action(bind(show));
  defaults
    .command('set')
    .description('set it, for all keys of the account')
    .option('--retry-max <number>', 'how often a failed job is tried again; 0: not at all', MAX)
    .addOption(new Option('--retry-on <codes...>', 'which failures are tried again').choices(RETRY_CODES))
    .option('--retry-pause <seconds>', 'pause before each retry', PAUSE)
    .addOption(new Option('--reuse <mode>', 'whether earlier outputs answer a job').choices([...REUSE_MODES, 'off']))
    .action(bind(set));
}

const read = async (api: ApiClient): Promise<Record<string, unknown>> => recordOf(await api.json(urlOf(api)));
const urlOf = (api: ApiClient): URL => api.platform('/account/submission-defaults');

async function show(context: CommandContext): Promise<void> {
  const { api } = await context.clients();
  context.printRecord(await read(api));
}

/** What no flag names stays as it is. */
async function set(context: CommandContext, flags: SetFlags): Promise<void> {
  const changes = { ...retryChange(flags), ...(flags.reuse === undefined ? {} : { reuse: reuseOf(flags.reuse) }) };
  if (Object.keys(changes).length === 0) {
    throw new UsageFailure('There is nothing to set.', 'See millrace defaults set --help.');
  }
  const { api } = await context.clients();
  const json = { ...(await read(api)), ...changes };
  context.printRecord(recordOf(await api.json(urlOf(api), { method: 'PUT', json })));
}

const reuseOf = (mode: string): string | null => (mode === 'off' ? null : mode);

function retryChange({ retryMax: max, retryOn: on, retryPause: pause }: SetFlags): { retry?: object | null } {
  if (max === undefined && (on !== undefined || pause !== undefined)) {
    throw new UsageFailure(
      '--retry-on and --retry-pause need --retry-max.',
      'Say how often a failed job is tried again.',
    );
  }
  if (max === undefined) return {};
  if (max > 0 && on === undefined) {
    throw new UsageFailure('--retry-max needs --retry-on.', `Name what is tried again, of ${RETRY_CODES.join(', ')}.`);
  }
  return { retry: max === 0 ? null : { max, on, ...(pause === undefined ? {} : { pause_seconds: pause }) } };
}
