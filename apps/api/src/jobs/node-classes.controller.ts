import { Controller } from '@nestjs/common';
import type { NodeClassView } from '@millrace/contracts';
import { namesTag } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { NODE_CLASSES_CACHE, listNodeClasses } from './node-classes.endpoints';
import { ShownNodeClasses } from './shown-classes';

/** What graphs can be made of, for editors and forms. */
@Controller()
export class NodeClassesController {
  constructor(private readonly classes: ShownNodeClasses) {}

  @Serves(listNodeClasses)
  async list({
    visitor,
    request,
    response,
  }: InputOf<typeof listNodeClasses>): Promise<AnswerOf<typeof listNodeClasses>> {
    const { catalogue, etag, present } = await this.classes.of(visitor);
    response.setHeader('Cache-Control', NODE_CLASSES_CACHE);
    response.setHeader('ETag', etag);
    if (namesTag(request.headers['if-none-match'], etag)) {
      response.status(304);
      return undefined;
    }
    const classes = Object.keys(catalogue).map((name) => [name, present(name)]);
    return { node_classes: Object.fromEntries(classes) as Record<string, NodeClassView> };
  }
}
