import { setFlagsFromString } from 'node:v8';

/**
 * How much more than what it has kept the heap may take before V8 looks for garbage again. By itself V8 lets a small one grow to four times that, so that
 * what thousands of streams leave behind takes several times their memory. A look is mostly done beside the event loop, of which it takes 10 ms.
 */
const HEAP_GROWTH_PERCENT = 50;

/** Let the heap of this process, and of its threads, keep little garbage. */
export function letHeapGrowSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
}

/**
 * Make each object where short-lived ones are freed at little cost, wherever in the code it is made.
 *
 * When most objects of one place in the code outlive one look for young garbage, V8 makes all later ones of that place among the old objects (allocation
 * site pretenuring), and undoes that only when nearly all of the old ones are found dead. A request's objects outlive a look when a
 * burst of requests waits. From then on each request leaves garbage among the old objects, which only a look through the whole heap
 * frees: one a second in place of a few a minute, each of which takes 150 ms of processor time and holds up what arrives meanwhile.
 * Call it before there is load.
 */
export function keepNewObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
