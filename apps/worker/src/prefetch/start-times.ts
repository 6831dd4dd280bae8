import type { OwnStart } from '@millrace/deployments';
import type { WarmUpTimes } from '../engines';

/**
 * The end of a start, measured from the start of the process: its engines are up by now. Models come while they boot, so that what
 * counts for their phase is how much longer they take.
 *
 * @param named resolves when the models that the deployment names are there, with whether it names any.
 */
export async function startTimes(named: Promise<boolean>, warmUp: () => Promise<WarmUpTimes>): Promise<OwnStart> {
  const bootMs = Math.round(performance.now());
  const namedMs = (await named) ? Math.round(performance.now()) - bootMs : null;
  const { modelsMs, warmUpMs } = await warmUp();
  return { bootMs, modelsMs: namedMs === null ? modelsMs : namedMs + (modelsMs ?? 0), warmUpMs };
}
