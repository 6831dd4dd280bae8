import { boolean, string } from '../../node-api/node-input';
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

/** @throws {RegexSyntaxError} {RegexUnsupported} */
export function regexOf({ regex_pattern, case_insensitive, multiline, dotall }: RegexInputs): PythonRegex {
  return new PythonRegex(regex_pattern, { ignoreCase: case_insensitive, multiline, dotAll: dotall });
}

/** What `use` makes of the expression; null when it is none, which these nodes take for "no match". */
export function withRegex<T>(inputs: RegexInputs, use: (regex: PythonRegex) => T): T | null {
  try {
    return use(regexOf(inputs));
  } catch (error) {
    if (error instanceof RegexSyntaxError) return null;
    throw error;
  }
}
