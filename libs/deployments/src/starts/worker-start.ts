/** The phases of a worker's start, in order. */
export type StartPhase = 'schedule' | 'pull' | 'boot' | 'models' | 'warm_up';

/** What a worker itself measures of its start, in whole milliseconds. Null: there was no such phase. */
export interface OwnStart {
  /** From the start of its process until its engines are up and what they can run is published. */
  bootMs: number;
  /** To bring the models of the library that its deployment and its warm-up name, as far as the start waited for them. */
  modelsMs: number | null;
  warmUpMs: number | null;
}

/** What comes before the worker's process, as what runs it says. Null: it does not say, or there was no such phase. */
export interface PlacedStart {
  /** Until there was a machine. */
  scheduleMs: number | null;
  /** From then until its containers ran: their images were fetched. */
  pullMs: number | null;
}

/** The start of one worker that became ready. */
export interface WorkerStart extends PlacedStart, Pick<OwnStart, 'modelsMs' | 'warmUpMs'> {
  workerId: string;
  poolId: string;
  /** Null for a worker of an earlier version of the service. */
  bootMs: number | null;
  readyAt: Date;
}

/** The duration of each phase of a start, in milliseconds; null where it was not measured. */
export function phasesOf(
  start: PlacedStart & Pick<WorkerStart, 'bootMs' | 'modelsMs' | 'warmUpMs'>,
): Record<StartPhase, number | null> {
  const { scheduleMs, pullMs, bootMs, modelsMs, warmUpMs } = start;
  return { schedule: scheduleMs, pull: pullMs, boot: bootMs, models: modelsMs, warm_up: warmUpMs };
}
