import type { PipeTransform } from '@nestjs/common';
import { Refusal, isUuid } from '@millrace/contracts';

/** Reads an id of a path. What is none names nothing. */
export class IdPipe implements PipeTransform<string, string> {
  /** @throws Refusal `not_found`. */
  transform(text: string): string {
    if (isUuid(text)) return text.toLowerCase();
    throw new Refusal('not_found', `There is nothing at ${text.slice(0, 80)}; ids are UUIDs.`);
  }
}
