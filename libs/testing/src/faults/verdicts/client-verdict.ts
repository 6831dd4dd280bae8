import { CLIENT_CHECKS, type History } from '../load';
import type { Verdict } from '../verdict-of';

/** What clients saw themselves, by check: on what each had to look at. */
export function clientVerdicts({ breaches, checked }: Pick<History, 'breaches' | 'checked'>): Verdict[] {
  return CLIENT_CHECKS.map((invariant) => ({
    invariant,
    checked: checked[invariant],
    breaches: breaches.filter(({ check }) => check === invariant),
  }));
}
