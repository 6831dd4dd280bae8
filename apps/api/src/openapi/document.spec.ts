import { ERROR_CATALOGUE, INVALID_REQUEST_STATUSES } from '@millrace/contracts';
import { METHODS, endpointsOfModule } from '../endpoints';
import { PublicModule } from '../public.module';
import { describeApi } from './api-document';
import type { OpenApiDocument, Operation } from './openapi-types';
import { describePlatformApi } from './platform-document';

const served = endpointsOfModule(PublicModule);
const document = describeApi(served);
const operations = operationsOf(document);

function operationsOf({ paths }: OpenApiDocument): { name: string; path: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ name: `${method.toUpperCase()} ${path}`, path, operation }];
    }),
  );
}

/** Every place in a value where something is referred to. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function lookUp(reference: string): unknown {
  const parts = reference.replace(/^#\//, '').split('/');
  return parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
}

describe('the OpenAPI document', () => {
  it('is the same every time it is made', () => {
    expect(JSON.stringify(describeApi(served))).toBe(JSON.stringify(document));
  });

  it('names each operation once', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it('refers to nothing that it does not have, and has no shape that nothing refers to', () => {
    const references = new Set(referencesIn(document));
    for (const reference of references) expect([reference, lookUp(reference)]).not.toContain(undefined);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !references.has(`#/components/schemas/${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('has null in the list of values of what may be null', () => {
    const attempts = lookUp('#/components/schemas/JobAttempts/properties/attempts/items/properties/outcome');
    expect(attempts).toMatchObject({ type: ['string', 'null'], enum: expect.arrayContaining([null]) as unknown });
  });

  it('leads from what makes a record to all that can be done with it', () => {
    const next = (id: string): string[] => {
      const { responses } = operations.find(({ operation }) => operation.operationId === id)?.operation ?? {};
      return Object.keys(responses?.['201']?.links ?? {}).sort();
    };
    const ofJobs = [
      'cancelJob',
      'getJob',
      'getJobAttempts',
      'getJobEvents',
      'getJobLogs',
      'getJobNodes',
      'getJobWorkflow',
    ];
    expect(next('postJobs')).toEqual(ofJobs);
    for (const id of ['postAssets', 'assetFromHash', 'completeUpload']) {
      expect(next(id)).toEqual(['deleteAsset', 'getAsset', 'getAssetContent']);
    }
    expect(next('beginUpload')).toEqual(['abortUpload', 'completeUpload', 'getUpload']);
    const links = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap(({ links = {} }) => Object.values(links)),
    );
    for (const link of links) expect(link.parameters).toEqual({ id: '$response.body#/id' });
  });

  it.each(operations)('says of $name which success and which failure it has', ({ operation }) => {
    const statuses = Object.keys(operation.responses).map(Number);
    expect(statuses.some((status) => status < 400)).toBe(true);
    expect(statuses).toEqual(expect.arrayContaining([400, 500]));
  });

  it.each(operations)('has a parameter for every part in braces of $name', ({ path, operation }) => {
    expect(pathParametersOf(operation).sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
  });

  it('has every error code, or that of the platform API does, each under the status that it comes with', () => {
    const described = new Map<string, Set<number>>();
    for (const { operation } of [...operations, ...operationsOf(describePlatformApi(served))]) {
      for (const [status, { description }] of Object.entries(operation.responses)) {
        for (const [, code = ''] of description.matchAll(/^`(\w+)`: /gm)) {
          described.set(code, (described.get(code) ?? new Set()).add(Number(status)));
        }
      }
    }
    for (const [code, { status }] of Object.entries(ERROR_CATALOGUE)) {
      // No operation can answer that the path has no such operation.
      if (code !== 'method_not_allowed') expect([code, ...(described.get(code) ?? [])]).toEqual([code, status]);
    }
    for (const status of described.get('invalid_request') ?? []) expect(INVALID_REQUEST_STATUSES).toContain(status);
  });
});

function pathParametersOf({ parameters = [] }: Operation): string[] {
  return parameters
    .map((parameter) => ('$ref' in parameter ? (lookUp(parameter.$ref) as { name: string; in: string }) : parameter))
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => name);
}
