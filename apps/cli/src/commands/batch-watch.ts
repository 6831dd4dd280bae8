import { type ApiClient, goingOn, recordOf, untilAnswered } from '../client';
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
 * Follow a batch to its end, a line for each job that ends. A stream that breaks is opened again; what was missed meanwhile is in the
 * batch.
 *
 * @returns the batch, completed.
 * @throws {ServiceRefusal} when it cannot be read, and {ServiceFailure} when the service stays away for five minutes.
 */
export async function watchBatch(context: CommandContext, api: ApiClient, watched: Watched): Promise<Batch> {
  for (;;) {
    const ended = await followOnce(context, api, watched).catch((error: unknown) => {
      if (error instanceof ServiceRefusal && error.facts.status !== 429) throw goingOn(error, watched.cure);
      return null;
    });
    const read = (): Promise<unknown> => api.json(watched.self, { tries: 1 });
    const batch = ended ?? recordOf(await untilAnswered(context.host, watched.cure, read));
    if (batch.status === 'completed') return batch;
    watched.noteProgress(batch.progress);
    await context.host.wait(watched.pauseMs);
  }
}

/** @returns the batch at its end; null when the stream ended before. */
async function followOnce(
  { asJson, printer }: CommandContext,
  api: ApiClient,
  { events, noteProgress }: Watched,
): Promise<Batch | null> {
  const silence = new AbortController();
  const giveUp = (): void => silence.abort();
  let timer = setTimeout(giveUp, SILENCE_MS);
  try {
    for await (const message of readEvents(api, events, silence.signal)) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE_MS);
      if (message === null) continue;
      const { event } = message;
      const data = recordOf(message.data());
      if (event === 'status' && data.status === 'completed') return data;
      if (event === 'status' || event === 'progress') noteProgress(data.progress);
      if (event === 'job' && !asJson) printer.lines([jobLine(data)]);
    }
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function jobLine({ batch_index: index, id, status }: Batch): string {
  return plainLine([index, id, status].map(String).join('  '));
}
