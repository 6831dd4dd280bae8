import type { Assets } from '@millrace/assets';
import type { Database } from '@millrace/database';
import { AddressGuard, type Loop, type ResolveHost } from '@millrace/platform';
import { ImportModelsLoop, ImportOrigins, ImportStore, ModelImporter, OriginClient } from './import';
import {
  DeleteUnusedModelsLoop,
  LibraryNames,
  ModelContents,
  ModelLibrary,
  ModelLibrarySource,
  ModelNames,
  ModelStore,
  ModelUploads,
  ModelUseStore,
  SettleUploadsLoop,
  UnusedModelStore,
} from './library';
import type { ModelSettings } from './models.settings';

/** What the library is built on, made by the process that uses it. */
export interface ModelParts {
  database: Database;
  assets: Pick<Assets, 'assets' | 'resumable' | 'content'>;
  settings: ModelSettings;
}

/** Wire what accounts and operators do with models. */
export function composeModels({ database, assets, settings }: ModelParts): {
  library: ModelLibrary;
  uploads: ModelUploads;
  origins: ImportOrigins;
} {
  const store = new ModelStore();
  const library = new ModelLibrary(database, store, assets.assets, settings);
  const contents = new ModelContents(database, store, assets.assets, assets.content);
  const uploads = new ModelUploads(library, assets.resumable, contents, settings);
  return { library, uploads, origins: originsOf(settings) };
}

/** What imports models and ends what requests left, for the process that runs chores. */
export interface ModelChores {
  loops: Loop[];
  /** Cut what is under way. Call it before the loops are stopped. */
  close(): Promise<void>;
}

/** Wire the chores of the library. @param resolve how hosts are looked up, where a test decides that. */
export function composeModelChores(parts: ModelParts, resolve?: ResolveHost): ModelChores {
  const { database, assets, settings } = parts;
  const store = new ModelStore();
  const unused = new DeleteUnusedModelsLoop(database, new UnusedModelStore(), assets.assets, settings);
  const contents = new ModelContents(database, store, assets.assets, assets.content);
  const { uploads } = composeModels(parts);
  const origin = new OriginClient(originsOf(settings), resolve);
  const importer = new ModelImporter(database, new ImportStore(), origin, assets.resumable, contents, assets.content);
  return {
    loops: [new ImportModelsLoop(importer), new SettleUploadsLoop(database, store, uploads), unused],
    close: () => importer.close(),
  };
}

/** Wire what says which models submissions may name. */
export function composeModelNames(database: Database): ModelNames {
  return new ModelNames(database, new ModelUseStore());
}

/** Wire what says which models an account may choose from. */
export function composeLibraryNames(database: Database): LibraryNames {
  return new LibraryNames(database, new ModelUseStore());
}

/** Wire what workers read models from. */
export function composeModelSource({ database, assets }: Pick<ModelParts, 'database' | 'assets'>): ModelLibrarySource {
  return new ModelLibrarySource(database, new ModelUseStore(), assets.content);
}

function originsOf({ modelImportHosts, modelImportNetworks }: ModelSettings): ImportOrigins {
  return new ImportOrigins(modelImportHosts, new AddressGuard(modelImportNetworks));
}
