/**
 * What several tries of the same thing broke. A bound on time may be measured again, as another program may have had the processor; what
 * a try broke besides stays broken in every later one.
 */
export class Tries {
  private readonly broken = new Map<string, string[]>();

  /**
   * Make a try.
   *
   * @param one what it broke; it counts as broken, too, when it throws or does not end.
   * @throws when this try, or one before under the same name, broke anything.
   */
  async make(name: string, one: () => Promise<string[]>): Promise<void> {
    if (!this.broken.has(name)) {
      this.broken.set(name, ['a try did not end']);
      this.broken.set(name, await one().catch((error: unknown) => [String(error)]));
    }
    const broken = this.broken.get(name) ?? [];
    if (broken.length > 0) throw new Error(broken.join('\n'));
    this.broken.delete(name);
  }
}
