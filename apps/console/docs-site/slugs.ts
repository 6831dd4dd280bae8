/** Names the headings of one page as GitHub does, so that a link works there and here: `## Large files` is `#large-files`. */
export class Slugs {
  private readonly taken = new Map<string, number>();

  of(heading: string): string {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = this.taken.get(slug);
    this.taken.set(slug, (before ?? 0) + 1);
    return before === undefined ? slug : `${slug}-${before}`;
  }
}
