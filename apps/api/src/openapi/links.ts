import { pathParametersOf, type Endpoint } from '../endpoints';
import type { Link, Operation } from './openapi-types';

/**
 * The operation of an endpoint that makes a record, with a link from its successes to every operation on that record: tools
 * that follow the document get from a creation to all else.
 */
export function withLinks(operation: Operation, { creates }: Endpoint, endpoints: readonly Endpoint[]): Operation {
  if (creates === undefined) return operation;
  const links = Object.fromEntries(endpoints.filter((endpoint) => isOn(endpoint, creates)).map(linkTo));
  const responses = Object.entries(operation.responses).map(([status, response]) =>
    Number(status) < 300 ? [status, { ...response, links }] : [status, response],
  );
  return { ...operation, responses: Object.fromEntries(responses) as Operation['responses'] };
}

/** Whether all that its path needs is the id. */
function isOn(endpoint: Endpoint, record: string): boolean {
  const { path } = endpoint;
  const names = pathParametersOf(endpoint).map(([name]) => name);
  return (path === record || path.startsWith(`${record}/`)) && names.join() === 'id';
}

function linkTo({ id }: Endpoint): [name: string, Link] {
  return [id, { operationId: id, parameters: { id: '$response.body#/id' } }];
}
