import { boolean, string } from '../../node-api/node-input';
import type { NodeContext } from '../../node-api/node-context';
import { RegexSyntaxError } from '../../python/regex/regex-error';
import { PythonRegex } from '../../python/regex/regex';

/** The inputs that all regular expression nodes begin with. */
export const SUBJECT_INPUTS = { string: string({ multiline: true }), regex_pattern: string({ multiline: true }) };

/** Their switches. */
export const FLAG_INPUTS = {
  case_insensitive: boolean(true),
  multiline: boolean(false),
  dotall: boolean(false),
};

interface RegexInputs {
  regex_pattern: string;
  case_insensitive: boolean;
  multiline: boolean;
  dotall: boolean;
}

const CURE =
  'Its pattern tries too many ways to match this text: avoid repetitions within repetitions such as (a+)+, or use a shorter text.';

/**
 * What `use` makes of the expression, all of it within the node's deadline.
 *
 * @throws {RegexSyntaxError} {RegexUnsupported} {NodeFault}
 */
export function runRegex<T>(inputs: RegexInputs, context: NodeContext, use: (regex: PythonRegex) => T): T {
  const { regex_pattern, case_insensitive, multiline, dotall } = inputs;
  const flags = { ignoreCase: case_insensitive, multiline, dotAll: dotall };
  return context.withinDeadline(() => use(new PythonRegex(regex_pattern, flags)), CURE);
}

/** The same; null where the pattern is no regular expression, which most of these nodes take for "no match". */
export function withRegex<T>(inputs: RegexInputs, context: NodeContext, use: (regex: PythonRegex) => T): T | null {
  try {
    return runRegex(inputs, context, use);
  } catch (error) {
    if (error instanceof RegexSyntaxError) return null;
    throw error;
  }
}
