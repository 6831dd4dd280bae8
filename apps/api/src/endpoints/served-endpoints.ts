import { SetMetadata, type Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import type { Endpoint } from './endpoint';

const ENDPOINT = 'millrace:endpoint';

/** Note on a handler which endpoint it serves. */
export const NoteEndpoint = (endpoint: Endpoint): MethodDecorator => SetMetadata(ENDPOINT, endpoint);

/** The endpoint that a handler serves. @throws when it serves none. */
export function endpointOf(handler: object): Endpoint {
  const endpoint = noted(handler);
  if (endpoint === undefined) throw new Error('the handler serves no endpoint');
  return endpoint;
}

/** The endpoints that a controller serves, in the order of its methods. */
export function endpointsOf({ prototype }: Type): Endpoint[] {
  return Object.values(Object.getOwnPropertyDescriptors(prototype as object)).flatMap(({ value }) => {
    const endpoint = typeof value === 'function' ? noted(value as object) : undefined;
    return endpoint === undefined ? [] : [endpoint];
  });
}

/** The endpoints that a module and the modules that it imports serve. */
export function endpointsOfModule(module: Type): Endpoint[] {
  return [...modulesOf(module)].flatMap((each) => listOf(MODULE_METADATA.CONTROLLERS, each).flatMap(endpointsOf));
}

function modulesOf(module: Type, known = new Set<Type>()): Set<Type> {
  if (known.has(module)) return known;
  known.add(module);
  for (const imported of listOf(MODULE_METADATA.IMPORTS, module)) modulesOf(imported, known);
  return known;
}

function listOf(key: string, module: Type): Type[] {
  return (Reflect.getMetadata(key, module) ?? []) as Type[];
}

function noted(handler: object): Endpoint | undefined {
  return Reflect.getMetadata(ENDPOINT, handler) as Endpoint | undefined;
}
