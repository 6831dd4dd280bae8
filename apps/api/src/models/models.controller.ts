import { Controller } from '@nestjs/common';
import { Refusal } from '@millrace/contracts';
import { ImportOrigins, ModelLibrary, ModelUploads } from '@millrace/models';
import { Serves, actorOf, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { ModelActs } from './model-acts';
import { ModelPresenter, viewOf } from './model.presenter';
import { completeModel, deleteModel, getModel, importModel, listModels, uploadModel } from './models.endpoints';

/** The model library of an account. */
@Controller()
export class ModelsController {
  constructor(
    private readonly library: ModelLibrary,
    private readonly uploads: ModelUploads,
    private readonly origins: ImportOrigins,
    private readonly acts: ModelActs,
    private readonly presenter: ModelPresenter,
  ) {}

  @Serves(listModels)
  async list({ visitor, query }: InputOf<typeof listModels>): Promise<AnswerOf<typeof listModels>> {
    const { accountId } = visitor.caller;
    const page = await this.library.list(accountId, filterOf(query));
    return presentPage('models', page, (model) => viewOf(model, accountId));
  }

  @Serves(uploadModel)
  async upload({ visitor, body, request }: InputOf<typeof uploadModel>): Promise<AnswerOf<typeof uploadModel>> {
    const { caller, surface } = visitor;
    const { folder, name, licence } = body;
    const draft = {
      accountId: caller.accountId,
      folder,
      name,
      licence,
      sizeBytes: body.size_bytes,
      sourceUrl: body.source_url,
      expectedHash: body.hash?.toLowerCase() ?? null,
    };
    const recorded = this.acts.recorded(actorOf(caller, request), 'upload');
    return this.presenter.present(surface, await this.uploads.begin(draft, caller.limits, recorded));
  }

  @Serves(importModel)
  async import({ visitor, body, request }: InputOf<typeof importModel>): Promise<AnswerOf<typeof importModel>> {
    const { accountId } = visitor.caller;
    const { folder, name, licence, url } = body;
    const reason = this.origins.faultOf(url);
    if (reason !== null) throw Refusal.ofFields([{ field: 'url', reason }]);
    const expectedHash = body.hash?.toLowerCase() ?? null;
    const recorded = this.acts.recorded(actorOf(visitor.caller, request), 'import');
    const draft = { accountId, folder, name, licence, sourceUrl: url, expectedHash };
    return viewOf(await recorded((tx) => this.library.add(tx, draft)), accountId);
  }

  @Serves(getModel)
  async get({ visitor, params }: InputOf<typeof getModel>): Promise<AnswerOf<typeof getModel>> {
    const { accountId } = visitor.caller;
    const model = await this.library.get(accountId, params.id);
    return model.accountId === accountId ? this.presenter.present(visitor.surface, model) : viewOf(model, accountId);
  }

  @Serves(completeModel)
  async complete({ visitor, params }: InputOf<typeof completeModel>): Promise<AnswerOf<typeof completeModel>> {
    const { accountId, limits } = visitor.caller;
    return this.presenter.present(visitor.surface, await this.uploads.complete(accountId, params.id, limits));
  }

  @Serves(deleteModel)
  async remove({ visitor, params, request }: InputOf<typeof deleteModel>): Promise<void> {
    await this.acts.remove(actorOf(visitor.caller, request), visitor.caller.accountId, params.id);
  }
}

/** What a query asks for. */
export function filterOf({
  folder,
  shared,
  cursor,
  limit,
}: InputOf<typeof listModels>['query']): Parameters<ModelLibrary['list']>[1] {
  return { folder: folder ?? null, shared: shared === undefined ? null : shared === 'true', cursor, limit };
}
