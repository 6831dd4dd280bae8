import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an address such as ada@example.com',
  datetime: 'a time with a zone, e.g. 2030-01-31T12:00:00Z',
  date: 'a day, e.g. 2030-01-31',
  base64: 'base64',
};

/** What sizes are counted in, by the type that has them. */
const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'items', record: 'keys' };

/**
 * Why a field is refused, in the words of this service, where its schema has none of its own: those of the library name its types.
 * Each goes on from the name of the field, or at the root from what all fields are of: "the body".
 */
export function reasonOf(issue: Issue, whole: string): string {
  const reason = ofField(issue);
  return (issue.path ?? []).length === 0 ? `${whole} ${reason}` : reason;
}

function ofField(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return missing(issue) ?? `must be ${TYPES[issue.expected] ?? 'of another type'}`;
    case 'invalid_value': {
      const choices = `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
      return issue.input === undefined ? `is required: ${choices}` : `must be ${choices}`;
    }
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${String(issue.pattern)}`
        : `must be ${FORMATS[issue.format] ?? issue.format}`;
    case 'unrecognized_keys':
      return `does not take ${issue.keys
        .slice(0, 10)
        .map((key) => key.slice(0, 80))
        .join(', ')}`;
    case 'invalid_key':
      return 'has a key of a form that is not taken';
    default:
      return missing(issue) ?? 'has none of the forms that are taken';
  }
}

function missing({ input }: Issue): string | null {
  return input === undefined ? 'is required' : null;
}

function bound(origin: string, how: string, limit: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${how} ${limit}`;
  return how === 'at least' && Number(limit) === 1 ? 'must not be empty' : `must have ${how} ${limit} ${unit}`;
}
