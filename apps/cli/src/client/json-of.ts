import { randomUUID } from 'node:crypto';

/** A value that is sent as the JSON that it was written in: a graph's numbers keep their digits. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** As `JSON.stringify`, with each `JsonText` as it is. */
export function jsonOf(value: unknown): string {
  const texts = new Map<string, string>();
  const marked = JSON.stringify(value, (_, part: unknown) => {
    if (!(part instanceof JsonText)) return part;
    const mark = randomUUID();
    texts.set(`"${mark}"`, part.text);
    return mark;
  });
  return [...texts].reduce((json, [mark, text]) => json.replace(mark, () => text), marked);
}
