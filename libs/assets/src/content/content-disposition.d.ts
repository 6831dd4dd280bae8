declare module 'content-disposition' {
  interface Options {
    type: 'inline' | 'attachment';
    /** The name for clients that do not know the extended form; sent with it where the two differ. */
    fallback: string;
  }
  /** A Content-Disposition header for a file name; only the last part of a path is used. */
  function contentDisposition(filename: string, options: Options): string;
  export = contentDisposition;
}
