// The part of the platform's WebAssembly that schema-difference.mjs uses: TypeScript declares it with the browser's types only.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, unknown>);
    readonly exports: Record<string, unknown>;
  }
}
