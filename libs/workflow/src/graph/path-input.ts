import type { InputSpec } from '@millrace/contracts';

/** Names of inputs that nodes read as a path on the server; an input of an input (`source.folder`) goes by its last part. */
const PATH_INPUT = /(?:^|[_.])(?:path|paths|dir|directory|folder|folders|file|files|filename|filepath)$/i;

const PATH_TYPES = new Set(['STRING', 'COMBO', '*']);

/** They read no file of the path that they are given: they report it, and what is reported is checked. */
const PATH_SHOWING_CLASSES = new Set(['Preview3D', 'Preview3DAnimation']);

/** An input, a text or a choice of a list, that nodes read as a path on the server. @param spec undefined where the class does not declare it */
export function isPathInput(name: string, spec: InputSpec | undefined): boolean {
  return PATH_INPUT.test(name) && (spec === undefined || PATH_TYPES.has(spec.type));
}

/** Whether a link brings an input a path that other nodes put together: it cannot be checked before it is read. @param type of the output */
export function isLinkedPath(classType: string, name: string, spec: InputSpec | undefined, type: string): boolean {
  return isPathInput(name, spec) && !PATH_SHOWING_CLASSES.has(classType) && (type === 'STRING' || type === '*');
}
