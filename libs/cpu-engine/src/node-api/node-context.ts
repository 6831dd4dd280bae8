import type { Work } from './work';

/** A file that a node is about to write. */
export interface NewFile {
  /** As the workflow's author gave it: folders and a base name, with tokens such as `%width%`. */
  prefix: string;
  /** With its point: `.png`. */
  extension: string;
  /** Of the picture, for the tokens. */
  width: number;
  height: number;
}

/** What a node may ask of the run that it is part of, beside memory and polling. */
export interface NodeContext extends Work {
  readonly nodeId: string;
  /**
   * The bytes of an input file.
   *
   * @throws {InputUnavailable} when the run was given no such file, or it is gone.
   */
  readInput(name: string): Promise<Buffer>;
  /**
   * Run what can not poll for an interrupt, such as a regular expression, within a time that all of the node's calls share.
   *
   * @param cure what the workflow's author can do about it, as a sentence.
   * @throws {NodeFault} when the time is up; `part` is broken off then.
   */
  withinDeadline<T>(part: () => T, cure: string): T;
  /** Report step `step` of `steps` as done. */
  step(step: number, steps: number): void;
  /** Show how the node's picture is coming along. */
  preview(contentType: 'image/jpeg' | 'image/png', data: Buffer): void;
  /**
   * Write files as outputs of the node, numbered on from what stands in their folder; `encode` makes one after another.
   *
   * @throws {NodeFault} when the prefix leads out of the output folder or is no file name.
   */
  saveFiles(file: NewFile, count: number, encode: (index: number) => Promise<Buffer>): Promise<void>;
  /** Report text as an output of the node. */
  saveText(text: string): Promise<void>;
}

/** Thrown when an input file can not be had. */
export class InputUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputUnavailable';
  }
}
