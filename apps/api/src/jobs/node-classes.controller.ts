import { Controller } from '@nestjs/common';
import { JSON_TYPE, namesTag, sendText } from '@millrace/platform';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { contextOf, holdBytes } from '../http';
import { NODE_CLASSES_CACHE, listNodeClasses } from './node-classes.endpoints';
import { PrintedNodeClasses } from './printed-classes';
import { ShownNodeClasses } from './shown-classes';

/** What graphs can be made of, for editors and forms. */
@Controller()
export class NodeClassesController {
  constructor(
    private readonly classes: ShownNodeClasses,
    private readonly printed: PrintedNodeClasses,
  ) {}

  @Serves(listNodeClasses)
  async list({
    visitor,
    request,
    response,
  }: InputOf<typeof listNodeClasses>): Promise<AnswerOf<typeof listNodeClasses>> {
    const shown = await this.classes.of(visitor);
    response.setHeader('Cache-Control', NODE_CLASSES_CACHE);
    response.setHeader('ETag', shown.etag);
    if (namesTag(request.headers['if-none-match'], shown.etag)) {
      response.status(304);
      return undefined;
    }
    const bytes = await this.printed.of(contextOf(request).payer, shown);
    if (request.method !== 'HEAD') holdBytes(request, bytes.length);
    await sendText(response, JSON_TYPE, [bytes]);
    return undefined;
  }
}
