/** Work under way, by name: calls for one that is under way share it. */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Promise<T>>();

  run(name: string, work: () => Promise<T>): Promise<T> {
    const known = this.#underWay.get(name);
    if (known !== undefined) return known;
    const begun = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, begun);
    return begun;
  }
}
