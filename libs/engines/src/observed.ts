import type { EngineEvent, EngineResult, EngineRunContext } from './engine';

/**
 * Run with an observer that may throw, which ends the run: a run that nobody can follow any more is interrupted, and lost. Without
 * it the error would surface in the socket or pipe that the event came from, and end the process.
 *
 * @param run settles as an engine's run does; never rejects.
 */
export async function observed(
  context: EngineRunContext,
  run: (context: EngineRunContext) => Promise<EngineResult>,
): Promise<EngineResult> {
  const fault = new AbortController();
  const onEvent = (event: EngineEvent): void => {
    if (fault.signal.aborted) return;
    try {
      context.onEvent(event);
    } catch (error) {
      fault.abort(error);
    }
  };
  const result = await run({ signal: AbortSignal.any([context.signal, fault.signal]), onEvent });
  return fault.signal.aborted ? { status: 'lost', reason: 'its events could not be received' } : result;
}
