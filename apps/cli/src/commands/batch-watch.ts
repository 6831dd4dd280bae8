import { isTerminal, type JobStatus } from '@millrace/contracts';
import { type ApiClient, goingOn, recordOf, recordsOf, untilAnswered } from '../client';
import { readEvents } from '../follow';
import { ServiceRefusal } from '../process';
import { plainLine } from '../terminal';
import type { CommandContext } from './command-context';

/** A stream that is silent for so long is broken: a comment comes every 15 seconds. */
const SILENCE_MS = 45_000;

type Batch = Record<string, unknown>;

/** How a batch is followed: where its events and itself are, and what is written of its progress. */
interface Watched {
  events: URL;
  self: URL;
  /** Before a stream that broke is opened again. */
  pauseMs: number;
  /** What goes on where the service stays away or refuses, and how it is taken up again. */
  cure: string;
  noteProgress: (progress: unknown) => void;
}

/**
 * Follow a batch to its end, a line for each job that has ended. A stream that breaks is opened again; what it does not replay is read
 * from the list of the jobs.
 *
 * @returns the batch, completed.
 * @throws {ServiceRefusal} when it cannot be read, and {ServiceFailure} when the service stays away for five minutes.
 */
export async function watchBatch(context: CommandContext, api: ApiClient, watched: Watched): Promise<Batch> {
  const lines = new EndedJobs(context, api, watched);
  const read = (): Promise<unknown> => api.json(watched.self, { tries: 1 });
  for (;;) {
    const ended = await followOnce(api, watched, lines);
    if (ended !== null) return ended;
    const batch = recordOf(await untilAnswered(context.host, watched.cure, read));
    if (batch.status === 'completed') {
      await lines.catchUp(batch);
      return batch;
    }
    watched.noteProgress(batch.progress);
    await context.host.wait(watched.pauseMs);
  }
}

/** @returns the batch at its end; null when the stream ended before. */
async function followOnce(api: ApiClient, watched: Watched, lines: EndedJobs): Promise<Batch | null> {
  let isCaughtUp = false;
  for await (const { event, data } of messagesOf(api, watched)) {
    // The stream is open by now: what ends from here on is in it.
    if (event === 'status' && !isCaughtUp) {
      await lines.catchUp(data);
      isCaughtUp = true;
    }
    if (event === 'status' && data.status === 'completed') return data;
    if (event === 'status' || event === 'progress') watched.noteProgress(data.progress);
    if (event === 'job') lines.print(data);
  }
  return null;
}

/** The events of one stream until it ends, breaks or falls silent. @throws {ServiceRefusal} when it is refused for good. */
async function* messagesOf(
  api: ApiClient,
  { events, cure }: Watched,
): AsyncGenerator<{ event: string | undefined; data: Batch }> {
  const silence = new AbortController();
  const armed = (): NodeJS.Timeout => setTimeout(() => silence.abort(), SILENCE_MS);
  let timer = armed();
  try {
    for await (const message of readEvents(api, events, silence.signal)) {
      clearTimeout(timer);
      if (message !== null) yield { event: message.event, data: recordOf(message.data()) };
      timer = armed();
    }
  } catch (error) {
    if (error instanceof ServiceRefusal && error.facts.status !== 429) throw goingOn(error, cure);
  } finally {
    clearTimeout(timer);
  }
}

/** Prints a line for each job that has ended, once, whether the stream or the list has it; none under `--json`. */
class EndedJobs {
  private readonly printed = new Set<unknown>();

  constructor(
    private readonly context: CommandContext,
    private readonly api: ApiClient,
    private readonly watched: Watched,
  ) {}

  print({ batch_index: index, id, status }: Batch): void {
    if (this.context.asJson || this.printed.has(id)) return;
    this.printed.add(id);
    this.context.printer.lines([plainLine([index, id, status].map(String).join('  '))]);
  }

  /** Print those that ended while no stream was open. @throws as `untilAnswered`. */
  async catchUp({ counts }: Batch): Promise<void> {
    if (
      this.context.asJson ||
      !Object.entries(recordOf(counts)).some(([status, jobs]) => hasEnded(status) && jobs !== 0)
    )
      return;
    const page = new URL(`${this.watched.self.href}/jobs?limit=100`);
    for (;;) {
      const read = (): Promise<unknown> => this.api.json(page, { tries: 1 });
      const { jobs, next_cursor: next } = recordOf(await untilAnswered(this.context.host, this.watched.cure, read));
      for (const job of recordsOf(jobs)) if (hasEnded(job.status)) this.print(job);
      if (typeof next !== 'string') return;
      page.searchParams.set('cursor', next);
    }
  }
}

function hasEnded(status: unknown): boolean {
  return isTerminal(status as JobStatus);
}
