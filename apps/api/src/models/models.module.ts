import { Module } from '@nestjs/common';
import { UploadsModule } from '../uploads';
import { ModelActs } from './model-acts';
import { ModelPresenter } from './model.presenter';
import { ModelsAdminController } from './models.admin-controller';
import { ModelsController } from './models.controller';

/** The model library, to accounts. */
@Module({ imports: [UploadsModule], controllers: [ModelsController], providers: [ModelActs, ModelPresenter] })
export class ModelsModule {}

/** Models of all accounts, to operators. */
@Module({ controllers: [ModelsAdminController], providers: [ModelActs] })
export class ModelsAdminModule {}
