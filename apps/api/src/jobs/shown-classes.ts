import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { NodeCatalogue, NodeClassView } from '@millrace/contracts';
import { LibraryNames, type ListedModel } from '@millrace/models';
import { VERSION } from '@millrace/platform';
import type { Visitor } from '../endpoints';
import { Destinations } from './destinations';
import { LibraryOptions } from './library-options';
import { presentNodeClass } from './node-class.presenter';

const ETAG_CHARACTERS = 22;

/** What graphs can be made of where a visitor is, with the models that they may choose. */
export interface ShownClasses {
  catalogue: NodeCatalogue;
  /** Names what is shown: another one where the workers, or the models that the visitor may use, have changed. */
  etag: string;
  /** A class of the catalogue on the wire. */
  readonly present: (name: string) => NodeClassView | undefined;
}

/** Node classes as visitors see them: what the workers can run, and the names of the library in the inputs that take them. */
@Injectable()
export class ShownNodeClasses {
  constructor(
    private readonly destinations: Destinations,
    private readonly library: LibraryNames,
  ) {}

  /** Nothing is submitted, so that no worker comes for it. @throws Refusal when nothing can run there now. */
  async of(visitor: Visitor): Promise<ShownClasses> {
    const { catalogue, catalogueDigest } = await this.destinations.of(visitor.surface, { purpose: 'reading' });
    const models = await this.modelsFor(visitor);
    const library = new LibraryOptions(models);
    return {
      catalogue,
      etag: etagOf(catalogueDigest, models),
      present: (name) => {
        const nodeClass = Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
        return nodeClass && presentNodeClass(name, nodeClass, library);
      },
    };
  }

  /**
   * As `GET /platform/v1/models` would show them: to those who may read assets. A sub-key does not learn what else its account has, so that
   * it is shown what every account is.
   */
  private async modelsFor({ caller: { accountId, labels, scopes } }: Visitor): Promise<ListedModel[]> {
    if (!scopes.has('assets:read')) return [];
    const models = await this.library.of(accountId);
    return labels === null ? models : models.filter(({ shared }) => shared);
  }
}

/** Weak: the same classes may be printed another way. */
function etagOf(digest: string, models: readonly ListedModel[]): string {
  const shown = JSON.stringify([VERSION, digest, models.map(({ folder, name }) => [folder, name])]);
  return `W/"${createHash('sha256').update(shown).digest('base64url').slice(0, ETAG_CHARACTERS)}"`;
}
