import { Controller } from '@nestjs/common';
import type { NodeClassView } from '@millrace/contracts';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { Destinations } from './destinations';
import { presentNodeClass } from './node-class.presenter';
import { listNodeClasses } from './node-classes.endpoints';

/** What graphs can be made of, for editors and forms. */
@Controller()
export class NodeClassesController {
  constructor(private readonly destinations: Destinations) {}

  @Serves(listNodeClasses)
  async list({ visitor }: InputOf<typeof listNodeClasses>): Promise<AnswerOf<typeof listNodeClasses>> {
    const { catalogue } = await this.destinations.of(visitor.surface);
    const classes = Object.entries(catalogue).map(([name, nodeClass]) => [name, presentNodeClass(nodeClass)]);
    return { node_classes: Object.fromEntries(classes) as Record<string, NodeClassView> };
  }
}
