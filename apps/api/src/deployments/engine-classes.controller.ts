import { Controller, Inject } from '@nestjs/common';
import { DeploymentLife } from '@millrace/deployments';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { listEngineClasses } from './engine-classes.endpoints';

/** The operator's catalogue of what deployments can run on. */
@Controller()
export class EngineClassesController {
  constructor(
    private readonly life: DeploymentLife,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'priceMicrosPerSecond'>,
  ) {}

  @Serves(listEngineClasses)
  async list(_input: InputOf<typeof listEngineClasses>): Promise<AnswerOf<typeof listEngineClasses>> {
    const classes = await this.life.offeredClasses();
    return {
      engine_classes: classes.map(({ name, title, description, engine, gpu, memory, ...offer }) => ({
        ...{ name, title, description, engine, gpu, memory },
        start_seconds: offer.startSeconds,
        price_micros_per_second: offer.priceMicrosPerSecond ?? this.settings.priceMicrosPerSecond,
        reach: offer.reach,
        node_packs: offer.nodePacks,
      })),
    };
  }
}
