import type { ReadValue } from '../values/typed-value';

/** A field of a request, and how it is given on the command line. */
export interface TypedField {
  /** Its name in the body, or in the query of a read. */
  field: string;
  /** An argument, `<reason>`, or a flag, `--weight <number>`. */
  typed: string;
  text: string;
  /** Reads the text; without it the text itself is sent. */
  read?: ReadValue;
}

/** One verb of the admin API. */
export interface AdminVerb {
  name: string;
  text: string;
  /** Method and path under `/admin/v1`, as in the API description. */
  route: `${AdminMethod} /${string}`;
  /** Arguments that replace the path's braces. */
  ids?: string[];
  /** Further arguments. */
  args?: TypedField[];
  flags?: TypedField[];
  isList?: boolean;
  /** Of a list: the fields that matter most. */
  first?: readonly string[];
  /** The answer is a file: it is saved under this name, or where `--out` says. */
  saves?: string;
  /** True where sending it again under the same Idempotency-Key changes nothing. */
  takesKey?: boolean;
}
export type AdminMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function list(name: string, text: string, route: AdminVerb['route'], more: Partial<AdminVerb> = {}): AdminVerb {
  return { name, text, route, isList: true, ...more };
}

/** A verb on one record. */
export function on(noun: string, name: string, text: string, route: AdminVerb['route']): AdminVerb {
  return { name, text, route, ids: [noun] };
}

/** `running_limit` is typed `--running-limit`. An empty shape is a switch. */
export function flag(field: string, shape: string, text: string, read?: ReadValue): TypedField {
  return { field, typed: `--${field.replaceAll('_', '-')} ${shape}`.trimEnd(), text, read };
}

export function argument(field: string, name: string, text: string, read?: ReadValue): TypedField {
  return { field, typed: `<${name}>`, text, read };
}

/** A sentence of the API's description as the help writes it: `Jobs that wait.` is `jobs that wait`. */
export function inHelp(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}
