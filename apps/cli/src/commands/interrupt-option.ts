import { Option } from 'commander';
import type { Clients } from '../client';
import {
  type Cancellation,
  INTERRUPT_POLICIES,
  InterruptGuard,
  type InterruptPolicy,
  type ProgressView,
} from '../follow';
import { CliFailure, ServiceFailure, wasNotSent } from '../process';
import { failureLines } from '../terminal';
import type { CommandContext } from './command-context';

/** `--on-interrupt`, for commands that watch a job. */
export function interruptOption(preset: InterruptPolicy): Option {
  const text = 'what the first Ctrl-C does to the job; a second one leaves at once';
  return new Option('--on-interrupt <choice>', text).choices(INTERRUPT_POLICIES).default(preset);
}

/** Ctrl-C for a command that has, or is about to have, a job. */
export function guardFor(
  { host, printer }: CommandContext,
  { jobs }: Clients,
  view: ProgressView,
  policy: InterruptPolicy,
): InterruptGuard {
  const failed = (error: unknown): Cancellation => {
    if (!(error instanceof CliFailure)) throw error;
    for (const line of failureLines(error, printer.paintNote)) view.note(line);
    return error instanceof ServiceFailure && !wasNotSent(error) ? 'unknown' : 'failed';
  };
  return new InterruptGuard(host, {
    note: (line) => view.note(`${printer.paintNote.warn('■')} ${line}`),
    cancel: policy === 'cancel' ? (job) => jobs.cancel(job).then(() => 'requested', failed) : undefined,
  });
}

/** Run what makes something that no job is watched of; Ctrl-C meanwhile waits for the answer first, and a second one leaves at once. */
export async function withGuard<T>(
  { host, printer }: CommandContext,
  run: (guard: InterruptGuard) => Promise<T>,
): Promise<T> {
  const guard = new InterruptGuard(host, { note: (line) => printer.notes(`${printer.paintNote.warn('■')} ${line}`) });
  return guard.guarding(() => run(guard));
}

/** On a terminal, what Ctrl-C will do. */
export function interruptNote({ host, printer }: CommandContext, policy: InterruptPolicy): string {
  if (!host.stderr.isTTY) return '';
  const text = policy === 'cancel' ? 'Ctrl-C cancels it' : 'Ctrl-C leaves it running';
  return `  ${printer.paintNote.faint(text)}`;
}
