import { METADATA_KEY, METADATA_LIMITS } from '@millrace/contracts';
import { UsageFailure } from '../../process';

/** `10.image=photo.png`: the input and its value. `asJson` is true for `:=`. */
export interface Assignment {
  target: string;
  value: string;
  asJson: boolean;
}

/** @throws {UsageFailure} */
export function parseAssignment(text: string, flag: string): Assignment {
  const at = text.indexOf('=');
  const asJson = text[at - 1] === ':';
  const target = text.slice(0, asJson ? at - 1 : at).trim();
  if (at > 0 && /.\../.test(target)) return { target, value: text.slice(at + 1), asJson };
  throw new UsageFailure(
    `${flag} ${JSON.stringify(text)} does not name an input.`,
    `Write ${flag} <node id>.<input>=<value>.`,
  );
}

/**
 * Labels of a job, within the contract's limits (wire supplement, section 1).
 *
 * @throws {UsageFailure}
 */
export function parseLabels(texts: string[]): [string, string][] {
  const labels = new Map<string, string>();
  for (const text of texts) {
    const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (!METADATA_KEY.test(key))
      throw new UsageFailure(
        `--label ${JSON.stringify(text)} has no valid key.`,
        'Write --label key=value, the key up to 40 letters, digits, "_", "." or "-".',
      );
    if ([...value].length > METADATA_LIMITS.valueLength)
      throw new UsageFailure(
        `The label ${key} is longer than ${METADATA_LIMITS.valueLength} characters.`,
        'Shorten it.',
      );
    labels.set(key, value);
  }
  if (labels.size > METADATA_LIMITS.pairs)
    throw new UsageFailure(`A job has at most ${METADATA_LIMITS.pairs} labels.`, 'Leave some out.');
  return [...labels];
}
