import { setFlagsFromString } from 'node:v8';

/**
 * By how many percent the heap may grow beyond what survived the last garbage collection before V8 collects again. V8's own choice lets a small heap
 * grow to four times that size, so that the garbage of thousands of streams takes several times the memory of the streams. A collection mostly
 * runs beside the event loop, which it blocks for 10 ms.
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
