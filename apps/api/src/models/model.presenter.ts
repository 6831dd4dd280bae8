import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { ModelUploads, type Model } from '@millrace/models';
import type { Surface } from '../http';
import { UploadPresenter } from '../uploads';
import type { ModelSchema, OperatedModelSchema } from './model.schemas';

type ModelView = z.output<typeof ModelSchema>;
type OperatedModelView = z.output<typeof OperatedModelSchema>;

/** What a model looks like on the wire. */
@Injectable()
export class ModelPresenter {
  constructor(
    private readonly uploads: ModelUploads,
    private readonly uploadPresenter: UploadPresenter,
  ) {}

  /** To the account that has it, with its parts while it is uploaded. */
  async present(surface: Surface, model: Model): Promise<ModelView> {
    const open = await this.uploads.partsOf(model);
    const view = viewOf(model, model.accountId);
    if (open === null) return view;
    const self = `${surface.prefix}/platform/v1/models/${model.id}`;
    const upload = this.uploadPresenter.present(surface, open.upload, open.parts);
    return { ...view, upload: { ...upload, urls: { self, complete: `${self}/complete` } } };
  }
}

/**
 * As a list shows it.
 *
 * @param readerId the account that reads it; null: an operator
 */
export function viewOf(model: Model, readerId: string | null): ModelView {
  return {
    id: model.id,
    folder: model.folder,
    name: model.name,
    shared: model.shared,
    state: model.state,
    problem: model.problem,
    format: model.format,
    // The store writes no other.
    kind: model.kind as ModelView['kind'],
    architecture: model.architecture,
    parameters: model.parameters,
    size_bytes: model.sizeBytes,
    received_bytes: model.receivedBytes,
    hash: model.digest === null ? null : `blake3:${model.digest}`,
    licence: model.licence,
    source_url: model.accountId === readerId ? model.sourceUrl : openUrlOf(model.sourceUrl),
    created_at: model.createdAt.toISOString(),
    last_used_at: model.lastUsedAt?.toISOString() ?? null,
  };
}

/** The address of a source for all but the account that named it: without user, password, query and fragment, which may be credentials. */
export function openUrlOf(sourceUrl: string | null): string | null {
  if (sourceUrl === null || !URL.canParse(sourceUrl)) return null;
  const { origin, pathname } = new URL(sourceUrl);
  return `${origin}${pathname}`;
}

/** To an operator. */
export function operatedViewOf(model: Model): OperatedModelView {
  const { upload: _, ...view } = viewOf(model, null);
  return { ...view, account_id: model.accountId };
}
