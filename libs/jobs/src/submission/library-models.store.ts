import { RefusedError, statementPart, type StatementPart } from '@millrace/database';
import type { JobDraft } from './submission';

/** The reason with which a statement refuses itself when the library has a model no more that the job names. */
const MODEL_GONE = 'model_gone';

/**
 * The models that only the library has are used by the job, and none of them is deleted until it is recorded: then the job itself keeps them. Costs
 * a job that names none nothing. The function is that of the library (`libs/models`).
 *
 * @param after a part that must have yielded its row first.
 */
export function useModelsPart(
  { accountId, libraryModels }: Pick<JobDraft, 'accountId' | 'libraryModels'>,
  after: StatementPart,
): StatementPart {
  if (libraryModels.length === 0) return after;
  return statementPart('library')`
    SELECT FROM ${after} WHERE use_models(${accountId}::uuid, ${libraryModels}::text[])`;
}

/** The same of many jobs: `draft` has those of each, null where it names none. */
export function useModelsOfAllPart(
  drafts: readonly Pick<JobDraft, 'libraryModels'>[],
  draft: StatementPart<'account_id' | 'library_models'>,
  after: StatementPart,
): StatementPart {
  if (drafts.every(({ libraryModels }) => libraryModels.length === 0)) return after;
  return statementPart('library')`
    SELECT FROM ${draft} d, (SELECT count(*) FROM ${after}) AS done
    WHERE d.library_models IS NULL OR use_models(d.account_id, d.library_models)`;
}

/** Whether a statement has recorded nothing because a model was deleted since it was looked up. */
export function isModelGone(error: unknown): boolean {
  return error instanceof RefusedError && error.reason === MODEL_GONE;
}
