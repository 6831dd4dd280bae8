import { Refusal, beginningOf, isUuid } from '@millrace/contracts';
import type { JsonSchema } from './described';

/** A parameter of a path. */
export interface PathParameter {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Name of a parameter that several operations of the document share. */
  readonly component?: string;
  /** The kind of record that it names, e.g. `job`. */
  readonly record?: string;
  /** @throws Refusal `not_found` for a text that can name nothing. */
  read(text: string): string;
}

/** The parameters of a path by name. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<Rest>
  : unknown;

const SHOWN_CHARACTERS = 80;

/** The parameters of an endpoint's path, in the order in which they stand there. @throws when one is not defined. */
export function pathParametersOf({
  path,
  params = {},
}: {
  path: string;
  params?: Readonly<Record<string, PathParameter>>;
}): [name: string, parameter: PathParameter][] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const parameter = params[name];
    if (parameter === undefined) throw new Error(`the parameter ${name} of ${path} is not defined`);
    return [name, parameter];
  });
}

/**
 * The id of a record. A text that is no id names no record: that is not found, not malformed.
 *
 * @param record the kind of record, in one or two words that people read: `job`, `API key`.
 */
export function recordId(record: string, component?: string): PathParameter {
  return {
    description: `Id of the ${record}.`,
    schema: { type: 'string', format: 'uuid' },
    ...(component === undefined ? {} : { component }),
    record,
    read(text) {
      if (isUuid(text)) return text.toLowerCase();
      throw new Refusal('not_found', `There is no ${record} ${beginningOf(text, SHOWN_CHARACTERS)}; ids are UUIDs.`);
    },
  };
}

/** A part of the path of a form of its own. A text of another form names nothing. */
export function pathText(description: string, pattern: RegExp): PathParameter {
  return {
    description,
    schema: { type: 'string', pattern: pattern.source },
    read(text) {
      if (pattern.test(text)) return text;
      throw new Refusal('not_found', `There is nothing at ${beginningOf(text, SHOWN_CHARACTERS)}. ${description}`);
    },
  };
}

/** A part of the path that the handler checks itself. */
export function uncheckedPathText(parameter: Omit<PathParameter, 'read'>): PathParameter {
  return { ...parameter, read: (text) => text };
}
