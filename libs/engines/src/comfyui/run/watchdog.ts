import type { ComfyuiBounds } from '../comfyui.config';

/** What is known of a run at one moment. Times are milliseconds of one monotonic clock. */
export interface RunFacts {
  nowMs: number;
  postedMs: number;
  /** The last message of the run's own. What is printed is no sign: nothing ties it to a run, and a thread in the background prints on. */
  lastSignMs: number;
  /** Where the server has the run; `unknown` while it does not answer. */
  place: 'pending' | 'running' | 'gone' | 'unknown';
  /** Something else runs there. */
  isBehindAnother: boolean;
  /** Since when no request was answered; null while the last one was. */
  unreachableSinceMs: number | null;
  /** When the log said that the thread that runs prompts ended; null when it did not. */
  deadThreadMs: number | null;
  /** How often the socket was opened again since the last sign. */
  reopened: number;
}

/** `isHung`: the server begins no run any more. Taken out of its queue, this one would make way for the next to be lost. */
export type Judgement = { kind: 'wait' } | { kind: 'reopen' } | { kind: 'lost'; reason: string; isHung: boolean };

type WatchdogBounds = Pick<
  ComfyuiBounds,
  'muteMs' | 'silenceMs' | 'stuckMs' | 'deadThreadMs' | 'foreignMs' | 'unreachableMs'
>;

/**
 * What to do about a run. HTTP that answers proves nothing: the one thread that runs prompts can be gone while every route
 * works and the run stays in the queue forever. Only silence shows it.
 */
export function judge(facts: RunFacts, bounds: WatchdogBounds): Judgement {
  const { nowMs, place, unreachableSinceMs, deadThreadMs } = facts;
  const silentMs = nowMs - facts.lastSignMs;
  if (place === 'gone') {
    return lost('ComfyUI no longer knows the run: it was restarted, or somebody deleted the run from its queue.');
  }
  if (unreachableSinceMs !== null && nowMs - unreachableSinceMs >= bounds.unreachableMs) {
    return lost(`ComfyUI has not answered for ${seconds(nowMs - unreachableSinceMs)}.`);
  }
  if (deadThreadMs !== null && facts.lastSignMs <= deadThreadMs && nowMs - deadThreadMs >= bounds.deadThreadMs) {
    return hung('The thread of ComfyUI that runs prompts has ended.');
  }
  if (place === 'pending') return judgePending(facts, bounds);
  if (silentMs >= bounds.silenceMs) return lost(`ComfyUI has said nothing about the run for ${seconds(silentMs)}.`);
  return silentMs >= bounds.muteMs * 2 ** facts.reopened ? { kind: 'reopen' } : { kind: 'wait' };
}

function judgePending({ nowMs, postedMs, isBehindAnother }: RunFacts, bounds: WatchdogBounds): Judgement {
  const waitedMs = nowMs - postedMs;
  if (isBehindAnother) {
    return waitedMs >= bounds.foreignMs
      ? lost(`The run waited ${seconds(waitedMs)} behind another.`)
      : { kind: 'wait' };
  }
  return waitedMs >= bounds.stuckMs
    ? hung(`The run has waited ${seconds(waitedMs)} although nothing else runs: ComfyUI's worker thread has ended.`)
    : { kind: 'wait' };
}

function lost(reason: string): Judgement {
  return { kind: 'lost', reason, isHung: false };
}

function hung(reason: string): Judgement {
  return { kind: 'lost', reason, isHung: true };
}

function seconds(ms: number): string {
  return `${Number((ms / 1000).toPrecision(3))} s`;
}
