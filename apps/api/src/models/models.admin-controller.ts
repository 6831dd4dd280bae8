import { Controller } from '@nestjs/common';
import { ModelLibrary } from '@millrace/models';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { ModelActs } from './model-acts';
import { operatedViewOf } from './model.presenter';
import { listAllModels, readModel, removeModel, shareModel, unshareModel } from './models.admin-endpoints';
import { filterOf } from './models.controller';

/** Models of all accounts, as operators manage them. */
@Controller()
export class ModelsAdminController {
  constructor(
    private readonly library: ModelLibrary,
    private readonly acts: ModelActs,
  ) {}

  @Serves(listAllModels)
  async list({ query }: InputOf<typeof listAllModels>): Promise<AnswerOf<typeof listAllModels>> {
    return presentPage('models', await this.library.list(null, filterOf(query)), operatedViewOf);
  }

  @Serves(readModel)
  async read({ params }: InputOf<typeof readModel>): Promise<AnswerOf<typeof readModel>> {
    return operatedViewOf(await this.library.get(null, params.id));
  }

  @Serves(shareModel)
  async share({ operator, params }: InputOf<typeof shareModel>): Promise<AnswerOf<typeof shareModel>> {
    return operatedViewOf(await this.acts.share(operator, params.id, true));
  }

  @Serves(unshareModel)
  async unshare({ operator, params }: InputOf<typeof unshareModel>): Promise<AnswerOf<typeof unshareModel>> {
    return operatedViewOf(await this.acts.share(operator, params.id, false));
  }

  @Serves(removeModel)
  async remove({ operator, params }: InputOf<typeof removeModel>): Promise<void> {
    const { accountId } = await this.library.get(null, params.id);
    await this.acts.remove(operator, accountId, params.id);
  }
}
